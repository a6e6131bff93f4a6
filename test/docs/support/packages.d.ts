/**
 * Packages that are not installed here, by the part that the pages use: a block that imports one of them is not compiled
 * against the package, but against this.
 */
declare module '@nestjs/common' {
  type ClassMark = (target: abstract new (...given: never[]) => unknown) => void
  type ParameterMark = (target: object, key: string | symbol | undefined, index: number) => void
  type MethodMark = (target: object, key: string, method: PropertyDescriptor) => void
  export function Global(): ClassMark
  export function Injectable(): ClassMark
  export function Controller(path: string): ClassMark
  export function Get(path: string): MethodMark
  export function Inject(token: unknown): ParameterMark
  export function Param(name: string): ParameterMark
  export function Module(parts: {
    imports?: unknown[]
    controllers?: unknown[]
    providers?: unknown[]
    exports?: unknown[]
  }): ClassMark
  export interface OnApplicationShutdown {
    onApplicationShutdown(signal?: string): unknown
  }
  export interface OnApplicationBootstrap {
    onApplicationBootstrap(): unknown
  }
}

declare module '@nestjs/core' {
  export const NestFactory: {
    create(module: unknown): Promise<{
      get<T>(token: symbol): T
      use(path: string, handler: import('express').Handler): void
      enableShutdownHooks(): void
      listen(port: number): Promise<void>
    }>
  }
}

declare module 'nestjs-cls' {
  export const ClsModule: { forRoot(options: { plugins: object[] }): unknown }
}

declare module '@nestjs-cls/transactional' {
  export class ClsPluginTransactional {
    constructor(options: { adapter: object })
  }
  export class TransactionHost<Adapter> {
    readonly tx: Adapter extends { transaction: infer Manager } ? Manager : never
  }
  export function Transactional(): MethodDecorator
}

declare module '@nestjs-cls/transactional-adapter-typeorm' {
  export class TransactionalAdapterTypeOrm {
    constructor(options: { dataSourceToken: unknown })
    readonly transaction: import('typeorm').EntityManager
  }
}

declare module 'typeorm-transactional' {
  export enum StorageDriver {
    ASYNC_LOCAL_STORAGE = 'ASYNC_LOCAL_STORAGE',
  }
  export function initializeTransactionalContext(options: { storageDriver: StorageDriver }): void
  export function addTransactionalDataSource(dataSource: import('typeorm').DataSource): void
  export function Transactional(): MethodDecorator
}

declare module 'fastify' {
  interface App {
    get(path: string, handler: (request: { params: unknown }) => Promise<unknown>): void
    register(plugin: object): Promise<void>
    use(path: string, handler: import('recentn').MountedRouter): void
    addHook(name: 'onClose', hook: () => Promise<void>): void
    listen(options: { port: number }): Promise<string>
  }
  export default function Fastify(): App
}

declare module '@fastify/middie' {
  const middie: object
  export default middie
}

declare module 'hono' {
  interface Context {
    req: { param(name: string): string }
    json(value: object, status?: number): Response
  }
  export class Hono {
    get(path: string, handler: (context: Context) => Promise<Response>): void
    onError(handler: (error: Error, context: Context) => Response): void
  }
}

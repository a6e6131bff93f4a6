/**
 * Libraries that hide the manager of a transaction: `@Transactional()` of typeorm-transactional and of @nestjs-cls/transactional, each
 * with the TypeORM that it finds here (0.3) and with the one that recentn is built with (1).
 */
import 'reflect-metadata'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { Module } from '@nestjs/common'
import { NestFactory } from '@nestjs/core'
import { ClsPluginTransactional, type Propagation, TransactionHost } from '@nestjs-cls/transactional'
import { TransactionalAdapterTypeOrm } from '@nestjs-cls/transactional-adapter-typeorm'
import { ClsModule } from 'nestjs-cls'
import type { DataSource, DataSourceOptions, EntityManager } from 'typeorm'

type TypeOrm = typeof import('typeorm')
export type Insert = (note: string) => Promise<unknown>
type Work<T> = (insert: Insert) => Promise<T>
export type Kind = 'REQUIRED' | 'REQUIRES_NEW' | 'NESTED'

/** A library on a DataSource. */
export interface Surrounding {
  /** Runs the work in a transaction, with what inserts a row of the app's, as users of the library do. */
  run<T>(kind: Kind, work: Work<T>): Promise<T>
  close(): Promise<void>
}

export interface SurroundingLibrary {
  name: string
  typeorm: TypeOrm
  open(dataSource: DataSource): Promise<Surrounding>
  /** Whether a nested transaction is a savepoint of the outer one. */
  hasSavepoints: boolean
}

/** The TypeORM of the project. */
const NEWER: TypeOrm = createRequire(join(__dirname, '..', '..', '..', 'package.json'))('typeorm')
const OLDER: TypeOrm = require('typeorm')

/** Patches the classes of the TypeORM that it finds. */
function patching(typeorm: TypeOrm): SurroundingLibrary['open'] {
  let library = null as unknown as typeof import('typeorm-transactional')
  jest.isolateModules(() => {
    jest.doMock('typeorm', () => typeorm)
    library = require('typeorm-transactional')
    jest.dontMock('typeorm')
  })
  const { addTransactionalDataSource, deleteDataSourceByName, initializeTransactionalContext, StorageDriver } = library
  initializeTransactionalContext({ storageDriver: StorageDriver.ASYNC_LOCAL_STORAGE })
  return async (dataSource) => {
    addTransactionalDataSource(dataSource as never)
    // As an app has it injected: one for all transactions.
    const notes = dataSource.getRepository('Note')
    const insert: Insert = (note) => notes.insert({ note })
    return {
      run: (kind, work) => library.runInTransaction(() => work(insert), { propagation: library.Propagation[kind] }),
      close: async () => {
        deleteDataSourceByName('default')
      },
    }
  }
}

async function hosting(dataSource: DataSource): Promise<Surrounding> {
  const provided = { provide: 'DATA_SOURCE', useValue: dataSource }
  class Data {}
  Module({ providers: [provided], exports: [provided] })(Data)
  class App {}
  const adapter = new TransactionalAdapterTypeOrm({ dataSourceToken: 'DATA_SOURCE' })
  const plugins = [new ClsPluginTransactional({ imports: [Data], adapter })]
  Module({ imports: [ClsModule.forRoot({ plugins })] })(App)
  const app = await NestFactory.createApplicationContext(App, { logger: false, abortOnError: false })
  const host = app.get<TransactionHost<TransactionalAdapterTypeOrm>>(TransactionHost)
  const insert: Insert = (note) => (host.tx as unknown as EntityManager).insert('Note', { note })
  return {
    run: (kind, work) => host.withTransaction(kind as Propagation.Required, () => work(insert)),
    close: () => app.close(),
  }
}

/**
 * A DataSource of this TypeORM with an entity of the app's. Its copies share what decorators leave behind, and do not read each
 * other's.
 */
export async function appSource({ DataSource, EntitySchema }: TypeOrm, options: object): Promise<DataSource> {
  const shared = globalThis as { typeormMetadataArgsStorage?: unknown }
  const kept = shared.typeormMetadataArgsStorage
  delete shared.typeormMetadataArgsStorage
  const Note = new EntitySchema<{ note: string }>({
    name: 'Note',
    tableName: 'library_notes',
    columns: { note: { type: 'varchar', length: 100, primary: true } },
  })
  const source = new DataSource({ ...options, entities: [Note], logger: 'debug' } as DataSourceOptions)
  try {
    return await source.initialize()
  } finally {
    shared.typeormMetadataArgsStorage = kept
  }
}

export const SURROUNDING: readonly SurroundingLibrary[] = [
  { name: 'typeorm-transactional on TypeORM 0.3', typeorm: OLDER, open: patching(OLDER), hasSavepoints: false },
  { name: 'typeorm-transactional on TypeORM 1', typeorm: NEWER, open: patching(NEWER), hasSavepoints: false },
  { name: 'nestjs-cls on TypeORM 0.3', typeorm: OLDER, open: hosting, hasSavepoints: true },
  { name: 'nestjs-cls on TypeORM 1', typeorm: NEWER, open: hosting, hasSavepoints: true },
]

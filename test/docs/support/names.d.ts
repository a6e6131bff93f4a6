/**
 * Names that the TypeScript blocks of the pages use without declaring them: things of the reader's own app, and what an earlier
 * block of the page has made. A block that declares one of these names means its own. `code-blocks.test.ts` compiles each
 * block with this file.
 */
import type { Express, Request } from 'express'
import type { Access, Metrics, PollHandler, Store } from 'recentn'
import type { Client } from 'recentn/client'
import type { DataSource, DataSourceOptions, EntityManager, MixedList } from 'typeorm'

declare global {
  const store: Store
  const client: Client
  const dataSource: DataSource
  const manager: EntityManager
  const app: Express
  const metrics: Metrics
  const access: Access
  const signal: AbortSignal
  /** The token of docs/how-to/nestjs.md, and its app. */
  const STORE: symbol
  class AppModule {}

  /** The reader's own entities. */
  class Order {
    id: number
    customer: string
    email: string
    status: string
  }
  class Invoice {
    order: number
    number: string
  }
  class User {
    name: string
    about: string
    syncId: string | null
  }
  const order: Order

  /** The reader's own functions. */
  function deliver(body: unknown): Promise<void>
  function invoice(order: Omit<Order, 'status'>): Promise<void>
  function poll(body: unknown): Promise<void>
  function userOf(request: Request): { id: string; shop: string; isStaff: boolean } | null
  function isStaff(request: Request): boolean
  function show(item: unknown): void
  function hide(id: bigint): void
  function readAgain(group: string, total: bigint): void
  const handler: PollHandler<Record<string, unknown>>
  const index: { add(key: string, value: unknown): void; remove(key: string): void; clear(): void }

  /** The reader's own options of a DataSource. */
  const yours: DataSourceOptions
  const yourMigrations: Exclude<MixedList<never>, object>[]
}

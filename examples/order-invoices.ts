/**
 * An order, a message about it and its entry in the customer's history, in one transaction; and a worker that writes an
 * invoice for each order in one transaction with the delete of its message. A message may be handed out twice, as when
 * a worker is killed, but of two transactions that delete it one rolls back: each order has its invoice once.
 */
import 'reflect-metadata'
import { attachStore, type Message, type Store, type Worker } from 'recentn'
import { entities, migrations } from 'recentn/typeorm'
import {
  Column,
  DataSource,
  Entity,
  type MigrationInterface,
  PrimaryColumn,
  PrimaryGeneratedColumn,
  type QueryRunner,
} from 'typeorm'

@Entity({ name: 'shop_orders' })
export class Order {
  @PrimaryColumn({ type: 'integer' })
  id!: number

  @Column({ type: 'varchar', length: 100 })
  customer!: string

  @Column({ type: 'integer' })
  cents!: number
}

@Entity({ name: 'shop_invoices' })
export class Invoice {
  @PrimaryGeneratedColumn()
  id!: number

  @Column({ name: 'order_id', type: 'integer' })
  order!: number

  @Column({ type: 'integer' })
  cents!: number
}

export class Invoices1763900000001 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(
      'CREATE TABLE shop_orders (id integer NOT NULL PRIMARY KEY, customer varchar(100) NOT NULL, cents integer NOT NULL)',
    )
    // Nothing but the transaction keeps an order from having two.
    await runner.query(
      'CREATE TABLE shop_invoices (id integer NOT NULL PRIMARY KEY AUTOINCREMENT, order_id integer NOT NULL, cents integer NOT NULL)',
    )
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE shop_invoices')
    await runner.query('DROP TABLE shop_orders')
  }
}

export function createDataSource(database: string): DataSource {
  return new DataSource({
    type: 'better-sqlite3',
    database,
    enableWAL: true,
    entities: [Order, Invoice, ...entities],
    migrations: [Invoices1763900000001, ...migrations],
    migrationsRun: true,
  })
}

export const QUEUE = 'invoices'
export const DEAD = 'invoices-dead'

export async function createQueues(store: Store): Promise<void> {
  await store.queues.ensure(DEAD)
  await store.queues.ensure(QUEUE, { maxReceives: 2, deadLetterQueue: DEAD })
}

/** All three, or none. */
export async function placeOrder(store: Store, order: Order): Promise<void> {
  await store.transaction(async (tx) => {
    await tx.manager.insert(Order, order)
    await tx.groups.append(`customer:${order.customer}`, { payload: { order: order.id } })
    await tx.queues.send(QUEUE, { order: order.id })
  })
}

/** Throws `stale_receipt` when another worker already has the message, and then nothing is stored. */
export async function writeInvoice(store: Store, message: Message): Promise<void> {
  const { order: id } = message.body as { order: number }
  await store.transaction(async (tx) => {
    const order = await tx.manager.findOneByOrFail(Order, { id })
    await tx.manager.insert(Invoice, { order: order.id, cents: order.cents })
    // Last, so that the message is locked for a moment only.
    await tx.queues.ack(QUEUE, message)
  })
}

/** In a process that stays; with `auto: false` the worker works when its `once` is called, as by cron. */
export function startInvoicing(store: Store, { auto = true } = {}): Worker {
  return store.queues.work(QUEUE, (message) => writeInvoice(store, message), {
    auto,
    concurrency: 4,
    backoff: { minSeconds: 0, maxSeconds: 60 },
  })
}

export async function main(
  database: string,
): Promise<{ invoices: Invoice[]; history: unknown[]; dead: { body: unknown; lastError: string | null }[] }> {
  const source = await createDataSource(database).initialize()
  const store = await attachStore(source)
  try {
    await createQueues(store)
    await placeOrder(store, { id: 1, customer: 'fred', cents: 60_000 })
    await placeOrder(store, { id: 2, customer: 'fred', cents: 20_000 })
    // There is an order 2: nothing of this one is stored, and no message is sent.
    await placeOrder(store, { id: 2, customer: 'anna', cents: 5 }).catch(() => {})
    // There is no order 3: this one fails twice, and is a dead letter then.
    await store.queues.send(QUEUE, { order: 3 })
    await startInvoicing(store, { auto: false }).once()
    const invoices = await source.getRepository(Invoice).find({ order: { order: 'ASC' } })
    const dead = await store.queues.peek(DEAD)
    const { items } = await store.groups.recent('customer:fred')
    return {
      invoices,
      history: items.map((item) => item.payload),
      dead: dead.messages.map(({ body, lastError }) => ({ body, lastError })),
    }
  } finally {
    await store.close() // leaves your DataSource open
    await source.destroy()
  }
}

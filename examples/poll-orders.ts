/**
 * The orders of a small shop, in a table that was there before recentn: `status` is `ready` until the order has its
 * invoice. Several processes may poll it at the same time; each order is invoiced by one of them, and an order that fails is tried
 * again. The invoice's id is the order's, so that an order which is done twice, as after a crash, has one invoice still.
 */
import 'reflect-metadata'
import { attachStore, type PollOptions, type PollResult, type Store } from 'recentn'
import { entities, migrations } from 'recentn/typeorm'
import { Column, DataSource, Entity, type MigrationInterface, PrimaryColumn, type QueryRunner } from 'typeorm'

@Entity({ name: 'orders' })
export class Order {
  @PrimaryColumn({ type: 'integer' })
  id!: number

  @Column({ type: 'varchar', length: 100 })
  customer!: string

  @Column({ type: 'integer' })
  cents!: number

  /** `ready`, then the batch key of the process that works on it, then `invoiced` or `refused`. */
  @Column({ type: 'varchar', length: 22, default: 'ready' })
  status!: string
}

@Entity({ name: 'order_invoices' })
export class OrderInvoice {
  @PrimaryColumn({ name: 'order_id', type: 'integer' })
  order!: number

  @Column({ type: 'integer' })
  cents!: number
}

export class Orders1764100000001 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(
      "CREATE TABLE orders (id integer NOT NULL PRIMARY KEY, customer varchar(100) NOT NULL, cents integer NOT NULL, status varchar(22) NOT NULL DEFAULT 'ready')",
    )
    // Along this index each claim finds what is ready, however many orders are done.
    await runner.query('CREATE INDEX orders_status ON orders (status, id)')
    await runner.query('CREATE TABLE order_invoices (order_id integer NOT NULL PRIMARY KEY, cents integer NOT NULL)')
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE order_invoices')
    await runner.query('DROP TABLE orders')
  }
}

export function createDataSource(database: string): DataSource {
  return new DataSource({
    type: 'better-sqlite3',
    database,
    enableWAL: true,
    entities: [Order, OrderInvoice, ...entities],
    migrations: [Orders1764100000001, ...migrations],
  })
}

/** Writes the invoice of one order, once however often it is called. */
export async function invoice(source: DataSource, order: Order): Promise<void> {
  if (order.cents <= 0) throw new Error(`Order ${order.id} of ${order.customer} has nothing to pay`)
  await source.getRepository(OrderInvoice).upsert({ order: order.id, cents: order.cents }, ['order'])
}

/** How orders are polled, by whichever process. */
export const polling: PollOptions<Order> = {
  status: { column: 'status', done: 'invoiced', error: 'refused' },
  maxAttempts: 2,
  backoff: { minSeconds: 0, maxSeconds: 60 },
}

/** Invoices what there is, as a cron job does. A process that stays calls it without `auto`, and `stop` at its end. */
export async function invoiceAll(store: Store, source: DataSource): Promise<PollResult> {
  const poller = store.poll(Order, (order) => invoice(source, order), { ...polling, auto: false })
  const result = await poller.once()
  await poller.stop()
  return result
}

/** Two processes' worth of pollers on the same orders, one of which has nothing to pay. */
export async function main(
  database: string,
): Promise<{ invoices: OrderInvoice[]; orders: Order[]; results: PollResult[] }> {
  const source = createDataSource(database)
  await source.initialize()
  try {
    await source.runMigrations()
    const store = await attachStore(source)
    const orders = source.getRepository(Order)
    await orders.save([
      { id: 1, customer: 'fred', cents: 60_000 },
      { id: 2, customer: 'mary', cents: 20_000 },
      { id: 3, customer: 'anna', cents: 0 },
    ])
    const results = await Promise.all([invoiceAll(store, source), invoiceAll(store, source)])
    await store.close()
    return {
      invoices: await source.getRepository(OrderInvoice).find({ order: { order: 'ASC' } }),
      orders: await orders.find({ order: { id: 'ASC' } }),
      results,
    }
  } finally {
    await source.destroy()
  }
}

if (require.main === module) {
  main('./shop.db').then(console.log, (error: unknown) => {
    console.error(error)
    process.exitCode = 1
  })
}

/**
 * A transactional outbox: an order and the message that tells the warehouse of it commit together, in one transaction of
 * the shop's own TypeORM DataSource; a worker then delivers each message to an HTTP endpoint, as often as it takes.
 *
 * An order that was rolled back is never announced, and one that was committed always is, whatever is killed when. A message
 * may arrive twice, as when the worker dies before it hears the answer; so the warehouse keeps the id of each event in
 * the transaction that it causes, and the parcel is packed once.
 */
import 'reflect-metadata'
import express, { type Express } from 'express'
import { attachStore, type Message, type Store, type Worker } from 'recentn'
import { entities, migrations } from 'recentn/typeorm'
import {
  Column,
  DataSource,
  type DataSourceOptions,
  Entity,
  type MigrationInterface,
  type MixedList,
  PrimaryColumn,
  type QueryRunner,
} from 'typeorm'

@Entity({ name: 'outbox_orders' })
export class Order {
  @PrimaryColumn({ type: 'integer' })
  id!: number

  @Column({ type: 'varchar', length: 100 })
  customer!: string
}

export class Orders1764300000001 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('CREATE TABLE outbox_orders (id integer NOT NULL PRIMARY KEY, customer varchar(100) NOT NULL)')
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE outbox_orders')
  }
}

/** The shop's database, with recentn's tables in it. */
export function createShopSource(url: string): DataSource {
  return new DataSource({ ...optionsOf(url, [Order, ...entities]), migrations: [Orders1764300000001, ...migrations] })
}

export async function createQueues(store: Store): Promise<void> {
  await store.queues.ensure(DEAD)
  await store.queues.ensure(OUTBOX, {
    maxReceives: 20,
    deadLetterQueue: DEAD,
    visibilityTimeoutSeconds: VISIBILITY_SECONDS,
  })
}

export const OUTBOX = 'outbox'
export const DEAD = 'outbox-dead'
/** How long after a worker was killed its messages come back; a living one extends what it works on. */
const VISIBILITY_SECONDS = 3

/** The order and its event, or neither. */
export async function placeOrder(store: Store, order: Order): Promise<void> {
  await store.transaction(async (tx) => {
    await tx.manager.insert(Order, order)
    await tx.queues.send(OUTBOX, { event: 'order-placed', order: order.id })
  })
}

/** Delivers until it is stopped; any number of processes may do so. */
export function startDelivering(store: Store, endpoint: string): Worker {
  return store.queues.work(OUTBOX, (message) => deliver(endpoint, message), {
    concurrency: 4,
    backoff: { minSeconds: 0, maxSeconds: 60 },
  })
}

async function deliver(endpoint: string, { id, body }: Message): Promise<void> {
  const answer = await fetch(endpoint, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'Idempotency-Key': String(id) },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(10_000),
  })
  // An error here has the message tried again later; in the end its dead letter has the error.
  if (!answer.ok) throw new Error(`${endpoint} answered ${answer.status}`)
}

/** The warehouse's own database: what it has heard of, and what it has packed. */
@Entity({ name: 'warehouse_events' })
export class HeardEvent {
  @PrimaryColumn({ type: 'varchar', length: 40 })
  id!: string
}

@Entity({ name: 'warehouse_parcels' })
export class Parcel {
  /** The event's; another key would do. */
  @PrimaryColumn({ type: 'varchar', length: 40 })
  event!: string

  @Column({ name: 'order_id', type: 'integer' })
  order!: number
}

export async function openWarehouse(url: string): Promise<DataSource> {
  return new DataSource({ ...optionsOf(url, [HeardEvent, Parcel]), synchronize: true }).initialize()
}

/** Takes events; one that it has heard of changes nothing and is answered in the same way. */
export function createWarehouseApp(source: DataSource): Express {
  const app = express().use(express.json())
  app.post('/events', async (request, response) => {
    const id = String(request.get('Idempotency-Key'))
    await source.transaction(levelOf(source), async (manager) => {
      if (await manager.existsBy(HeardEvent, { id })) return
      await manager.insert(HeardEvent, { id }) // its key: of two that arrive at once one fails here, and comes again
      await manager.insert(Parcel, { event: id, order: request.body.order })
    })
    response.sendStatus(204)
  })
  return app
}

function optionsOf(url: string, all: MixedList<new () => object>): DataSourceOptions {
  if (!url.startsWith('sqlite:'))
    return { type: url.startsWith('mariadb:') ? 'mariadb' : 'mysql', url, entities: all as never }
  return { type: 'better-sqlite3', database: url.slice('sqlite:'.length), enableWAL: true, entities: all as never }
}

/** On MySQL and MariaDB a reader should see what has committed since it began; SQLite has one level only. */
function levelOf(source: DataSource): 'READ COMMITTED' | 'SERIALIZABLE' {
  return source.options.type === 'better-sqlite3' ? 'SERIALIZABLE' : 'READ COMMITTED'
}

/** A process that delivers: `DATABASE_URL=… ENDPOINT=http://warehouse/events node outbox.js`. */
export async function main(url: string, endpoint: string): Promise<void> {
  const source = await createShopSource(url).initialize()
  const store = await attachStore(source)
  startDelivering(store, endpoint)
  process.once('SIGTERM', async () => {
    await store.close() // finishes what is being delivered
    await source.destroy()
  })
}

if (require.main === module) main(process.env.DATABASE_URL as string, process.env.ENDPOINT as string)

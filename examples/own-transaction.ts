/**
 * An order and its entry in the customer's history, in one transaction of an app that has a TypeORM DataSource already:
 * both are there, or neither is.
 */
import 'reflect-metadata'
import { attachStore, type Store } from 'recentn'
import { entities, migrations } from 'recentn/typeorm'
import { Column, DataSource, Entity, type MigrationInterface, PrimaryColumn, type QueryRunner } from 'typeorm'

@Entity({ name: 'shop_orders' })
export class Order {
  @PrimaryColumn({ type: 'integer' })
  id!: number

  @Column({ type: 'varchar', length: 100 })
  customer!: string

  @Column({ type: 'integer' })
  cents!: number
}

export class Shop1763800000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(
      'CREATE TABLE shop_orders (id integer NOT NULL PRIMARY KEY, customer varchar(100) NOT NULL, cents integer NOT NULL)',
    )
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE shop_orders')
  }
}

/** Your own DataSource, with recentn's entities and migrations beside yours. */
export function createDataSource(database: string): DataSource {
  return new DataSource({
    type: 'better-sqlite3',
    database,
    enableWAL: true,
    entities: [Order, ...entities],
    migrations: [Shop1763800000000, ...migrations],
    migrationsRun: true,
  })
}

export class CreditExceeded extends Error {}

const CREDIT_CENTS = 100_000

/** Throws `CreditExceeded`, and then nothing is stored. */
export async function placeOrder(source: DataSource, store: Store, order: Order): Promise<void> {
  // On MySQL and MariaDB: source.transaction('READ COMMITTED', …).
  await source.transaction(async (manager) => {
    await manager.insert(Order, order)
    await store.within(manager).groups.append(`customer:${order.customer}`, {
      payload: { order: order.id, cents: order.cents },
      eventId: `order-${order.id}`,
    })
    const spent = await manager.sum(Order, 'cents', { customer: order.customer })
    if ((spent ?? 0) > CREDIT_CENTS) throw new CreditExceeded()
  })
}

export async function main(database: string): Promise<{ orders: Order[]; history: unknown[] }> {
  const source = await createDataSource(database).initialize()
  const store = await attachStore(source)
  try {
    await placeOrder(source, store, { id: 1, customer: 'fred', cents: 60_000 })
    await placeOrder(source, store, { id: 2, customer: 'fred', cents: 70_000 }).catch((error: unknown) => {
      if (!(error instanceof CreditExceeded)) throw error
    })
    await placeOrder(source, store, { id: 3, customer: 'fred', cents: 20_000 })
    const { items } = await store.groups.recent('customer:fred')
    return { orders: await source.getRepository(Order).find(), history: items.map((item) => item.payload) }
  } finally {
    await store.close() // leaves your DataSource open
    await source.destroy()
  }
}

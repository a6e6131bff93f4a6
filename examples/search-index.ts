/**
 * A search index that follows a table. Each change of a user clears the row's sync id in the same statement; a publisher
 * gives it the next number; the indexer reads on from its cursor, which is stored when what it read is in the index. It
 * may be stopped, or killed, at any moment: it continues from the stored cursor, and repeats its work after that.
 */
import 'reflect-metadata'
import { attachStore, type Change, type Running, type Store } from 'recentn'
import { entities, migrations } from 'recentn/typeorm'
import { Column, DataSource, Entity, Index, type MigrationInterface, PrimaryColumn, type QueryRunner } from 'typeorm'

@Entity({ name: 'shop_users' })
export class User {
  @PrimaryColumn({ type: 'varchar', length: 100 })
  name!: string

  @Column({ type: 'varchar', length: 200 })
  about!: string

  /** Null from each change until it is published. */
  @Index()
  @Column({ name: 'sync_id', type: 'bigint', nullable: true })
  syncId!: string | null
}

export class Users1764000000001 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(
      'CREATE TABLE shop_users (name varchar(100) NOT NULL PRIMARY KEY, about varchar(200) NOT NULL, sync_id bigint NULL)',
    )
    await runner.query('CREATE INDEX shop_users_sync_id ON shop_users (sync_id)')
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE shop_users')
  }
}

export function createDataSource(database: string): DataSource {
  return new DataSource({
    type: 'better-sqlite3',
    database,
    enableWAL: true,
    entities: [User, ...entities],
    migrations: [Users1764000000001, ...migrations],
    migrationsRun: true,
  })
}

/** Word by word, who says it of themselves. */
export class SearchIndex {
  readonly #abouts = new Map<string, string>()

  apply({ key, value, deleted }: Change): void {
    if (deleted) this.#abouts.delete(key)
    else this.#abouts.set(key, (value as { about: string }).about)
  }

  clear(): void {
    this.#abouts.clear()
  }

  find(word: string): string[] {
    return [...this.#abouts].filter(([, about]) => about.split(' ').includes(word)).map(([name]) => name)
  }
}

const FEED = 'users'
const CONSUMER = 'search-index'

export async function followUsers(store: Store): Promise<void> {
  await store.feeds.follow(User, { feed: FEED, syncColumn: 'syncId', key: 'name', value: ['about'] })
}

/** Forgets a user; the row can't say that it is gone, so a tombstone does. */
export async function removeUser(store: Store, name: string): Promise<void> {
  await store.transaction(async (tx) => {
    await tx.manager.delete(User, { name })
    await tx.feeds.delete(FEED, name)
  })
}

/** Keeps the index up with the feed until it is stopped. */
export function keepUp(store: Store, index: SearchIndex): Running {
  const apply = (changes: readonly Change[]) => {
    for (const change of changes) index.apply(change)
  }
  // Away for so long that deletions are missing: from the beginning.
  return store.feeds.consume(FEED, CONSUMER, apply, { limit: 1000, onExpired: () => index.clear() })
}

/** A process that keeps an index: `node search-index.js shop.db`. */
export async function main(database: string): Promise<void> {
  const source = await createDataSource(database).initialize()
  const store = await attachStore(source)
  await followUsers(store)
  keepUp(store, new SearchIndex())
  process.once('SIGTERM', async () => {
    await store.close() // leaves your DataSource open
    await source.destroy()
  })
}

if (require.main === module) main(process.argv[2] ?? './shop.db')

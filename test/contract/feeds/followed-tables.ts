/** Tables of the user's own that a store follows, and the entities of them. */
import { Column, type DataSource, Entity, PrimaryColumn, PrimaryGeneratedColumn } from 'typeorm'

/** As its author's table is, with properties that have other names. */
@Entity({ name: 'kv' })
export class Kv {
  @PrimaryGeneratedColumn({ type: 'integer' })
  id!: number

  @Column({ name: 'k', type: 'varchar', length: 100 })
  name!: string

  @Column({ name: 'v', type: 'varchar', length: 100 })
  text!: string

  @Column({ name: 'feed_sync_id', type: 'bigint', nullable: true })
  feedSyncId!: string | null

  @Column({ type: 'integer', default: 1 })
  version!: number
}

@Entity({ name: 'numbered' })
export class Numbered {
  @PrimaryColumn({ type: 'bigint' })
  id!: string

  @Column({ type: 'bigint', nullable: true })
  sync!: string | null
}

@Entity({ name: 'not_indexed' })
export class NotIndexed extends Numbered {}

@Entity({ name: 'nowhere' })
export class Unknown extends Numbered {}

export async function createFollowedTables(source: DataSource): Promise<void> {
  const isSqlite = source.options.type === 'better-sqlite3'
  const serial = isSqlite ? 'integer PRIMARY KEY AUTOINCREMENT' : 'integer NOT NULL AUTO_INCREMENT PRIMARY KEY'
  await source.query(`CREATE TABLE kv (
    id ${serial}, k varchar(100) NOT NULL, v varchar(100) NOT NULL, feed_sync_id bigint NULL,
    version integer NOT NULL DEFAULT 1)`)
  await source.query('CREATE UNIQUE INDEX u_k ON kv (k)')
  await source.query('CREATE INDEX kv_sync ON kv (feed_sync_id)')
  for (const table of ['numbered', 'not_indexed']) {
    await source.query(`CREATE TABLE ${table} (id bigint NOT NULL PRIMARY KEY, sync bigint NULL)`)
  }
  await source.query('CREATE INDEX numbered_sync ON numbered (sync)')
}

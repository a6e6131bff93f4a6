import { Column, Entity, PrimaryColumn } from 'typeorm'
import { attachStore } from '../../../src/index'
import { type Context, refusal, userSource } from '../context'
import { type NumberedRow, PLACES, pollTools, upTo } from './tools'

@Entity({ name: 'polled_secrets' })
class Secret {
  @PrimaryColumn({ type: 'integer' })
  id!: number

  @Column({
    type: 'varchar',
    length: 30,
    transformer: {
      to: (text: string) => text,
      from: (text: string) => {
        if (text === 'broken') throw new Error('can not be decrypted')
        return text
      },
    },
  })
  secret!: string

  @Column({ type: 'varchar', length: 30 })
  status!: string
}

/** Rows that can't be read, and rows whose claim the table refuses: each is reported, and keeps no other waiting. */
export function describePollUnclaimable(context: Context): void {
  const { query, tableOf, poll, numbersWhere, holding } = pollTools(context)
  const isSqlite = context.engine === 'sqlite'

  /** No row with n below 100 and `frozen` 1 may be changed. */
  const freeze = (name: string) =>
    query(
      isSqlite
        ? `CREATE TRIGGER ${name}_t BEFORE UPDATE ON ${name} WHEN OLD.frozen = 1 AND NEW.frozen = 1 BEGIN SELECT RAISE(ABORT, 'it is frozen'); END`
        : `CREATE TRIGGER ${name}_t BEFORE UPDATE ON ${name} FOR EACH ROW IF OLD.frozen = 1 AND NEW.frozen = 1 THEN SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'it is frozen'; END IF`,
    )

  describe('polls: a row that can not be read', () => {
    it('has failed, by its key, until its attempts are over; the others are handled', async () => {
      const source = userSource(context.url, [Secret])
      await source.initialize()
      context.afterwards(() => source.destroy())
      const clockOffsetMs = () => context.clock.offsetMs
      const store = await attachStore(source, { sweep: false, publish: false, clockOffsetMs })
      context.afterwards(() => store.close())
      await query(
        'CREATE TABLE polled_secrets (id integer NOT NULL PRIMARY KEY, secret varchar(30), status varchar(30))',
      )
      context.afterwards(() => query('DROP TABLE polled_secrets'))
      await query(
        "INSERT INTO polled_secrets VALUES (1, 'broken', 'ready'), (2, 'fine', 'ready'), (3, 'fine', 'ready')",
      )
      const [seen, told]: [number[], unknown[]] = [[], []]
      const poller = store.poll(Secret, ({ id }) => void seen.push(id), {
        status: 'status',
        auto: false,
        maxAttempts: 2,
        batch: { min: 3 },
        backoff: { minSeconds: 30, maxSeconds: 30 },
        onError: (error, row) => told.push([(error as Error).message, row]),
        onWarning: () => {},
      })
      expect(await poller.once()).toEqual({ claimed: 3, done: 2, retried: 1, failed: 0, lost: 0 })
      context.clock.offsetMs += 35_000
      expect(await poller.once()).toMatchObject({ claimed: 1, failed: 1 })
      expect(seen).toEqual([2, 3])
      expect(told).toEqual([
        ['can not be decrypted', { id: 1 }],
        ['can not be decrypted', { id: 1 }],
      ])
      expect(await poller.counts()).toMatchObject({ ready: 0, claimed: 0, waiting: 0, failed: 1, done: 2 })
    })
  })

  describe.each(PLACES.slice(0, 2))('polls: rows whose claim is refused: %s', (_, { options, columns, done, row }) => {
    const made = async (rows: number) => {
      const table = { title: '', columns: `frozen integer DEFAULT 0, ${columns}`, row, options, indexes: [] }
      return tableOf(table, rows)
    }

    it('are reported by their key, and keep no other waiting', async () => {
      const name = await made(40)
      await query(`UPDATE ${name} SET frozen = 1 WHERE n IN (0, 1, 2, 17)`)
      await freeze(name)
      const told: [string, unknown][] = []
      const onError = (error: unknown, of?: unknown) => told.push([(error as Error).message, of])
      const poller = poll(name, () => {}, { ...options, batch: { min: 10 }, onError })
      expect(await poller.once()).toMatchObject({ claimed: 36, done: 36 })
      expect(await numbersWhere(name, done as string)).toHaveLength(36)
      expect(told.map(([, of]) => Number((of as { id: number }).id)).sort()).toEqual([1000, 1001, 1002, 1017])
      for (const [message] of told) expect(message).toMatch(/it is frozen/)
      // They are passed over for a while.
      expect(await poller.once()).toMatchObject({ claimed: 0 })
      expect(told).toHaveLength(4)
      await query(`DROP TRIGGER ${name}_t`)
      expect(await poll(name, () => {}, options).once()).toMatchObject({ claimed: 4, done: 4 })
    })

    it('keep no other waiting either when their claim before ran out', async () => {
      const name = await made(3)
      const slow = holding()
      const late = poll(name, slow.handler, { ...options, concurrency: 3 }).once()
      await slow.until(3)
      await query(`UPDATE ${name} SET frozen = 1 WHERE n = 0`)
      await freeze(name)
      context.clock.offsetMs += 61_000
      const told: unknown[] = []
      const onError = (_error: unknown, of?: unknown) => told.push(Number((of as { id: number }).id))
      expect(await poll(name, () => {}, { ...options, onError }).once()).toMatchObject({ claimed: 2, done: 2 })
      expect(told).toEqual([1000])
      slow.letGo()
      await late
    })
  })

  describe('polls: a table that changes what a claim writes', () => {
    it.each(['the status', 'the batch key'])('is reported, and no row is handled: %s', async (what) => {
      const column = what === 'the status' ? 'status' : 'claimed_by'
      const text = isSqlite ? 'varchar(30)' : 'varchar(30) COLLATE utf8mb4_bin'
      const columns = `id integer NOT NULL PRIMARY KEY, status ${text} DEFAULT 'ready', claimed_by ${text}, tries integer, next_at bigint`
      const name = await tableOf({ title: '', columns, row: { id: 'N' }, options: {} }, 3)
      await query(
        isSqlite
          ? `CREATE TRIGGER ${name}_t AFTER UPDATE ON ${name} WHEN NEW.${column} <> lower(NEW.${column}) BEGIN UPDATE ${name} SET ${column} = lower(NEW.${column}) WHERE id = NEW.id; END`
          : `CREATE TRIGGER ${name}_t BEFORE UPDATE ON ${name} FOR EACH ROW SET NEW.${column} = LOWER(NEW.${column})`,
      )
      const claim = { claim: 'claimed_by', attempts: 'tries', nextTime: 'next_at' }
      const seen: number[] = []
      const options = { status: 'status', ...(what === 'the status' ? {} : { claim }) }
      const poller = poll(name, ({ n }) => void seen.push(Number(n)), options)
      const { code, message } = await refusal(poller.once())
      expect([code, seen]).toEqual(['database_refused', []])
      expect(message).toMatch(/trigger/)
      expect(await numbersWhere(name, "status = 'ready'")).toEqual(upTo(3))
    })
  })

  if (isSqlite) return
  describe('polls: a column for attempts that is full', () => {
    it('keeps no other row waiting', async () => {
      const columns =
        'id integer NOT NULL PRIMARY KEY, claimed_by varchar(22), tries tinyint NOT NULL DEFAULT 0, next_at bigint'
      const name = await tableOf({ title: '', columns, row: { id: 'N' }, options: {} }, 3)
      await query(`UPDATE ${name} SET tries = 127, next_at = 1 WHERE n = 0`)
      const claim = { claim: 'claimed_by', attempts: 'tries', nextTime: 'next_at' }
      const told: unknown[] = []
      const onError = (_error: unknown, row?: NumberedRow) => told.push(row)
      const poller = poll(name, () => {}, { claim, maxAttempts: 300, batch: { min: 3 }, onError })
      expect(await poller.once()).toMatchObject({ claimed: 2, done: 2 })
      expect(told).toEqual([{ id: 0 }])
    })
  })
}

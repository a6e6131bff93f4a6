import { setTimeout as sleep } from 'node:timers/promises'
import { sessionOf } from '../../../src/database/attached/attach'
import { PollRepository } from '../../../src/repositories/polls/repository'
import { insertSql, POLL_TABLES, type PollTable } from '../../support/poll-shapes'
import { type Context, refusal } from '../context'
import { pollTools } from './tools'

const shape = (title: string) => POLL_TABLES.find((table) => table.title === title) as PollTable

export function describePollCursors(context: Context): void {
  const { query, tableOf, made, poll, faultsOf } = pollTools(context)
  const isSqlite = context.engine === 'sqlite'
  const later = (seconds: number) => {
    context.clock.offsetMs += seconds * 1000
  }
  const cursorOf = async (name: string): Promise<{ cursor: string | null; claims: number }> => {
    const [row] = await query(`SELECT id, cursor_value AS value FROM recentn_polls WHERE poll = '${name}'`)
    const [claims] = await query(`SELECT COUNT(*) AS found FROM recentn_poll_claims WHERE poll_id = ${row.id}`)
    return { cursor: row.value, claims: Number(claims.found) }
  }
  const follow = (name: string, table: PollTable, fails: () => boolean = () => false) => {
    const seen: number[] = []
    const handler = async ({ n }: { n: number | bigint }) => {
      if (fails() && Number(n) === 4) throw new Error('not yet')
      seen.push(Number(n))
    }
    const options = { ...table.options, lateSeconds: 100, backoff: { minSeconds: 0, maxSeconds: 0 }, maxAttempts: 9 }
    return { seen, poller: poll(name, handler, options) }
  }

  describe('polls: the cursor of a sequence', () => {
    it('moves past what is finished, a while later; a lower number that comes late is not skipped', async () => {
      const table = shape('a unique sequence and no status')
      const name = await tableOf(table, 0)
      await query(insertSql(table, name, [1, 2, 3, 6, 7]))
      const { seen, poller } = follow(name, table)
      await poller.once()
      expect(seen).toEqual([1, 2, 3, 6, 7])
      expect(await cursorOf(name)).toEqual({ cursor: null, claims: 5 })
      // Two that were numbered before and are committed after what was polled already.
      await query(insertSql(table, name, [5, 0]))
      await poller.once()
      expect(seen).toEqual([1, 2, 3, 6, 7, 0, 5])

      later(101)
      await query(insertSql(table, name, [8]))
      await poller.once()
      expect(seen.slice(7)).toEqual([8])
      expect(await cursorOf(name)).toMatchObject({ claims: 1 })
      expect((await cursorOf(name)).cursor).toMatch(/9007199254741007/)
      expect(await poller.counts()).toMatchObject({ ready: 0, done: 1 })
      // Later than lateSeconds: the cursor has passed it.
      await query(insertSql(table, name, [4]))
      expect(await poller.once()).toMatchObject({ claimed: 0 })
    })

    it('passes what failed for good', async () => {
      const table = shape('a unique sequence and no status')
      const name = await tableOf(table, 8)
      const { seen, poller } = follow(name, table, () => true)
      expect(await poller.once()).toMatchObject({ done: 7, failed: 1 })
      later(101)
      await poller.once()
      expect((await cursorOf(name)).cursor).toMatch(/9007199254741007/)
      expect(seen).toEqual([0, 1, 2, 3, 5, 6, 7])
      expect(await poller.counts()).toMatchObject({ ready: 0, failed: 1 })
    })

    it('waits for a row that is claimed', async () => {
      const table = shape('a unique sequence and no status')
      const name = await tableOf(table, 8)
      const { handler, begun, until, letGo } = pollTools(context).holding()
      const options = { ...table.options, lateSeconds: 0, concurrency: 8 }
      const held = poll(name, async (row, how) => Number(row.n) === 4 && handler(row, how), options)
      const once = held.once()
      await until(1)
      // A handler that has ended is not yet stored.
      while (Number((await held.counts())?.done) < 7) await sleep(20)
      later(1)
      await poll(name, () => {}, options).once()
      expect((await cursorOf(name)).cursor).toMatch(/9007199254740999/)
      expect((await cursorOf(name)).claims).toBe(4)
      letGo()
      await once
      expect((await cursorOf(name)).claims).toBe(0)
      expect(begun).toEqual([4])
    })

    it('moves past all that is finished at once, however much', async () => {
      const columns = 'id integer PRIMARY KEY, at integer NOT NULL'
      const name = await tableOf({ title: '', columns, row: {}, options: {} }, 0)
      const poller = poll(name, () => {}, { sequence: 'at', lateSeconds: 0 })
      await poller.once()
      const [{ id }] = await query(`SELECT id FROM recentn_polls WHERE poll = '${name}'`)
      const rows = Array.from({ length: 12_000 }, (_, n) => `(${n + 1}, ${n + 1}, 0)`)
      await query(`INSERT INTO ${name} (id, at, n) VALUES ${rows.join(', ')}`)
      const done = "3, 9, 'key', 1, 1, '[]'"
      await query(
        'INSERT INTO recentn_poll_claims (poll_id, row_key, state, due_at_ms, claim_key, attempts, first_claimed_at_ms, row_values) ' +
          `SELECT ${id}, CAST(id AS CHAR), ${done} FROM ${name}`,
      )
      expect(await poller.once()).toMatchObject({ claimed: 0 })
      expect(await cursorOf(name)).toEqual({ cursor: '12000', claims: 0 })
    })

    it('of dates goes from one date to the next, whole', async () => {
      const table = shape('a date of which there are several alike, and no status')
      const name = await tableOf(table, 20)
      const { seen, poller } = follow(name, table)
      await poller.once()
      later(101)
      await query(insertSql(table, name, [29]))
      await poller.once()
      expect(seen).toHaveLength(21)
      // Of the last date one row is too young: none of them is passed.
      expect(await cursorOf(name)).toMatchObject({ cursor: expect.stringContaining('10:00:08'), claims: 3 })
    })
  })

  describe('polls: a cursor', () => {
    const text = isSqlite
      ? 'varchar(20) COLLATE NOCASE'
      : 'varchar(20) CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci'
    it.each([
      ['a text that ignores case', text],
      ...(isSqlite ? [['a text that ignores spaces', 'text COLLATE RTRIM']] : [['an ENUM', "enum('b', 'a')"]]),
    ])('is refused along %s', async (_, type) => {
      const name = await made(`id integer NOT NULL PRIMARY KEY, at ${type} NOT NULL, n integer, status varchar(30)`)
      expect(await faultsOf(name, { sequence: 'at' })).toMatch(
        /^\/sequence: the column at, .* is no place for a cursor/,
      )
      // Elsewhere it is an order.
      expect(await poll(name, () => {}, { sequence: 'at', status: 'status' }).once()).toMatchObject({ claimed: 0 })
      await poll(name, () => {}, { name: `${name} 2`, sequence: 'at', onDone: 'delete' }).once()
    })

    it.each([
      isSqlite ? 'varchar(20)' : 'varchar(20) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin',
      isSqlite ? 'blob' : 'varbinary(20)',
      'decimal(20, 5)',
      'date',
    ])('goes along a %s', async (type) => {
      const name = await made(`id integer NOT NULL PRIMARY KEY, at ${type} NOT NULL, n integer`)
      const [one, two, three] = /decimal/.test(type)
        ? ['1.5', '1.25', '7']
        : type === 'date'
          ? ["'2026-01-02'", "'2026-01-01'", "'2026-01-03'"]
          : ["'b'", "'B'", "'b '"]
      await query(`INSERT INTO ${name} VALUES (1, ${one}, 1), (2, ${two}, 2), (3, ${three}, 3)`)
      const seen: number[] = []
      const poller = poll(name, ({ n }) => void seen.push(Number(n)), { sequence: 'at', lateSeconds: 0 })
      expect(await poller.once()).toMatchObject({ done: 3 })
      expect(await poller.once()).toMatchObject({ claimed: 0 })
      expect(seen).toHaveLength(3)
      expect(seen[0]).toBe(2)
    })

    it('does not pass a text that differs from an open one in spaces only', async () => {
      const type = isSqlite ? 'varchar(20)' : 'varchar(20) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin'
      const name = await made(`id integer NOT NULL PRIMARY KEY, at ${type} NOT NULL, n integer`)
      await query(`INSERT INTO ${name} VALUES (1, 'a', 1)`)
      const options = { sequence: 'at', lateSeconds: 100 }
      expect(await poll(name, () => {}, options).once()).toMatchObject({ done: 1 })
      await query(`INSERT INTO ${name} VALUES (2, 'a ', 2)`)
      await query('UPDATE recentn_poll_claims SET first_claimed_at_ms = 0')
      const { dataSource } = context.store
      await new PollRepository(dataSource, sessionOf(dataSource), name, options).tidy()
      expect(await poll(name, () => {}, options).once()).toMatchObject({ done: 1 })
    })

    it('begins again where the statement lets another sequence have the name', async () => {
      const name = await made('id integer NOT NULL PRIMARY KEY, made bigint NOT NULL, n integer')
      await query(`INSERT INTO ${name} VALUES (1, 1700000000001, 1), (2, 1700000000002, 2)`)
      const seen: number[] = []
      const along = (sequence: string) =>
        poll(name, ({ n }) => void seen.push(Number(n)), { sequence, lateSeconds: 0 }).once()
      await along('made')
      const { message } = await refusal(along('id'))
      expect(message).toMatch(/rows that its cursor has passed are handled again/)
      await query(message.slice(message.indexOf('UPDATE recentn_polls')))
      await query(`INSERT INTO ${name} VALUES (3, 1700000000003, 3)`)
      await along('id')
      expect(seen).toEqual([1, 2, 1, 2, 3])
    })
  })
}

import { checkedPoll } from '../../../src/store/poller/options'
import { BatchSize } from '../../../src/store/poller/pace'
import { sessionsOf } from '../../support/sessions'
import { SOON_MS } from '../../support/timing'
import { type Context, eventually, sleep } from '../context'
import { type NumberedRow, pollTools, upTo } from './tools'

const STATUS = "status varchar(30) DEFAULT 'ready'"

/** How many rows a claim takes, what it locks, and when it ends. */
export function describePollTimes(context: Context): void {
  const { query, tableOf, poll } = pollTools(context)
  const isSqlite = context.engine === 'sqlite'
  const made = (columns: string, rows: number) =>
    tableOf({ title: '', columns, indexes: [], row: { id: 'N' }, options: {} }, rows)

  describe('polls: the size of a batch', () => {
    /** Sizes of the claims, in order, while each handler takes this time. */
    const sizesOf = async (rows: number, handler: () => unknown, options: object) => {
      const name = await made(`id integer NOT NULL PRIMARY KEY, ${STATUS}`, rows)
      await query(`CREATE INDEX ${name}_s ON ${name} (status, id)`)
      const sizes: number[] = []
      const seen = new Set<string>()
      const poller = poll(
        name,
        async ({ n }: NumberedRow) => {
          await handler()
          const [{ status }] = await query(`SELECT status FROM ${name} WHERE n = ${n}`)
          if (!seen.has(status)) {
            const [{ found }] = await query(`SELECT COUNT(*) AS found FROM ${name} WHERE status = '${status}'`)
            sizes.push(Number(found))
          }
          seen.add(status)
        },
        { status: 'status', ...options },
      )
      expect(await poller.once()).toMatchObject({ done: rows })
      return sizes
    }

    it('grows while handlers are quick, up to max', async () => {
      const sizes = await sizesOf(130, () => {}, { batch: { max: 40 } })
      // How far it comes is a matter of the machine; the last test says by how much.
      expect(sizes[0]).toBe(1)
      expect(Math.max(...sizes)).toBeGreaterThan(4)
      expect(Math.max(...sizes)).toBeLessThanOrEqual(40)
    })

    it('shrinks while they are slow, down to min', async () => {
      let left = 6
      const sizes = await sizesOf(14, () => (left-- > 0 ? null : sleep(400)), { batch: { min: 2 } })
      expect(sizes.slice(0, 2)).toEqual([2, 4])
      const slow = sizes.slice(2)
      expect(slow[0]).toBeLessThanOrEqual(8)
      expect(Math.max(...slow.slice(1))).toBeLessThanOrEqual(3)
    })

    it('is what the handlers end in a second, within its bounds', () => {
      const sizeOf = (options: object) => {
        const size = new BatchSize(checkedPoll(() => {}, options, false))
        return (rows: number, ms: number) => {
          size.handled(rows, ms)
          return size.limits(0).max
        }
      }
      const free = sizeOf({})
      // It is doubled at most, and by claims that were full only.
      expect([free(1, 1), free(2, 1), free(3, 1), free(4, 40), free(8, 160), free(16, 1600)]).toEqual([
        2, 4, 4, 8, 16, 10,
      ])
      expect([free(50, 60_000), free(1, 60_000), free(1, 1)]).toEqual([1, 1, 2])
      const bound = sizeOf({ batch: { min: 5, max: 30 }, concurrency: 8 })
      expect([bound(8, 1), bound(16, 1), bound(30, 1)]).toEqual([16, 30, 30])
      // Not fewer than run at once.
      expect([bound(30, 600_000), bound(0, 600_000)]).toEqual([8, 8])
    })
  })

  if (isSqlite) return // one writer at a time, and dates are text

  describe('polls: what a claim locks', () => {
    it.each([
      ['without a status', {}, ''],
      ['with a cursor', { sequence: 'id' }, ''],
      ['with a status', { status: 'status' }, "AND status = 'done'"],
    ])('is what it takes, and none of the rows that are done: %s', async (_, options, done) => {
      const name = await made(`id integer NOT NULL PRIMARY KEY, ${STATUS}`, 20)
      await query(`CREATE INDEX ${name}_s ON ${name} (status, id)`)
      await poll(name, () => {}, options).once()
      await query(`INSERT INTO ${name} (id, n) VALUES ${upTo(3).map((n) => `(${100 + n}, ${100 + n})`)}`)
      // A claim that is held open: its where waits for our lock, each time that it looks at this row.
      const lock = `CONCAT('${name}', id)` // of the row, or MySQL would ask for it once, and before it locks rows
      const where = `id <> 100 OR GET_LOCK(${lock}, 100) + RELEASE_LOCK(${lock}) = 2`
      const slow = poll(name, () => {}, { ...options, where, onWarning: () => {} })
      if ('sequence' in options) await query(`UPDATE recentn_polls SET purpose = NULL WHERE poll = '${name}'`)
      const other = (await context.open()).dataSource
      const [{ id: pollId }] = await query(`SELECT id FROM recentn_polls WHERE poll = '${name}'`)
      const holder = other.createQueryRunner()
      await holder.query(`SELECT GET_LOCK('${name}100', 0)`)
      const run = slow.once()
      try {
        const claim = new RegExp(`${name}.*FOR UPDATE`, 's')
        await eventually(SOON_MS, 'the claim waits', async () => {
          const sessions = await sessionsOf((sql) => other.query(sql))
          return sessions.filter(({ state, sql }) => state === 'User lock' && claim.test(sql)).length === 1
        })
        // One that had to wait for the claim would be refused: the claim continues after these.
        for (const id of upTo(20)) {
          await other.query(`UPDATE ${name} SET n = n + 1 WHERE id = ${id} ${done}`)
          await other.query(
            `UPDATE recentn_poll_claims SET attempts = attempts + 1 WHERE poll_id = ${pollId} AND row_key = '${id}'`,
          )
        }
        const free = await other.query(`SELECT id FROM ${name} WHERE id = 100 FOR UPDATE SKIP LOCKED`)
        expect(free).toEqual([])
      } finally {
        await holder.query(`SELECT RELEASE_LOCK('${name}100')`)
        await holder.release()
      }
      await run
    })
  })

  describe('polls: a time that keeps whole seconds', () => {
    it.each(['datetime', 'timestamp', 'datetime(1)'])('ends no claim early: %s', async (type) => {
      const own = `next_at ${type} NULL, claimed_by varchar(22), tries integer`
      const name = await made(`id integer NOT NULL PRIMARY KEY, ${own}`, 2)
      const claim = { claim: 'claimed_by', attempts: 'tries', nextTime: 'next_at' }
      const [lasts, left]: [number[], number[]] = [[], []]
      // Claims of several moments within a second.
      for (const _ of upTo(8)) {
        const began = Date.now() + context.clock.offsetMs
        const handler = async ({ n }: NumberedRow) => {
          const [row] = await query(`SELECT UNIX_TIMESTAMP(next_at) * 1000 AS ends FROM ${name} WHERE n = ${n}`)
          lasts.push(Number(row.ends) - began)
          left.push(Number(row.ends) - Date.now() - context.clock.offsetMs)
        }
        await poll(name, handler, { claim, claimTimeoutSeconds: 5 }).once()
        await query(`UPDATE ${name} SET claimed_by = NULL, next_at = NULL`)
        await sleep(130)
      }
      expect(lasts).toHaveLength(16)
      expect(Math.min(...lasts)).toBeGreaterThanOrEqual(5000)
      expect(Math.max(...left)).toBeLessThan(7000)
    })
  })
}

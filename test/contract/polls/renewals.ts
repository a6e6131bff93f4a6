import { type Context, sleep } from '../context'
import { type NumberedRow, pollTools, upTo } from './tools'

/** How long claims hold here: a busy machine may keep this process from renewing them for a part of that. */
const CLAIM_SECONDS = 4
const CLAIM_MS = 1000 * CLAIM_SECONDS

/** Locks of others that last longer than a claim, and claims that take longer. The servers only: SQLite has one writer. */
export function describePollRenewals(context: Context): void {
  const { query, tableOf, poll } = pollTools(context)
  if (context.engine === 'sqlite') return

  const made = async (columns: string) => {
    const name = await tableOf({ title: '', columns: `id integer PRIMARY KEY, ${columns}`, row: {}, options: {} }, 0)
    await query(`INSERT INTO ${name} (id, n) VALUES (1, 1), (2, 2), (3, 3)`)
    return name
  }
  const STATUS = "status varchar(30) DEFAULT 'ready'"

  /** Runs the handler in two processes; resolves to the rows on which both worked at once. */
  const both = async (name: string, work: (n: number) => Promise<unknown>, options: object) => {
    const running = new Map(upTo(4).map((n) => [n, 0]))
    const twice: number[] = []
    const handler = async ({ n }: NumberedRow) => {
      const number = Number(n)
      const now = (running.get(number) as number) + 1
      running.set(number, now)
      if (now > 1) twice.push(number)
      await work(number)
      running.set(number, (running.get(number) as number) - 1)
    }
    const settings = { status: 'status', concurrency: 3, claimTimeoutSeconds: CLAIM_SECONDS, ...options }
    const first = poll(name, handler, settings).once()
    await sleep(200)
    const other = poll(name, handler, { ...settings, auto: true, intervalSeconds: 0.1 }, await context.open())
    const result = await first
    await other.stop()
    return { result, twice }
  }

  /** A transaction of the user's that holds row 1 for this time. */
  const hold = (name: string, ms: number) =>
    context.store.dataSource.transaction(async (manager) => {
      await manager.query(`SELECT id FROM ${name} WHERE id = 1 FOR UPDATE`)
      await sleep(ms)
    })

  describe('polls: renewals', () => {
    it('of other rows do not wait for a row that is locked', async () => {
      const name = await made(`${STATUS}, claimed_by varchar(22), tries integer, next_at bigint`)
      const claim = { claim: 'claimed_by', attempts: 'tries', nextTime: 'next_at' }
      const work = (n: number) => (n === 1 ? hold(name, 1.4 * CLAIM_MS) : sleep(1.6 * CLAIM_MS))
      const { result, twice } = await both(name, work, { claim })
      expect(twice).toEqual([])
      expect(result.done).toBeGreaterThanOrEqual(2)
    })

    it.each([
      ['with a status', STATUS, { status: 'status' }],
      ['without', 'word varchar(9)', {}],
    ])('of claims in the row hold where it was locked for longer than they last: %s', async (_, columns, options) => {
      const name = await made(`${columns}, claimed_by varchar(22), tries integer, next_at bigint`)
      const claim = { claim: 'claimed_by', attempts: 'tries', nextTime: 'next_at' }
      const times: number[] = []
      const work = async (n: number) => {
        times.push(n)
        // Its own transaction has the row, and another's; then the handler continues without.
        if (n === 1) await hold(name, 1.6 * CLAIM_MS)
        await sleep(n === 1 ? 0.7 * CLAIM_MS : 100)
      }
      const settings = { ...options, status: undefined, claim, intervalSeconds: 0.005, ...options }
      const { result, twice } = await both(name, work, settings)
      expect(twice).toEqual([])
      expect(times.sort()).toEqual([1, 2, 3])
      expect(result).toMatchObject({ lost: 0, failed: 0 })
      const [noted] = await query(
        `SELECT COUNT(*) AS notes FROM recentn_poll_claims c JOIN recentn_polls p ON p.id = c.poll_id WHERE p.poll = '${name}'`,
      )
      expect(Number(noted.notes)).toBe(0)
    })

    it('of a row without a key, too, which its handler changes', async () => {
      const columns = 'word varchar(9), claimed_by varchar(22), tries integer, next_at bigint'
      const name = await tableOf({ title: '', columns, row: {}, options: {} }, 2)
      const claim = { claim: 'claimed_by', attempts: 'tries', nextTime: 'next_at' }
      const times: number[] = []
      const work = async (n: number) => {
        times.push(n)
        await context.store.dataSource.transaction(async (manager) => {
          await manager.query(`UPDATE ${name} SET word = 'w${n}' WHERE n = ${n}`)
          await sleep(1.5 * CLAIM_MS)
        })
        await sleep(0.4 * CLAIM_MS)
      }
      const { twice } = await both(name, work, { status: undefined, claim, intervalSeconds: 0.005 })
      expect(twice).toEqual([])
      expect(times.sort()).toEqual([0, 1])
    })

    it('that meet results leave nothing behind', async () => {
      const columns = 'id integer PRIMARY KEY, claimed_by varchar(22), tries integer, next_at bigint'
      const name = await tableOf({ title: '', columns, row: { id: 'N' }, options: {} }, 1800)
      const claim = { claim: 'claimed_by', attempts: 'tries', nextTime: 'next_at' }
      const options = { claim, claimTimeoutSeconds: CLAIM_SECONDS, concurrency: 20, batch: { min: 20 } }
      expect(await poll(name, () => sleep(20 + Math.random() * 60), options).once()).toMatchObject({ done: 1800 })
      const left = await query(
        `SELECT row_key FROM recentn_poll_claims c JOIN recentn_polls p ON p.id = c.poll_id WHERE p.poll = '${name}'`,
      )
      expect(left).toEqual([])
    })

    it('continue while a result waits for its row', async () => {
      const name = await made(STATUS)
      let held: Promise<unknown> = Promise.resolve()
      const work = async (n: number) => {
        if (n !== 1) return sleep(1.6 * CLAIM_MS)
        held = hold(name, 1.4 * CLAIM_MS)
        await sleep(100)
      }
      const { result, twice } = await both(name, work, {})
      await held
      expect(twice).toEqual([])
      expect(result).toMatchObject({ done: 3, lost: 0 })
    })

    it('come before the handler where the claim took longer than it lasts', async () => {
      const name = await made(STATUS)
      const options = { status: 'status', concurrency: 3, claimTimeoutSeconds: CLAIM_SECONDS, maxAttempts: 1 }
      const run = poll(name, () => {}, { ...options, where: `SLEEP(${0.36 * CLAIM_SECONDS}) = 0` }).once()
      expect(await run).toMatchObject({ claimed: 3, done: 3, failed: 0, lost: 0 })
    })
  })
}

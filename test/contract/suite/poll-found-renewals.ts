import { type Context, sleep } from './context'
import { type NumberedRow, pollTools, upTo } from './poll-tools'

/** Row locks of the user's that last longer than a claim. The servers only: SQLite has one writer. */
export function describePollFoundRenewals(context: Context): void {
  const { query, tableOf, poll } = pollTools(context)
  if (context.engine === 'sqlite') return

  describe('polls: renewals, found in review', () => {
    it('a transaction that holds one row takes no other row from who works on it', async () => {
      const columns =
        "id integer PRIMARY KEY, status varchar(30) DEFAULT 'ready', claimed_by varchar(22), tries integer, next_at bigint"
      const name = await tableOf({ title: '', columns, row: {}, options: {} }, 0)
      await query(`INSERT INTO ${name} (id, n) VALUES (1, 1), (2, 2), (3, 3)`)
      const running = new Map(upTo(4).map((n) => [n, 0]))
      const twice: number[] = []
      const handler = async ({ n }: NumberedRow) => {
        const number = Number(n)
        running.set(number, (running.get(number) as number) + 1)
        if ((running.get(number) as number) > 1) twice.push(number)
        if (number === 1) {
          await context.store.dataSource.transaction(async (manager) => {
            await manager.query(`UPDATE ${name} SET n = 1, tries = tries WHERE id = 1`)
            await manager.query(`SELECT id FROM ${name} WHERE id = 1 FOR UPDATE`)
            await sleep(5000)
          })
        } else await sleep(5000)
        running.set(number, (running.get(number) as number) - 1)
      }
      const claim = { claim: 'claimed_by', attempts: 'tries', nextTime: 'next_at' }
      const options = { status: 'status', claim, concurrency: 3, claimTimeoutSeconds: 2 }
      const first = poll(name, handler, options).once()
      await sleep(300)
      const other = poll(name, handler, { ...options, auto: true, intervalMs: 200 }, await context.open())
      await first
      await other.stop()
      expect(twice).toEqual([])
    }, 30_000)
  })
}

import { type Context, sleep } from './context'
import { type NumberedRow, pollTools } from './poll-tools'

/** Pollers of one table that mean different rows, and go by one name because none was given. */
export function describePollFoundPurposes(context: Context): void {
  const { query, tableOf, poll, holding } = pollTools(context)
  const made = (columns: string) => tableOf({ title: '', columns, row: {}, options: {} }, 0)

  describe('polls: two purposes on one table, no names given', () => {
    it('of two status columns: no row stays behind at the batch key', async () => {
      const name = await made("id integer PRIMARY KEY, a varchar(30) DEFAULT 'ready', b varchar(30) DEFAULT 'ready'")
      await query(`INSERT INTO ${name} (id, n) VALUES (1, 1), (2, 2)`)
      const slow = holding()
      const first = poll(name, slow.handler, { status: 'a', concurrency: 2 })
      const run = first.once()
      await slow.until(2)
      await poll(name, () => {}, { status: 'b' }).once()
      slow.letGo()
      await run
      context.clock.offsetMs += 61_000
      await first.once()
      expect(await query(`SELECT a, b FROM ${name}`)).toEqual([
        { a: 'done', b: 'done' },
        { a: 'done', b: 'done' },
      ])
    })

    it('of a pipeline in one status column: the second step never gets what the first has not done', async () => {
      const name = await made("id integer PRIMARY KEY, status varchar(30) DEFAULT 'new'")
      await query(`INSERT INTO ${name} (id, n) VALUES (1, 1)`)
      const dead = holding()
      void poll(name, dead.handler, { status: { column: 'status', ready: 'new', done: 'paid' } }).once()
      await dead.until(1)
      context.clock.offsetMs += 61_000
      const seen: number[] = []
      const invoice = ({ n }: NumberedRow) => seen.push(Number(n))
      await poll(name, invoice, { status: { column: 'status', ready: 'paid', done: 'invoiced' } }).once()
      dead.letGo()
      expect(seen).toEqual([])
    })

    it('of two `where`: an attempt again goes to rows that still match', async () => {
      const name = await made('id integer PRIMARY KEY')
      await query(`INSERT INTO ${name} (id, n) VALUES (1, 1)`)
      const fails = () => Promise.reject(new Error('no'))
      await poll(name, fails, { where: 'n = 1', backoff: { minSeconds: 1, maxSeconds: 1 } }).once()
      await query(`UPDATE ${name} SET n = 2`)
      context.clock.offsetMs += 5000
      const seen: number[] = []
      await poll(name, ({ n }) => seen.push(Number(n)), { where: 'n = 1' }).once()
      await sleep(10)
      expect(seen).toEqual([])
    })
  })
}

import { type Context, sleep } from './context'
import { type NumberedRow, pollTools } from './poll-tools'

/** Results that the table does not take, rows that can't be found again, sequences and keys with nulls. */
export function describePollFoundResults(context: Context): void {
  const { query, tableOf, poll } = pollTools(context)
  const made = (columns: string) => tableOf({ title: '', columns, row: {}, options: {} }, 0)
  const within = (work: Promise<unknown>) => Promise.race([work, sleep(8000).then(() => 'never ended')])

  describe('polls: found in review', () => {
    it('a result that the table refuses does not stop the others', async () => {
      const name = await made(
        "id integer PRIMARY KEY, status varchar(30) DEFAULT 'ready' CHECK (n <> 1 OR status <> 'done')",
      )
      await query(`INSERT INTO ${name} (id, n) VALUES (1, 1), (2, 2), (3, 3)`)
      const seen: number[] = []
      const run = poll(name, ({ n }) => seen.push(Number(n)), { status: 'status', maxAttempts: 1 }).once()
      expect(await within(run)).not.toBe('never ended')
      expect(seen).toEqual([1, 2, 3])
    })

    it('an error whose message is no text is one like others', async () => {
      const name = await made("id integer PRIMARY KEY, status varchar(30) DEFAULT 'ready'")
      await query(`INSERT INTO ${name} (id, n) VALUES (1, 1), (2, 2)`)
      const fails = () => Promise.reject(Object.assign(new Error(), { message: { code: 1 } }))
      const run = poll(name, fails, { status: 'status', maxAttempts: 1 }).once()
      expect(await within(run)).toMatchObject({ failed: 2 })
    })

    it('a row without a key that its handler changes does not stay behind at the batch key', async () => {
      const name = await made("at bigint NOT NULL, word varchar(9), status varchar(30) DEFAULT 'ready'")
      await query(`INSERT INTO ${name} (at, n) VALUES (1, 1)`)
      const options = { status: 'status', sequence: 'at' }
      await poll(name, () => query(`UPDATE ${name} SET word = 'seen'`), options).once()
      context.clock.offsetMs += 61_000
      await poll(name, () => {}, options).once()
      expect(await query(`SELECT status FROM ${name}`)).toEqual([{ status: 'done' }])
    })

    it('rows without a number in the sequence are refused, or done once and never in the way', async () => {
      const name = await made('id integer PRIMARY KEY, at bigint')
      await query(`INSERT INTO ${name} (id, n) VALUES (1, 1)`)
      const seen: number[] = []
      const handler = ({ n }: NumberedRow) => seen.push(Number(n))
      const poller = poll(name, handler, { sequence: 'at', lateSeconds: 0 })
      try {
        await poller.once()
      } catch (error) {
        expect(error).toMatchObject({ code: 'invalid_input' })
        return
      }
      context.clock.offsetMs += 1000
      await poller.once()
      await query(`INSERT INTO ${name} (id, at, n) VALUES (2, 5, 2)`)
      context.clock.offsetMs += 1000
      await poller.once()
      expect(seen).toEqual([1, 2])
    })

    it('a row whose key is null is refused, or done, and keeps no other waiting', async () => {
      const name = await made("id varchar(20) UNIQUE, status varchar(30) DEFAULT 'ready'")
      const nulls = Array.from({ length: 12 }, (_, n) => `(NULL, ${n})`)
      await query(`INSERT INTO ${name} (id, n) VALUES ${nulls.join(', ')}, ('a', 12)`)
      const seen: number[] = []
      try {
        await poll(name, ({ n }) => seen.push(Number(n)), { status: 'status', key: 'id' }).once()
      } catch (error) {
        expect(error).toMatchObject({ code: 'invalid_input' })
        return
      }
      expect(seen).toContain(12)
    })

    it('rows like one that failed for good are processed', async () => {
      const name = await made('word varchar(9)')
      await query(`INSERT INTO ${name} (word, n) VALUES ('mail', 1)`)
      const options = { onDone: 'delete', maxAttempts: 1 } as const
      await poll(name, () => Promise.reject(new Error('no')), options).once()
      await query(`INSERT INTO ${name} (word, n) VALUES ('mail', 1)`)
      expect(await poll(name, () => {}, options).once()).toMatchObject({ done: 1 })
    })
  })
}

import type { PollOptions } from '../../../src/index'
import type { PollTable } from '../../support/poll-shapes'
import type { Context } from '../context'
import { type NumberedRow, pollTools } from './tools'

const OWN = { claim: 'claimed_by', attempts: 'tries', nextTime: 'next_at', error: 'last_error' }
const COLUMNS = 'claimed_by varchar(22), tries integer, next_at bigint, last_error varchar(200)'
const WAYS: [string, Partial<PollOptions<NumberedRow>>][] = [
  ['noted beside the table', {}],
  ['noted in the row', { claim: OWN }],
]

/** A handler's answer is the status of its row. */
export function describePollWords(context: Context): void {
  const { query, tableOf, poll, faultsOf } = pollTools(context)

  const made = async (rows: number, type = "varchar(30) NOT NULL DEFAULT 'ready'") => {
    const columns = `id integer NOT NULL PRIMARY KEY, state ${type}, ${COLUMNS}`
    return tableOf({ title: '', columns, row: { id: 'N' }, options: {} } satisfies PollTable, rows)
  }
  const states = async (name: string) => {
    const rows: { state: unknown }[] = await query(`SELECT state FROM ${name} ORDER BY n`)
    return rows.map(({ state }) => state)
  }

  describe.each(WAYS)('polls: the word that a handler resolves to, %s', (_, way) => {
    it('is the status of the row, and each named word is a row that is done', async () => {
      const name = await made(4)
      const status = { column: 'state', results: ['sent', 'skipped'] }
      const words = ['sent', 'skipped', 'sent', 'skipped']
      const poller = poll(name, ({ n }) => words[Number(n)], { ...way, status })
      expect(await poller.once()).toMatchObject({ done: 4, retried: 0, failed: 0 })
      expect(await states(name)).toEqual(words)
      expect(await poller.counts()).toEqual({ ready: 0, claimed: 0, waiting: 0, failed: 0, done: 4 })
    })

    it('is a failed attempt if it was not named', async () => {
      const name = await made(2)
      const errors: string[] = []
      const poller = poll(name, ({ n }, { attempt }) => (Number(n) === 0 || attempt < 2 ? undefined : 'sent'), {
        ...way,
        status: { column: 'state', results: ['sent', 'skipped'] },
        maxAttempts: 2,
        backoff: { minSeconds: 0, maxSeconds: 0 },
        onError: (error) => errors.push((error as Error).message),
      })
      expect(await poller.once()).toMatchObject({ done: 1, retried: 2, failed: 1 })
      expect(await states(name)).toEqual(['error', 'sent'])
      expect(errors).toHaveLength(3)
      expect(errors[0]).toContain('sent, skipped')
    })

    it('may be a number, and passes the hook', async () => {
      const name = await made(3, 'smallint NOT NULL DEFAULT 0')
      const status = { column: 'state', ready: 0, claimed: 1, error: 9, results: [2, 3] }
      const around = async (_row: NumberedRow, next: () => Promise<unknown>) => void (await next())
      const poller = poll(name, ({ n }) => 2 + (Number(n) % 2), { ...way, status, around })
      expect(await poller.once()).toMatchObject({ done: 3 })
      expect((await states(name)).map(Number)).toEqual([2, 3, 2])
    })
  })

  describe('polls: words of results', () => {
    it('are refused where they mean nothing, or not one thing', async () => {
      const name = await made(0, 'varchar(30)')
      const results = ['sent', 'skipped']
      const status = { column: 'state', results }
      expect(await faultsOf(name, { status, onDone: 'delete' })).toContain('/status/results')
      expect(await faultsOf(name, { status: { ...status, done: 'done' } })).toContain('/status/results')
      expect(await faultsOf(name, { status: { column: 'state', results: ['sent', 'ready'] } })).toContain('/status')
      expect(await faultsOf(name, { status: { column: 'state', results: ['x'.repeat(31)] } })).toContain('/status')
      expect(() => poll(name, () => {}, { status: { column: 'state', results: [] } })).toThrow('/status/results')
      expect(() => poll(name, () => {}, { status: { column: 'state', results: ['a', 'a'] } })).toThrow(
        '/status/results',
      )
    })
  })
}

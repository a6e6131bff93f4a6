import { type Poller, UnrecoverableError } from '../../../src/index'
import type { BatchHandler } from '../../../src/shared/handler-types'
import type { PollManyContext, PollManyOptions } from '../../../src/store/poller/types'
import { insertSql } from '../../support/poll-shapes'
import { type Context, eventually, sleep } from '../context'
import { type NumberedRow, PLACES, pollTools, upTo } from './tools'

const AT_ONCE = { backoff: { minSeconds: 0, maxSeconds: 0 } }
const numbers = (rows: readonly NumberedRow[]) => rows.map(({ n }) => Number(n)).sort((a, b) => a - b)

/** Handlers that get many rows at once. */
export function describePollMany(context: Context): void {
  const { query, tableOf } = pollTools(context)

  const pollMany = (
    name: string,
    handler: BatchHandler<NumberedRow, PollManyContext>,
    options: PollManyOptions<NumberedRow> = {},
  ): Poller => {
    const common = { auto: false, onWarning: () => {}, onError: () => {} }
    const poller = context.store.pollMany<NumberedRow>(name, handler, { ...common, ...options })
    context.afterwards(() => poller.stop({ timeoutSeconds: 0 }))
    return poller
  }
  const until = (what: string, holds: () => boolean | Promise<boolean>) => eventually(10_000, what, async () => holds())

  describe.each(PLACES)('polls: many rows of %s', (_, table) => {
    it('are given up to batchSize at once, and each is done once', async () => {
      const name = await tableOf(table, 45)
      const calls: number[][] = []
      // One claim has them all: others take as many as this machine handles in a second.
      const options = { ...table.options, batchSize: 20, batch: { min: 45 } }
      const poller = pollMany(name, (rows) => void calls.push(numbers(rows)), options)
      expect(await poller.once()).toMatchObject({ claimed: 45, done: 45 })
      expect(calls.map(({ length }) => length)).toEqual([20, 20, 5])
      expect(calls.flat()).toEqual(upTo(45))
      expect(await poller.counts()).toMatchObject({ ready: 0, claimed: 0, done: 45 })
    })

    it('fail some by some, or all if it throws, each with its own attempts', async () => {
      const name = await tableOf(table, 5)
      const [calls, errors]: [string[], unknown[]] = [[], []]
      const handler: BatchHandler<NumberedRow, PollManyContext> = (rows, { attempts }) => {
        calls.push(rows.map(({ n }, at) => `${n}: ${attempts[at]}`).join(', '))
        if (calls.length === 1) return { failed: rows.slice(3).map((row) => [row, new Error(`not ${row.n}`)] as const) }
        if (calls.length === 2) throw new Error('all of them')
        return { failed: rows.slice(1).map((row) => [row, new UnrecoverableError('never')] as const) }
      }
      const onError = (error: unknown, row?: NumberedRow) => errors.push(`${row?.n} ${(error as Error).message}`)
      const poller = pollMany(name, handler, { ...table.options, ...AT_ONCE, onError })
      expect(await poller.once()).toMatchObject({ done: 4, retried: 4, failed: 1 })
      expect(calls).toEqual(['0: 1, 1: 1, 2: 1, 3: 1, 4: 1', '3: 2, 4: 2', '3: 3, 4: 3'])
      expect(errors).toEqual(['3 not 3', '4 not 4', '3 all of them', '4 all of them', '4 never'])
      expect(await poller.counts()).toMatchObject({ ready: 0, done: 4, failed: 1 })
    })

    it('keep their claims for as long as the handler takes, and while they wait for more', async () => {
      const name = await tableOf(table, 2)
      const calls: number[][] = []
      // A busy machine extends in time too: each wait, and each handler, is longer than a claim, which is not short.
      const options = { auto: true, batchSize: 3, waitSeconds: 3.5, claimTimeoutSeconds: 3, intervalSeconds: 0.05 }
      const poller = pollMany(
        name,
        async (rows) => {
          calls.push(numbers(rows))
          await sleep(3500)
        },
        { ...table.options, ...options },
      )
      await sleep(500)
      expect(calls).toEqual([])
      await until('they have waited', () => calls.length === 1)
      await query(insertSql(table, name, [2, 3, 4]))
      await until('as many as go at once do not wait', () => calls.length === 2)
      await until('they are done', async () => Number((await poller.counts()).done) === 5)
      await poller.stop()
      expect(calls).toEqual([
        [0, 1],
        [2, 3, 4],
      ])
    })

    it('are given back where they wait when it is stopped, uncounted', async () => {
      const name = await tableOf(table, 5)
      const calls: number[][] = []
      let open = () => {}
      const opened = new Promise<void>((resolve) => {
        open = resolve
      })
      const handler = async (rows: NumberedRow[]) => {
        calls.push(numbers(rows))
        await opened
      }
      const options = {
        ...table.options,
        auto: true,
        batchSize: 3,
        waitSeconds: 60,
        concurrency: 2,
        intervalSeconds: 0.05,
      }
      const poller = pollMany(name, handler, options)
      const areClaimed = async () => calls.length === 1 && (await poller.counts()).claimed === 5
      await until('one call runs, and two rows wait', areClaimed)
      const stopped = poller.stop()
      await until('two are given back', async () => (await poller.counts()).ready === 2)
      open()
      await stopped
      expect(calls).toEqual([[0, 1, 2]])
      const attempts: number[] = []
      const next = pollMany(name, (_rows, how) => void attempts.push(...how.attempts), table.options)
      expect(await next.once()).toMatchObject({ done: 2 })
      expect(attempts).toEqual([1, 1])
    })
  })

  describe('polls: many rows', () => {
    const [, table] = PLACES[0] as (typeof PLACES)[number]

    it('take turns, and pass a hook that gives nothing back', async () => {
      const name = await tableOf(table, 6)
      const [calls, hooked]: [number[][], number[]] = [[], []]
      const handler = (rows: NumberedRow[]) => {
        calls.push(numbers(rows))
        return { failed: calls.length < 3 ? rows.map((row) => [row, new Error('not yet')] as const) : [] }
      }
      const around = async (rows: NumberedRow[], next: () => Promise<unknown>) => {
        hooked.push(rows.length)
        await next()
      }
      const options = { ...table.options, order: 'cycle', around, batchSize: 3, batch: { max: 3 } } as const
      expect(await pollMany(name, handler, options).once()).toMatchObject({ done: 6, retried: 6 })
      expect(calls).toEqual([
        [0, 1, 2],
        [3, 4, 5],
        [0, 1, 2],
        [3, 4, 5],
      ])
      expect(hooked).toEqual([3, 3, 3, 3])
    })

    it('have no words of results', async () => {
      const name = await tableOf(table, 0)
      const status = { column: 'status', results: ['sent'] }
      expect(() => pollMany(name, () => {}, { status })).toThrow('/status/results')
    })
  })
}

import type { PollTable } from '../../support/poll-shapes'
import { type Context, eventually, refusal, sleep } from '../context'
import { type NumberedRow, PLACES, pollTools, upTo } from './tools'

const TIMEOUT_SECONDS = 60

export function describePollClaims(context: Context): void {
  const { tableOf, poll, numbersWhere, holding } = pollTools(context)
  const later = (seconds: number) => {
    context.clock.offsetMs += seconds * 1000
  }

  describe.each(PLACES)('polls: claims of a table with %s', (_, table: PollTable) => {
    const { options } = table

    it('come back when they run out, and who comes late records nothing', async () => {
      const name = await tableOf(table, 3)
      const [slow, quick, other] = [holding(), holding(), holding()]
      const first = poll(name, slow.handler, { ...options, concurrency: 3, claimTimeoutSeconds: TIMEOUT_SECONDS })
      const [late, second] = [first.once(), poll(name, quick.handler, { ...options, concurrency: 3 })]
      await slow.until(3)
      expect(await second.once()).toMatchObject({ claimed: 0 })
      expect(await second.counts()).toMatchObject({ ready: 0, claimed: 3 })

      later(TIMEOUT_SECONDS + 1)
      expect(await second.counts()).toMatchObject({ ready: 3, claimed: 0 })
      const successor = second.once()
      await quick.until(3)
      expect(quick.attempts).toEqual([2, 2, 2])
      slow.letGo()
      expect(await late).toMatchObject({ claimed: 3, done: 0, lost: 3 })
      // They are still the successor's: claimed, and no other poller's.
      expect(await second.counts()).toMatchObject({ ready: 0, claimed: 3 })
      expect(await poll(name, other.handler, options).once()).toMatchObject({ claimed: 0 })
      if (table.done) expect(await numbersWhere(name, table.done)).toEqual([])

      quick.letGo()
      expect(await successor).toEqual({ claimed: 3, done: 3, retried: 0, failed: 0, lost: 0 })
      if (table.done) expect(await numbersWhere(name, table.done)).toEqual([0, 1, 2])
      expect(await second.counts()).toEqual({ ready: 0, claimed: 0, waiting: 0, failed: 0, done: 3 })
    })

    it('that fail late are not recorded over the result of a successor', async () => {
      const name = await tableOf(table, 2)
      const slow = holding()
      const failing = async (row: NumberedRow, how: Parameters<typeof slow.handler>[1]) => {
        await slow.handler(row, how)
        throw new Error('late')
      }
      const late = poll(name, failing, { ...options, concurrency: 2, maxAttempts: 1 }).once()
      await slow.until(2)
      later(TIMEOUT_SECONDS + 1)
      expect(await poll(name, () => {}, options).once()).toMatchObject({ done: 2 })
      slow.letGo()
      expect(await late).toMatchObject({ failed: 0, lost: 2 })
      expect(await poll(name, () => {}, options).counts()).toMatchObject({ done: 2, failed: 0 })
      if (table.done) expect(await numbersWhere(name, table.done)).toEqual([0, 1])
    })

    it('that are never ended are given up after the last attempt', async () => {
      const name = await tableOf(table, 1)
      for (let attempt = 1; attempt <= 2; attempt++) {
        const { handler, until, attempts, letGo } = holding()
        // One at a time, so that it does not claim again while the clock is moved.
        void poll(name, handler, { ...options, maxAttempts: 2 }).once()
        await until(1)
        expect(attempts).toEqual([attempt])
        later(TIMEOUT_SECONDS + 1)
        context.afterwards(async () => letGo())
      }
      const told: [string, number][] = []
      const onError = (error: unknown, row?: NumberedRow) => told.push([(error as Error).message, Number(row?.n)])
      const last = poll(name, () => {}, { ...options, maxAttempts: 2, onError })
      expect(await last.once()).toEqual({ claimed: 0, done: 0, retried: 0, failed: 1, lost: 0 })
      expect(told).toEqual([['Attempt 2 never came to an end', 0]])
      expect(await last.counts()).toMatchObject({ ready: 0, claimed: 0, failed: 1, done: 0 })
    })

    it('that are never ended are reported with their row, also where that is deleted then', async () => {
      const name = await tableOf(table, 1)
      const deleting = { ...options, maxAttempts: 1, onDone: 'delete', onFailed: 'delete' } as const
      const { handler, until, letGo } = holding()
      context.afterwards(async () => letGo())
      void poll(name, handler, deleting).once()
      await until(1)
      later(TIMEOUT_SECONDS + 1)
      const told: unknown[] = []
      const last = poll(name, () => {}, {
        ...deleting,
        onError: (_error, row?: NumberedRow) => told.push(Number(row?.n)),
      })
      expect(await last.once()).toMatchObject({ claimed: 0, failed: 1 })
      expect(told).toEqual([0])
      expect(await numbersWhere(name)).toEqual([])
    })

    it.each([1, 2])(
      'of rows that die with another are not given up for it, at most %s attempts',
      async (maxAttempts) => {
        const name = await tableOf(table, 12)
        const dead: Promise<unknown>[] = []
        const failed: number[] = []
        const onError = (_error: unknown, row?: NumberedRow) => failed.push(Number(row?.n))
        let ended = 0
        let goOn = () => {}
        const end = new Promise<void>((resolve) => {
          goOn = resolve
        })
        // The process of each poller dies as soon as it begins row 4: nothing of it is heard again.
        for (let round = 0; failed.length === 0 && round < 20; round++) {
          let die = () => {}
          const died = new Promise<'died'>((resolve) => {
            die = () => resolve('died')
          })
          let isDead = false
          const handler = async ({ n }: NumberedRow) => {
            if (Number(n) === 4) {
              isDead = true
              die()
            }
            if (isDead) await end
            ended++
          }
          const poller = poll(name, handler, { ...options, maxAttempts, concurrency: 2, batch: { min: 10 }, onError })
          const run = poller.once()
          dead.push(run)
          await Promise.race([run, died])
          // A row that is not recorded yet would have had its only attempt.
          await eventually(30_000, 'ended rows are recorded', async () => (await poller.counts()).done === ended)
          later(TIMEOUT_SECONDS + 1)
        }
        context.afterwards(() => {
          goOn()
          return Promise.allSettled(dead)
        })
        expect(failed).toContain(4)
        const last = poll(name, () => {}, { ...options, maxAttempts, onError })
        await last.once()
        // With one attempt those that ran beside it had theirs, and no others.
        expect(failed.length).toBeLessThanOrEqual(maxAttempts === 1 ? 2 : 1)
        expect(await last.counts()).toMatchObject({
          failed: failed.length,
          done: 12 - failed.length,
          ready: 0,
          claimed: 0,
        })
      },
    )

    it('of a handler that failed wait for their backoff', async () => {
      const name = await tableOf(table, 1)
      const attempts: number[] = []
      const fails = async (_row: NumberedRow, { attempt }: { attempt: number }) => {
        attempts.push(attempt)
        throw `attempt ${attempt}`
      }
      const poller = poll(name, fails, { ...options, backoff: { minSeconds: 100, maxSeconds: 1000 }, maxAttempts: 3 })
      expect(await poller.once()).toMatchObject({ claimed: 1, retried: 1 })
      later(90)
      expect(await poller.once()).toMatchObject({ claimed: 0 })
      expect(await poller.counts()).toMatchObject({ ready: 0, waiting: 1 })
      later(70)
      expect(await poller.counts()).toMatchObject({ ready: 1, waiting: 0 })
      expect(await poller.once()).toMatchObject({ claimed: 1, retried: 1 })
      later(1000)
      expect(await poller.once()).toMatchObject({ claimed: 1, failed: 1 })
      later(1000)
      expect(await poller.once()).toMatchObject({ claimed: 0 })
      expect(attempts).toEqual([1, 2, 3])
      expect(await poller.counts()).toMatchObject({ ready: 0, waiting: 0, failed: 1 })
    })

    it('that have not begun are given back when the poller stops, and what runs is finished', async () => {
      const name = await tableOf(table, 6)
      const slow = holding()
      const poller = poll(name, slow.handler, { ...options, auto: true, concurrency: 2, batch: { min: 6 } })
      await slow.until(2)
      const stopped = poller.stop()
      await eventually(5000, 'four given back', async () => (await poller.counts()).ready === 4)
      slow.letGo()
      await stopped
      await poller.stop()
      expect(slow.begun).toHaveLength(2)
      expect(await poller.counts()).toMatchObject({ ready: 4, claimed: 0, done: 2 })
      // It was no attempt.
      const next = holding()
      next.letGo()
      expect(await poll(name, next.handler, options).once()).toMatchObject({ done: 4 })
      expect(next.attempts).toEqual([1, 1, 1, 1])
      expect((await refusal(poll(name, () => {}, { ...options, auto: true }).once())).code).toBe('invalid_input')
    })
  })

  describe('polls: claims, wherever they are noted,', () => {
    it('are renewed while a handler runs, however long', async () => {
      await Promise.all(
        PLACES.map(async ([, table]) => {
          const { options } = table
          const name = await tableOf(table, 2)
          const slow = holding()
          const running = poll(name, slow.handler, { ...options, batch: { min: 2 }, claimTimeoutSeconds: 6 }).once()
          await slow.until(1)
          const other = poll(name, () => {}, { ...options, claimTimeoutSeconds: 6 })
          for (const _ of upTo(8)) {
            await sleep(1000)
            expect(await other.once()).toMatchObject({ claimed: 0 })
          }
          slow.letGo()
          expect(await running).toMatchObject({ claimed: 2, done: 2, lost: 0 })
        }),
      )
    })

    it('are given back by a stop without a moment to end, their handlers told', async () => {
      await Promise.all(
        PLACES.map(async ([, table]) => {
          const name = await tableOf(table, 1)
          const aborted: boolean[] = []
          let begun = false
          const poller = poll(
            name,
            (_row, { signal }) =>
              new Promise((resolve) => {
                begun = true
                signal.addEventListener('abort', () => aborted.push(true))
                context.afterwards(async () => resolve(null))
              }),
            { ...table.options, auto: true },
          )
          await eventually(5000, 'begun', async () => begun)
          await poller.stop({ timeoutSeconds: 0 })
          expect(aborted).toEqual([true])
          expect(await poller.counts()).toMatchObject({ ready: 1, claimed: 0 })
        }),
      )
    })
  })
}

/** Workers whose database goes away: connections that are cut before them, at chosen moments and at any. */
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { openStore, RecentnError, type Store } from '../../src'
import type { Message } from '../../src/shared/queue-types'
import type { Worker } from '../../src/store/worker/types'
import { CuttingProxy } from '../support/cutting-proxy'
import { type Database, describeEngine, freshDatabase } from '../support/engines'
import { stopwatch } from '../support/timing'
import { inState, isEmpty, numbers, sendNumbers, sleep, until, untilDone, upTo } from './support'

const CUTTING_MS = 5000

export function describeWorkerAway(engine: 'mariadb' | 'mysql'): void {
  describeEngine(engine, 'a worker whose database is away', () => {
    let database: Database
    /** Straight to the server, whatever the proxy does. */
    let direct: Store
    let proxy: CuttingProxy
    let store: Store
    let worker: Worker
    let queue: string
    let tests = 0

    beforeAll(async () => {
      database = await freshDatabase(engine)
      direct = await openStore({ url: database.url })
    })

    beforeEach(async () => {
      queue = `away-${++tests}`
      await direct.queues.put(queue)
      proxy = await CuttingProxy.before(database.url)
      store = await openStore({ url: proxy.through(database.url), sweep: false })
    })

    afterEach(async () => {
      await worker.stop({ timeoutSeconds: 0 })
      await store.close()
      await proxy.close()
    })

    afterAll(async () => {
      await direct?.close()
      await database?.drop()
    })

    it('tells it once, and comes back by itself', async () => {
      const done: Message[] = []
      const errors: unknown[] = []
      worker = store.queues.work(queue, (message) => void done.push(message), {
        onError: (error) => errors.push(error),
      })
      await direct.queues.send(queue, 0)
      await until('the first is done', () => done.length === 1)
      for (const n of [1, 2]) {
        proxy.refuse()
        await until('it is reported', () => errors.length === n)
        await direct.queues.send(queue, n)
        await sleep(1500)
        await proxy.accept()
        await until('the next is done', () => done.length === n + 1)
        expect(errors.length).toBe(n)
      }
      expect(numbers(done)).toEqual(upTo(3))
      for (const error of errors) {
        expect(error).toBeInstanceOf(RecentnError)
        expect(['database_unavailable', 'outcome_unknown']).toContain((error as RecentnError).code)
      }
    })

    it('settles what ended in between when it is back', async () => {
      await sendNumbers(direct, queue, 3)
      const begun: Message[] = []
      let ended = 0
      worker = store.queues.work(
        queue,
        async (message) => {
          begun.push(message)
          if (message.receiveCount > 1) return
          await sleep(700)
          ended++
          if (message.body === 2) throw new Error('failed while the database was away')
        },
        { concurrency: 3, backoff: { minSeconds: 600 }, onError: () => {} },
      )
      await until('they run', () => begun.length === 3)
      proxy.refuse()
      await until('they have ended', () => ended === 3)
      await sleep(500)
      expect(await inState(direct, queue, 'in-flight')).toBe(3)
      await proxy.accept()
      await until('it is released', async () => (await inState(direct, queue, 'delayed')) === 1)
      await until('they are settled', async () => (await inState(direct, queue, 'in-flight')) === 0)
      expect(await inState(direct, queue, 'ready')).toBe(0)
      expect((await direct.queues.peek(queue, { state: 'delayed' })).messages).toMatchObject([
        { body: 2, lastError: 'failed while the database was away' },
      ])
      expect(begun.length).toBe(3)
    })

    it('aborts handlers whose claim it could not extend, and settles nothing by them', async () => {
      await direct.queues.send(queue, 'held')
      const begun: Message[] = []
      let [abortedAt, abortedAfterMs] = [0, 0]
      // From before its claim, which holds for 2 seconds.
      const claiming = performance.now()
      const delay = monitorEventLoopDelay({ resolution: 5 })
      delay.enable()
      worker = store.queues.work(
        queue,
        async (message, { signal }) => {
          begun.push(message)
          if (message.receiveCount > 1) return
          const start = performance.now()
          await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()))
          abortedAt = performance.now()
          abortedAfterMs = abortedAt - start
          throw signal.reason
        },
        { visibilityTimeoutSeconds: 2, onError: () => {} },
      )
      await until('it runs', () => begun.length === 1)
      proxy.refuse()
      await until('it is aborted', () => abortedAfterMs > 0)
      delay.disable()
      // Never after the visibility has expired, except for as long as nothing at all ran here.
      expect(abortedAfterMs - delay.max / 1e6).toBeLessThan(2100)
      expect(abortedAt - claiming).toBeGreaterThan(1900)
      await proxy.accept()
      await until('it was done again', () => begun.length === 2)
      await until('the queue is empty', () => isEmpty(direct, queue))
      expect(begun[1]).toMatchObject({ receiveCount: 2, lastError: null })
    })

    it('stops in time all the same', async () => {
      await sendNumbers(direct, queue, 50)
      let begun = 0
      worker = store.queues.work(queue, () => (++begun > 20 ? new Promise(() => {}) : undefined), {
        concurrency: 2,
        onError: () => {},
      })
      await until('it is stuck', () => begun === 22)
      proxy.refuse()
      const watch = stopwatch()
      await worker.stop({ timeoutSeconds: 0.5 })
      expect(watch.isBeyond(4000)).toBe(false)
    })

    it('loses no message while connections are cut at any moment', async () => {
      const count = 4000
      await direct.queues.put(queue, { visibilityTimeoutSeconds: 2 })
      const done = new Map<unknown, number>()
      const codes = new Map<string, number>()
      let handled = 0
      worker = store.queues.work(
        queue,
        async ({ body }) => {
          await sleep(Math.random() * 20)
          done.set(body, (done.get(body) ?? 0) + 1)
          handled++
        },
        {
          concurrency: 20,
          batchSize: 50,
          onError: (error) => {
            const code = error instanceof RecentnError ? error.code : String(error)
            codes.set(code, (codes.get(code) ?? 0) + 1)
          },
        },
      )
      const cutting = proxy.cutFor(CUTTING_MS, [50, 200], (step) => {
        if (step % 3 === 0) void proxy.cutCommits(Math.random() < 0.5 ? 'after' : 'during')
        else proxy.cutOne(Math.random())
      })
      for (let n = 0; n < count; n += 100) {
        await sendNumbers(direct, queue, 100, n)
        await sleep(CUTTING_MS / (count / 100))
      }
      const cuts = await cutting
      await untilDone(
        'the queue is empty',
        () => isEmpty(direct, queue),
        () => handled,
      )
      expect([...done.keys()].sort((a, b) => Number(a) - Number(b))).toEqual(upTo(count))
      expect(cuts).toBeGreaterThan(10)
      for (const code of codes.keys()) expect(['database_unavailable', 'outcome_unknown']).toContain(code)
      const twice = [...done.values()].filter((times) => times > 1).length
      process.stdout.write(`${engine}: ${cuts} cuts, ${twice} of ${count} messages done again\n`)
    })
  })
}

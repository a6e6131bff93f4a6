/** The history of queues: that its numbers are those of what was done, however many processes write it, and that it is bounded. */
import type { Store } from '../../../src/index'
import type { HistoryPoint } from '../../../src/shared/queue-types'
import { type Context, refusal } from '../context'
import { recorded } from './recorded'

const COUNTS = ['sent', 'acked', 'failed'] as const

export function describeQueueHistory(context: Context): void {
  let passedAt = 0

  /** A database with nothing else in it, at the beginning of a step, and stores that write its history when told. */
  async function alone(stores = 1): Promise<Store[]> {
    const url = await context.emptyDatabase()
    const opened: Store[] = []
    for (let n = 0; n < stores; n++) opened.push(await context.open({ url, history: true }))
    passedAt = Date.now()
    const [row] = await (opened[0] as Store).dataSource.query(
      context.engine === 'sqlite'
        ? "SELECT CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER) AS at"
        : 'SELECT CAST(UNIX_TIMESTAMP(NOW(3)) * 1000 AS UNSIGNED) AS at',
    )
    // In the middle of a step, so that what a slow machine does next is in it too.
    context.clock.offsetMs += 600_000 + 5000 - ((Number(row.at) + context.clock.offsetMs) % 600_000)
    return opened
  }

  /** The next step begins, whatever a slow machine has taken of this one. */
  const pass = (seconds: number) => {
    const now = Date.now()
    context.clock.offsetMs += Math.max(0, seconds * 1000 - (now - passedAt))
    passedAt = now
  }

  async function pointsOf(store: Store, queue: string, period?: 'hour' | 'week'): Promise<HistoryPoint[]> {
    return (await store.queues.history(queue, { period })).points
  }

  const countsOf = (points: readonly HistoryPoint[]) =>
    COUNTS.map((count) => points.reduce((sum, point) => sum + point[count], 0))

  describe('queues: history', () => {
    it('has what was sent, acknowledged and failed in a step, and what is in the queue at its end', async () => {
      const begun = performance.now()
      const [store] = (await alone()) as [Store]
      await store.queues.put('mail', { visibilityTimeoutSeconds: 30 })
      await store.queues.put('idle')
      await store.queues.sendMany(
        'mail',
        [1, 2, 3, 4, 5].map((body) => ({ body, dedupId: `d${body}` })),
      )
      await store.queues.send('mail', 1, { dedupId: 'd1' })
      const [first, second, third] = await store.queues.receive('mail', { limit: 4 })
      await store.queues.ack('mail', first as never)
      await store.queues.nack('mail', second as never, { dead: true })
      await store.transaction((tx) => tx.queues.ack('mail', third as never))
      await store
        .transaction(async (tx) => {
          await tx.queues.send('mail', 6)
          throw new Error('rolled back')
        })
        .catch(() => {})
      pass(15)
      await recorded(store)
      const now = { sent: 5, acked: 2, failed: 1, ready: 1, inFlight: 1, delayed: 0, blocked: 0, died: 1 }
      expect(await pointsOf(store, 'mail')).toEqual([
        { endsAt: expect.any(Date), ...now, oldestAgeSeconds: expect.any(Number) },
      ])
      // The visibility timeout of the fourth ends.
      pass(30)
      await store.queues.peek('mail')
      await recorded(store)
      const [, last] = await pointsOf(store, 'mail')
      expect(last).toMatchObject({ sent: 0, acked: 0, failed: 1, ready: 2, inFlight: 0 })
      const passedSeconds = Math.ceil((performance.now() - begun) / 1000)
      expect(Math.abs((last?.oldestAgeSeconds ?? 0) - 45)).toBeLessThanOrEqual(passedSeconds)
      const empty = { ready: 0, died: 0, oldestAgeSeconds: null, sent: 0 }
      expect(await pointsOf(store, 'idle')).toMatchObject([empty, empty])
      expect((await refusal(store.queues.history('none'))).code).toBe('queue_not_found')
    })

    it('counts each message once, whichever of several processes has sent it', async () => {
      const stores = await alone(4)
      const [store] = stores as [Store]
      const names = Array.from({ length: 12 }, (_, n) => `q${n}`)
      for (const name of names) await store.queues.put(name)
      const send = (round: number) =>
        Promise.all(stores.flatMap((one) => names.map((name) => one.queues.send(name, round))))
      for (let round = 0; round < 3; round++) {
        await send(round)
        pass(15)
        await Promise.all([...stores.map(recorded), send(round)])
      }
      // The last sends may not be written yet.
      await Promise.all(stores.map(recorded))
      for (const name of names) {
        const points = await pointsOf(store, name)
        expect([points.length, countsOf(points)]).toEqual([3, [24, 0, 0]])
      }
      const [row] = await store.dataSource.query('SELECT COUNT(*) AS n FROM recentn_queue_history WHERE queue_id = 0')
      expect(Number(row.n)).toBe(4)
    })

    it('keeps an hour in steps of 15 seconds and a week in steps of 10 minutes, and no more', async () => {
      const [store] = (await alone()) as [Store]
      await store.queues.put('mail')
      await store.queues.put('gone')
      await store.queues.sendMany('gone', [{ body: 1 }])
      for (let n = 0; n < 42; n++) {
        await store.queues.send('mail', n)
        pass(15)
        await recorded(store)
      }
      await store.queues.drop('gone')
      const hour = await pointsOf(store, 'mail')
      expect([hour.length, countsOf(hour)]).toEqual([42, [42, 0, 0]])
      const [coarse, ...more] = await pointsOf(store, 'mail', 'week')
      expect([coarse, more]).toMatchObject([{ sent: 40, ready: 40, failed: 0 }, []])
      pass(3600 - 15)
      await store.queues.send('mail', 1)
      await recorded(store)
      // Of the round before, one slot is written again, and its rows are gone.
      expect(countsOf(await pointsOf(store, 'mail'))).toEqual([2, 0, 0])
      const rows = await store.dataSource.query('SELECT * FROM recentn_queue_history WHERE step_seconds = 15')
      expect(rows.length).toBe(3 * 42 - 3 + 2)
      pass(7 * 86_400)
      await recorded(store)
      expect(countsOf(await pointsOf(store, 'mail', 'week'))).toEqual([0, 0, 0])
    })

    it('says how a queue grows, and that it does', async () => {
      const [store] = (await alone()) as [Store]
      await store.queues.put('mail')
      await store.queues.put('steady')
      await store.queues.send('steady', 1)
      for (let n = 0; n < 3; n++) {
        await store.queues.sendMany(
          'mail',
          Array.from({ length: 50 }, () => ({ body: n })),
        )
        pass(300)
        await recorded(store)
      }
      const status = await store.queues.get('mail')
      expect(status?.growthPerMinute).toBe(10)
      expect((await store.queues.get('steady'))?.growthPerMinute).toBe(0)
      const { troubles } = await store.overview()
      expect(troubles.filter(({ kind }) => kind === 'growing')).toMatchObject([{ name: 'mail', count: 150 }])
    })

    it('says since when a queue grows, however slowly', async () => {
      const [store] = (await alone()) as [Store]
      await store.queues.put('mail')
      await store.queues.put('late')
      for (let n = 0; n < 6; n++) {
        await store.queues.sendMany('mail', Array(8).fill({ body: n }))
        if (n > 2) await store.queues.sendMany('late', Array(9).fill({ body: n }))
        pass(300)
        await recorded(store)
      }
      const { lookedAt, troubles } = await store.overview()
      const growing = troubles.filter(({ kind }) => kind === 'growing')
      expect(growing.map(({ name, count }) => [name, count]).sort()).toEqual([
        ['late', 27],
        ['mail', 48],
      ])
      const minutes = growing.map(({ beganAt }) => Math.round((lookedAt.getTime() - beganAt.getTime()) / 60_000))
      expect(minutes.sort((a, b) => a - b)).toEqual([15, 25])
    })

    it('is not written by a store without it, and has the rest of one that is closed', async () => {
      const url = await context.emptyDatabase()
      const store = await context.open({ url })
      await store.queues.put('mail')
      await store.queues.send('mail', 1)
      expect(await pointsOf(store, 'mail')).toEqual([])
      expect((await store.queues.get('mail'))?.growthPerMinute).toBeNull()
      const brief = await context.open({ url, history: true })
      await brief.queues.send('mail', 2)
      await brief.close()
      expect(await pointsOf(store, 'mail')).toMatchObject([{ sent: 1, ready: null, oldestAgeSeconds: null }])
    })
  })
}

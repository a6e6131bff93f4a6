import type { Change, ConsumeOptions, Store } from '../../../src/index'
import { innerOf } from '../../../src/store/inner'
import { moment } from '../../support/timing'
import { type Context, eventually, refusal, sleep } from '../context'
import { range } from '../queues/tools'
import { feedTools, keysOf, sweptFeeds } from './tools'

export function describeFeedConsuming(context: Context): void {
  const { filled, pass } = feedTools(context)
  const feeds = () => context.store.feeds
  const cursorOf = async (feed: string) => (await feeds().cursor(feed, 'c')).cursor

  /** A consumer `c` that keeps the latest values, until the test ends. */
  function mirror(feed: string, options: ConsumeOptions = {}, store: Store = context.store) {
    const pages: Change[][] = []
    const values = new Map<string, unknown>()
    const loop = store.feeds.consume(
      feed,
      'c',
      (changes) => {
        pages.push(changes)
        for (const { key, value, deleted } of changes) deleted ? values.delete(key) : values.set(key, value)
      },
      options,
    )
    context.afterwards(() => loop.stop())
    return { loop, pages, values }
  }

  /** A consumer `c` that is given one key at a time, until the test ends. */
  function oneByOne(feed: string, then: () => Promise<void>) {
    const given: string[] = []
    const handler = async (changes: Change[]) => {
      given.push(...keysOf(changes))
      await then()
    }
    const loop = feeds().consume(feed, 'c', handler, { limit: 1 })
    context.afterwards(() => loop.stop())
    return { given, loop }
  }

  describe('feeds: a loop of a consumer', () => {
    it('gives what is there and what comes, in order, and stores the cursor behind it', async () => {
      const feed = await filled(range(1, 25).map((n) => `k${n}`))
      const { pages, values } = mirror(feed, { limit: 10 })
      await eventually(5000, 'all is given', async () => values.size === 25)
      await eventually(5000, 'the cursor is stored', async () => (await cursorOf(feed)) === 25n)
      expect(pages.map(({ length }) => length)).toEqual([10, 10, 5])
      await feeds().put(feed, 'new', 'x')
      await feeds().delete(feed, 'k1')
      await feeds().publish(feed)
      await eventually(5000, 'what came is given', async () => values.get('new') === 'x' && !values.has('k1'))
      const ids = pages.flat().map(({ syncId }) => syncId)
      expect(ids).toEqual([...ids].sort((a, b) => Number(a - b)))
    })

    it('with its cursor in memory reads from the beginning at each start, continues, and is kept nowhere', async () => {
      const feed = await filled(range(1, 25).map((n) => `k${n}`))
      const first = mirror(feed, { cursor: 'memory', limit: 10 })
      const second = mirror(feed, { cursor: 'memory' })
      await eventually(5000, 'both have all', async () => first.values.size === 25 && second.values.size === 25)
      await first.loop.stop()
      await feeds().put(feed, 'new', 'x')
      await feeds().delete(feed, 'k1')
      await feeds().publish(feed)
      const knows = ({ values }: typeof first) => values.get('new') === 'x' && !values.has('k1')
      await eventually(5000, 'the one that runs continues', async () => knows(second))
      expect(second.pages.flat()).toHaveLength(27)
      const again = mirror(feed, { cursor: 'memory' })
      await eventually(5000, 'the next start has all', async () => knows(again))
      expect(again.values.size).toBe(25)
      expect((await feeds().status(feed))?.consumers).toEqual([])
      expect(() => mirror(feed, { cursor: 'nowhere' as never })).toThrow(/cursor/)
    })

    it('gives again what a handler has thrown for, after a pause that grows, and reports it', async () => {
      const feed = await filled(['a', 'b'])
      const given: string[][] = []
      const told: unknown[] = []
      const loop = feeds().consume(
        feed,
        'c',
        (changes) => {
          given.push(keysOf(changes))
          if (given.length < 3) throw new Error(`no ${given.length}`)
        },
        {
          backoff: { minSeconds: 0, maxSeconds: 1 },
          onError: (error, changes) => told.push([(error as Error).message, keysOf(changes ?? [])]),
        },
      )
      context.afterwards(() => loop.stop())
      await eventually(10_000, 'it is stored', async () => (await cursorOf(feed)) === 2n)
      expect(given).toEqual([
        ['a', 'b'],
        ['a', 'b'],
        ['a', 'b'],
      ])
      expect(told).toEqual([
        ['no 1', ['a', 'b']],
        ['no 2', ['a', 'b']],
      ])
    })

    it('warns of what a handler throws without a listener: each kind once, until one succeeds', async () => {
      const feed = await filled(['a', 'b'])
      const warnings = jest.spyOn(process, 'emitWarning').mockImplementation(() => {})
      context.afterwards(async () => warnings.mockRestore())
      const outcomes = ['no', 'no', 'never', 'no', null, 'no', null]
      const handler = () => {
        const outcome = outcomes.shift()
        if (outcome) throw new Error(outcome)
      }
      const loop = feeds().consume(feed, 'c', handler, { limit: 1, backoff: { minSeconds: 0, maxSeconds: 0 } })
      context.afterwards(() => loop.stop())
      await eventually(10_000, 'it is through', async () => outcomes.length === 0)
      const warned = warnings.mock.calls.map(([text]) => String(text).split(' (')[0])
      const what = `recentn could not read the feed ${feed} as c`
      expect(warned).toEqual([`${what}: no`, `${what}: never`, `${what}: no`])
    })

    it('takes effect once where the handler stores the cursor with what it writes', async () => {
      const feed = await filled(['a'])
      const group = context.unique('effects')
      let hasThrown = false
      const loop = feeds().consume(
        feed,
        'c',
        async (changes, { cursor, from }) => {
          await context.store.transaction(async (tx) => {
            for (const { key } of changes) await tx.groups.append(group, { member: key })
            await tx.feeds.moveCursor(feed, 'c', cursor, { from })
          })
          if (hasThrown) return
          hasThrown = true
          throw new Error('after the commit')
        },
        { backoff: { minSeconds: 0 }, onError: () => {} },
      )
      context.afterwards(() => loop.stop())
      await eventually(5000, 'it was thrown', async () => hasThrown)
      await feeds().put(feed, 'b', 1)
      await feeds().publish(feed)
      await eventually(10_000, 'it continues', async () => (await cursorOf(feed)) === 2n)
      const { items } = await context.store.groups.recent(group)
      expect(items.map(({ member }) => member)).toEqual(['b', 'a'])
    })

    it('of several stores misses nothing', async () => {
      const feed = await filled(range(1, 60).map((n) => `k${n}`))
      const other = context.engine === 'sqlite' ? context.store : await context.open()
      const [one, two] = [mirror(feed, { limit: 7 }), mirror(feed, { limit: 5 }, other)]
      await eventually(10_000, 'both are at the end', async () => (await cursorOf(feed)) === 60n)
      const seen = new Set([...one.values.keys(), ...two.values.keys()])
      expect(seen.size).toBe(60)
    })

    it('begins with nothing once it is stopped, and lets the handler end; without a moment to end aborts it, and counts it not', async () => {
      const feed = await filled(['a'])
      const [begun, gate] = [moment(), moment()]
      const loop = feeds().consume(feed, 'c', async () => {
        begun.come()
        await gate.reached
      })
      await begun.reached
      let isStopped = false
      const stopping = loop.stop().then(() => {
        isStopped = true
      })
      await sleep(200)
      expect(isStopped).toBe(false)
      gate.come()
      await stopping
      expect(await cursorOf(feed)).toBe(1n)
      await feeds().put(feed, 'b', 1)
      await feeds().publish(feed)
      const again = moment()
      const hasty = feeds().consume(feed, 'c', async (_changes, { signal }) => {
        again.come()
        await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()))
      })
      await again.reached
      await hasty.stop({ timeoutSeconds: 0.1 })
      expect(await cursorOf(feed)).toBe(1n)
    })

    it('can be stopped in its handler', async () => {
      const feed = await filled(['a', 'b'])
      const { given, loop } = oneByOne(feed, () => loop.stop())
      await eventually(5000, 'it is stored', async () => (await cursorOf(feed)) === 1n)
      await loop.stop()
      expect(given).toEqual(['a'])
    })

    it('starts over when its cursor is expired, once what it has built was thrown away', async () => {
      const feed = await filled(['gone', 'later'])
      await feeds().moveCursor(feed, 'c', 1n)
      await feeds().delete(feed, 'gone')
      await feeds().publish(feed)
      pass(8 * 86_400)
      await sweptFeeds(context.store)
      const errors: unknown[] = []
      const stuck = mirror(feed, { onError: (error) => errors.push((error as { code?: string }).code) })
      await eventually(5000, 'it is reported', async () => errors.length > 0)
      await stuck.loop.stop()
      expect([errors, stuck.values.size]).toEqual([['cursor_expired'], 0])
      const expired: number[] = []
      const fresh = mirror(feed, { onExpired: () => void expired.push(1) })
      await eventually(5000, 'it begins again', async () => fresh.values.size === 1)
      expect([expired.length, [...fresh.values]]).toEqual([1, [['later', 1]]])
    })

    it('starts over with another process that has put the consumer back while a handler ran', async () => {
      const feed = await filled(['a', 'b', 'c'])
      const [inSecond, gate] = [moment(), moment()]
      const { given } = oneByOne(feed, async () => {
        if (given.length !== 2) return
        inSecond.come()
        await gate.reached
      })
      await inSecond.reached
      await feeds().moveCursor(feed, 'c', 0n, { force: true })
      gate.come()
      await eventually(5000, 'all is given again', async () => given.length === 5)
      await eventually(5000, 'the cursor is stored', async () => (await cursorOf(feed)) === 3n)
      expect(given).toEqual(['a', 'b', 'a', 'b', 'c'])
    })

    it('counts as running until its handler has ended, though that has stopped it', async () => {
      const feed = await filled(['a'])
      const store = await context.open()
      const stopped = moment()
      const loop = store.feeds.consume(feed, 'c', async () => {
        await loop.stop()
        stopped.come()
        await sleep(300)
        await store.groups.append(context.unique('late'))
      })
      await stopped.reached
      expect(innerOf(store).counts().consumers).toBe(1)
      await store.close()
      expect(await cursorOf(feed)).toBe(1n)
    })

    it('ends with the store, and is refused by one that is closed', async () => {
      const feed = await filled(['a'])
      const store = await context.open()
      const { values } = mirror(feed, {}, store)
      await eventually(5000, 'it is given', async () => values.size === 1)
      expect(innerOf(store).counts().consumers).toBe(1)
      await store.close()
      const late = await refusal(Promise.resolve().then(() => store.feeds.consume(feed, 'c', () => {})))
      expect(late.code).toBe('closed')
      expect(await cursorOf(feed)).toBe(1n)
    })

    it('is refused with every fault', async () => {
      const wrong = {
        limit: 0,
        values: 'x',
        backoff: { minSeconds: -1 },
        onExpired: 1,
        more: 1,
      } as unknown as ConsumeOptions
      const call = () => feeds().consume('', '', null as unknown as () => void, wrong)
      const { code, faults } = await refusal(Promise.resolve().then(call))
      expect(code).toBe('invalid_input')
      expect(faults.map(({ pointer, parameter }) => pointer ?? parameter).sort()).toEqual(
        ['/backoff/minSeconds', '/limit', '/more', '/onExpired', '/values', 'consumer', 'feed', 'handler'].sort(),
      )
    })
  })
}

/** `client.feeds.consume` against a server process: what the library's loop promises, over REST. */
import { z } from 'zod'
import {
  type Change,
  type ClientConsumeOptions,
  type ConsumeHandler,
  createClient,
  type Running,
} from '../../src/client'
import { eventually, moment } from '../support/timing'
import { useServer } from './support/server'

const server = useServer()
const LONG_MS = 30_000
const loops: Running[] = []
let feed: string
let count = 0

beforeEach(() => {
  feed = `feed-${++count}`
})

afterEach(async () => {
  await Promise.all(loops.splice(0).map((loop) => loop.stop({ timeoutSeconds: 0 })))
})

const feeds = () => server.client.feeds
const cursor = async () => (await feeds().cursor(feed, 'c')).cursor
const keysOf = (changes: readonly Change[]) => changes.map(({ key }) => key)

/** Entries that are published. */
async function filled(keys: readonly string[], value: unknown = 1): Promise<void> {
  await feeds().putMany(
    feed,
    keys.map((key) => ({ key, value })),
  )
  await eventually(LONG_MS, 'they are published', async () => (await feeds().status(feed))?.unpublished === 0)
}

/** A consumer `c` that is stopped when the test is over. */
function consume(handler: ConsumeHandler, options?: ClientConsumeOptions): Running {
  const loop = feeds().consume(feed, 'c', handler, options)
  loops.push(loop)
  return loop
}

test('gives what is there and what comes, in order, and stores the cursor behind it', async () => {
  const keys = Array.from({ length: 25 }, (_, n) => `k${n}`)
  await filled(keys)
  const pages: Change[][] = []
  const values = new Map<string, unknown>()
  consume(
    (changes) => {
      pages.push(changes)
      for (const { key, value, deleted } of changes) deleted ? values.delete(key) : values.set(key, value)
    },
    { limit: 10 },
  )
  await eventually(LONG_MS, 'the cursor is stored', async () => (await cursor()) === 25n)
  expect(pages.map(({ length }) => length)).toEqual([10, 10, 5])
  await feeds().put(feed, 'new', 'x')
  await feeds().delete(feed, 'k1')
  await eventually(LONG_MS, 'what came is given', () => values.get('new') === 'x' && !values.has('k1'))
  const ids = pages.flat().map(({ syncId }) => syncId)
  expect(ids).toEqual([...ids].sort((a, b) => Number(a - b)))
})

test('gives again what a handler has thrown for, and what does not fit the schema until it is put right', async () => {
  await filled(['ann'], { born: 1970 })
  await filled(['bob'], { born: 'long ago' })
  const given: unknown[] = []
  const errors: string[] = []
  const loop = server.client.feed<{ born: number }>(feed).consume(
    'c',
    (changes) => {
      for (const { value } of changes) given.push(value?.born)
      if (given.length === 1) throw new Error('once more')
    },
    {
      limit: 1,
      schema: z.object({ born: z.number() }),
      backoff: { minSeconds: 0, maxSeconds: 1 },
      onError: (error, changes) => errors.push(`${(error as Error).message.slice(0, 55)} ${keysOf(changes ?? [])}`),
    },
  )
  loops.push(loop)
  await eventually(LONG_MS, 'it is tried again', () => errors.length >= 3)
  expect(given).toEqual([1970, 1970])
  expect(errors.slice(0, 2)).toEqual(['once more ann', 'The value of "bob" does not fit the schema: born: Inval bob'])
  expect(await cursor()).toBe(1n)
  await feeds().put(feed, 'bob', { born: 1980 })
  await eventually(LONG_MS, 'it continues', () => given.length === 3)
  expect(given).toEqual([1970, 1970, 1980])
})

test('stop waits for the handler and stores its cursor; without a moment to end it aborts it, and stores none', async () => {
  await filled(['a'])
  const [begun, goOn] = [moment(), moment()]
  const first = consume(async () => {
    begun.come()
    await goOn.reached
  })
  await begun.reached
  const stopped = first.stop()
  goOn.come()
  await stopped
  expect(await cursor()).toBe(1n)
  await filled(['b'])
  const again = moment()
  const ending = new AbortController()
  const second = consume(
    async (_, { signal }) => {
      again.come()
      await new Promise((resolve) => signal.addEventListener('abort', resolve))
    },
    { signal: ending.signal },
  )
  await again.reached
  ending.abort()
  await second.stop({ timeoutSeconds: 0 })
  await second.stopped
  expect(await cursor()).toBe(1n)
})

test('refuses what is no option', () => {
  expect(() => consume('no handler' as never)).toThrow('handler: must be a function')
  expect(() => consume(() => {}, { limit: 0, values: 'text' } as never)).toThrow(
    'limit: must be a whole number from 1 to 1000; /values: is not an option',
  )
})

test('asks no more often than every 100 ms where answers are empty and nothing waits, as behind some proxies', async () => {
  await filled(['k'])
  await feeds().moveCursor(feed, 'c', (await feeds().status(feed))?.lastSyncId ?? 0n)
  const reads: number[] = []
  const impatient: typeof fetch = (url, init) => {
    if (String(url).includes('waitSeconds')) reads.push(performance.now())
    return fetch(String(url).replace('waitSeconds=20', 'waitSeconds=0'), init)
  }
  loops.push(createClient({ baseUrl: server.url, fetch: impatient }).feeds.consume(feed, 'c', () => {}))
  await eventually(LONG_MS, 'it reads', () => reads.length > 10)
  expect((reads[10] as number) - (reads[0] as number)).toBeGreaterThan(700)
})

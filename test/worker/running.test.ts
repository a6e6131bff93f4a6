/** Shared by workers, consumers, pollers and followed tables: how they stop, and the hook around their handlers. */
import { AsyncLocalStorage } from 'node:async_hooks'
import type { Running } from 'recentn'
import { type TestStore, testStore } from 'recentn/testing'
import { Column, Entity, Index, PrimaryColumn } from 'typeorm'
import { until } from './support'

@Entity()
class Job {
  @PrimaryColumn({ type: 'integer' })
  id!: number

  @Column({ type: 'varchar', length: 20, default: 'ready' })
  status!: string

  @Index()
  @Column({ type: 'bigint', nullable: true })
  syncId!: string | null
}

interface Options {
  signal?: AbortSignal
  around?: (given: unknown, next: () => Promise<unknown>) => unknown
  onError?: (error: unknown) => void
  backoff?: { minSeconds: number; maxSeconds: number }
}
type Handle = (given: unknown, context: { signal: AbortSignal }) => unknown

let store: TestStore

beforeEach(async () => {
  store = await testStore({ entities: [Job] })
  await store.queues.ensure('mail')
})
afterEach(() => store.close())

const follow = (options: Options) =>
  store.feeds.follow(Job, { feed: 'jobs', syncColumn: 'syncId', key: 'id', ...options })
const poll = (handle: Handle, options: Options) =>
  store.poll(Job, handle, { status: 'status', onWarning: () => {}, intervalSeconds: 0.01, ...options })

/** How each is started, and how it is given one thing to handle. */
const KINDS: [string, (handle: Handle, options: Options) => Running, () => Promise<unknown>][] = [
  ['a worker', (handle, options) => store.queues.work('mail', handle, options), () => store.queues.send('mail', 1)],
  [
    'a consumer',
    (handle, options) => store.feeds.consume('users', 'index', handle, options),
    () => store.feeds.put('users', 'ann', 1),
  ],
  ['a poller', poll, () => store.dataSource.getRepository(Job).insert({ id: 1 })],
]

const isOver = (one: Running) =>
  Promise.race([one.stopped.then(() => true), new Promise((resolve) => setTimeout(resolve, 5, false))])

describe.each(KINDS)('%s', (_, start, give) => {
  test('stops by its signal, while a handler runs and in a handler, and `stopped` resolves', async () => {
    const stopping = new AbortController()
    let isEnded = false
    await give()
    const handle = async () => {
      stopping.abort()
      await new Promise((resolve) => setTimeout(resolve, 20))
      isEnded = true
    }
    const one = start(handle, { signal: stopping.signal })
    expect(await isOver(one)).toBe(false)
    await one.stopped
    expect(isEnded).toBe(true)
    const never = start(() => {}, { signal: AbortSignal.abort() })
    await never.stopped
  })

  test('stops by `await using`, and when the store is closed', async () => {
    const one = start(() => {}, {})
    await one[Symbol.asyncDispose]()
    expect(await isOver(one)).toBe(true)
    await one.stop()
    const other = start(() => {}, {})
    await store[Symbol.asyncDispose]()
    await other.stopped
    await expect(store.ping()).rejects.toMatchObject({ code: 'closed' })
  })

  test('`stopped` resolves also when a handler runs on', async () => {
    const aborted: unknown[] = []
    let end: (() => void) | null = null
    await give()
    const one = start(
      (_given, { signal }) =>
        new Promise<void>((resolve) => {
          signal.addEventListener('abort', () => aborted.push(1))
          end = resolve
        }),
      {},
    )
    await until('the handler runs', () => end !== null)
    await one.stop({ timeoutSeconds: 0.01 })
    await one.stopped
    expect(aborted).toEqual([1])
    ;(end as unknown as () => void)()
  })

  test('`around` is around each handler: its own scope, and what it throws counts as thrown by the handler', async () => {
    const scope = new AsyncLocalStorage<string>()
    const told: unknown[] = []
    const handled: unknown[] = []
    const around: Options['around'] = async (given, next) => {
      if (told.length === 0) throw new Error('not yet')
      await scope.run('inside', next)
      handled.push(given)
    }
    await give()
    const one = start(() => void told.push(scope.getStore()), {
      around,
      onError: (error) => told.push((error as Error).message),
      backoff: { minSeconds: 0, maxSeconds: 0 },
    })
    await until('it is handled', () => handled.length === 1)
    await one.stop()
    expect(told).toEqual(['not yet', 'inside'])
    expect(handled).toEqual([expect.anything()])
  })
})

test('a followed table stops by its signal, when it is followed again, and when the store is closed', async () => {
  const stopping = new AbortController()
  const first = await follow({ signal: stopping.signal })
  stopping.abort()
  await first.stopped
  const [second, third] = [await follow({}), await follow({})]
  await second.stopped
  expect(await isOver(third)).toBe(false)
  await store.close()
  await third.stopped
  await expect(follow({ signal: AbortSignal.abort(new Error('no')) })).rejects.toThrow()
})

describe('the signal of a transaction', () => {
  test('rolls it back, and the call throws the reason', async () => {
    const reason = new Error('enough')
    const stopping = new AbortController()
    let runs = 0
    const stuck = store.transaction(
      async (tx) => {
        runs++
        await tx.groups.append('g')
        stopping.abort(reason)
        await new Promise(() => {})
      },
      { signal: stopping.signal },
    )
    await expect(stuck).rejects.toBe(reason)
    expect((await store.groups.recent('g')).totalAppended).toBe(0n)
    const never = store.transaction(async () => void runs++, { signal: stopping.signal })
    await expect(never).rejects.toBe(reason)
    expect(runs).toBe(1)
  })

  test('has no effect when it is not aborted, and is checked', async () => {
    const { signal } = new AbortController()
    expect(await store.transaction(async (tx) => (await tx.groups.append('g')).id, { signal })).toBe(0n)
    const wrong = store.transaction(async () => 1, { signal: 1 as never })
    await expect(wrong).rejects.toMatchObject({ code: 'invalid_input' })
  })
})

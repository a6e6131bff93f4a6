/** The watch of a group, over connections that are cut, servers that are restarted, and silence. */
import { type Client, createClient, type GroupEvent, type RecentnError } from '../../src/client'
import { createApp, messagesOf } from '../../src/http/process/app'
import { type Listening, listen } from '../../src/http/process/listen'
import { openStore } from '../../src/store/open'
import type { Store } from '../../src/store/types'
import { fresh, memoryStore } from '../http/support/client'
import { eventually } from '../http/support/streams'
import { type Flaky, flakyBefore } from './support/flaky'

let store: Store
let server: Listening
let draining = new AbortController()
let flaky: Flaky
let client: Client

async function start(): Promise<void> {
  draining = new AbortController()
  const streams = { heartbeatMs: 100 }
  const app = createApp(store, { allowAnonymous: false, stopping: draining.signal, streams })
  server = await listen(app, '127.0.0.1', 0, messagesOf(app))
}

async function stop(): Promise<void> {
  const stopped = server.stop()
  draining.abort()
  await stopped
}

beforeAll(async () => {
  store = await memoryStore()
  await start()
  flaky = await flakyBefore(() => server.url)
  client = createClient({ baseUrl: flaky.url, timeoutSeconds: 2 })
})

const ending: AbortController[] = []
afterEach(() => {
  for (const each of ending.splice(0)) each.abort()
})
afterAll(() => stop())

interface Watching {
  told: string[]
  errors: RecentnError[]
  ready: Promise<bigint>
  done: Promise<unknown>
}

const inShort = (event: GroupEvent) =>
  event.type === 'item'
    ? `+${event.item.id}`
    : event.type === 'removed'
      ? `-${event.id}`
      : `reset ${event.totalAppended}`

function watching(group: string, options: { after?: bigint; resumes?: boolean; idleSeconds?: number } = {}): Watching {
  const end = new AbortController()
  ending.push(end)
  const told: string[] = []
  const errors: RecentnError[] = []
  const onDisconnect = (error: RecentnError) => errors.push(error)
  const watch = client.groups.watch(group, { ...options, signal: end.signal, onDisconnect })
  const done = (async () => {
    for await (const event of watch) told.push(inShort(event))
  })()
  done.catch(() => {})
  return { told, errors, ready: watch.ready, done }
}

const until = (watch: Watching, ...events: string[]) =>
  eventually(`${events} of ${watch.told}`, () => watch.told.length >= events.length, 8000).then(() =>
    expect(watch.told).toEqual(events),
  )

test('continues over a server that is restarted, without missing or repeating an item', async () => {
  const group = fresh()
  await store.groups.append(group)
  const watch = watching(group)
  await watch.ready
  await store.groups.append(group)
  await until(watch, '+1')
  await stop()
  await store.groups.append(group)
  await store.groups.append(group)
  await start()
  await until(watch, '+1', '+2', '+3')
  await store.groups.append(group)
  await until(watch, '+1', '+2', '+3', '+4')
  expect(watch.errors.map(({ code }) => code)).toContain('unreachable')
})

test('misses nothing of a group that existed, if it was cut before its first event', async () => {
  const group = fresh()
  await store.groups.append(group)
  const watch = watching(group)
  await watch.ready
  await stop()
  await store.groups.append(group)
  await start()
  await until(watch, '+1')
})

test('gives all of a group that was not there and has come since', async () => {
  const group = fresh()
  const watch = watching(group)
  await watch.ready
  await stop()
  await store.groups.append(group)
  await store.groups.append(group)
  await start()
  await until(watch, '+0', '+1')
  await store.groups.append(group)
  await until(watch, '+0', '+1', '+2')
})

test('begins after an item that is given, and tells what was removed', async () => {
  const group = fresh()
  for (let i = 0; i < 3; i++) await store.groups.append(group)
  const watch = watching(group, { after: 0n })
  await until(watch, '+1', '+2')
  await store.groups.remove(group, 1n)
  await until(watch, '+1', '+2', '-1')
  await store.groups.drop(group)
  await until(watch, '+1', '+2', '-1', 'reset 0')
  await store.groups.append(group)
  await until(watch, '+1', '+2', '-1', 'reset 0', '+0')
})

test('is ready with the id that it begins after, and resumes where an earlier one ended', async () => {
  const group = fresh()
  await store.groups.put(group, { mode: 'distinct' })
  expect(await watching(group).ready).toBe(-1n)
  for (const member of ['ann', 'bob']) await store.groups.append(group, { member })
  expect(await watching(group).ready).toBe(1n)
  await store.groups.remove(group, 0n)
  const resumed = watching(group, { after: 1n, resumes: true })
  expect(await resumed.ready).toBe(1n)
  const plain = watching(group, { after: 1n })
  await plain.ready
  await store.groups.append(group, { member: 'cleo' })
  await until(plain, '+2')
  await until(resumed, '-0', '+2')
})

test('tries again while no server answers, and waits as the server asks', async () => {
  const group = fresh()
  await store.groups.append(group)
  flaky.will('pass', { status: 429, code: 'overloaded', retryAfter: '1' }, 'before', { status: 502 })
  const watch = watching(group)
  await watch.ready
  expect(watch.errors.map(({ code }) => code)).toEqual(['overloaded', 'unreachable', 'unexpected_answer'])
  await store.groups.append(group)
  await until(watch, '+1')
})

test('notices that nothing comes any more', async () => {
  const group = fresh()
  await store.groups.append(group)
  const watch = watching(group, { idleSeconds: 2 })
  await watch.ready
  // Heartbeats come: it continues for longer than it would without them.
  await new Promise((resolve) => setTimeout(resolve, 2500))
  expect(watch.errors).toEqual([])
  flaky.will('pass')
  const silent = watching(group, { idleSeconds: 0.04 })
  await eventually('it is reported', () => silent.errors.length > 0)
  expect(silent.errors[0]?.message).toContain('nothing has come for')
})

test('ends, and throws what will not pass', async () => {
  flaky.will('pass', { status: 403, code: 'forbidden' })
  const refused = watching('g')
  await expect(refused.ready).rejects.toMatchObject({ code: 'forbidden', status: 403 })
  await expect(refused.done).rejects.toMatchObject({ code: 'forbidden' })
  expect(() => client.groups.watch('g', { after: 1 as unknown as bigint })).toThrow('bigint')
  const named = watching('..')
  await expect(named.done).rejects.toMatchObject({ code: 'invalid_input' })
})

test('ends quietly with the signal, and when it is left, whatever it waits for; the connection is gone', async () => {
  const group = fresh()
  const watch = watching(group)
  await watch.ready
  ending.at(-1)?.abort()
  await watch.done
  const other = client.groups.watch(group)
  await other.ready
  const next = other.next()
  await other.return()
  expect((await next).done).toBe(true)
  flaky.will('silent', 'silent')
  const never = client.groups.watch(group)
  await never.return()
  await stop()
  await start()
})

test('continues over a process that starts again on its file', async () => {
  const { mkdtempSync, rmSync } = await import('node:fs')
  const { join } = await import('node:path')
  const folder = mkdtempSync(join((await import('node:os')).tmpdir(), 'recentn-watch-'))
  const url = `sqlite:${join(folder, 'recentn.db')}`
  const other = await openStore({ url })
  const memory = store
  try {
    await stop()
    store = other
    await start()
    await other.groups.append('g')
    const watch = watching('g', { after: 0n })
    await watch.ready
    await other.groups.append('g')
    await until(watch, '+1')
    await stop()
    await other.close()
    store = await openStore({ url })
    await store.groups.append('g')
    await start()
    await until(watch, '+1', '+2')
  } finally {
    for (const each of ending.splice(0)) each.abort()
    await stop()
    await store.close()
    store = memory
    await start()
    rmSync(folder, { recursive: true, force: true })
  }
})

/** Calls that wait, and what answers them when the server stops or its store is closed. */

import { createApp, messagesOf } from '../../../src/http/process/app'
import { listen } from '../../../src/http/process/listen'
import { innerOf } from '../../../src/store/inner'
import type { Store } from '../../../src/store/types'
import { eventually as asksUntil, soonMs, timed } from '../../support/timing'
import { type Answer, type Client, clientOf, memoryStore, type Sent, send, serving } from './client'
import { eventually } from './streams'

/** Resolves when so many calls wait at the server, as its metrics say: what it has not read yet a signal may cut off. */
export async function untilWaiting(
  server: Client,
  what: 'messages' | 'changes' | 'items',
  count: number,
): Promise<void> {
  const line = `recentn_waiting{for="${what}"} ${count}\n`
  const isTold = async () => (await server.get('/metrics')).text.includes(line)
  await asksUntil(30_000, `${count} calls for ${what} wait`, isTold)
}

/** The same of a store in this process. */
async function untilWaitedFor(store: Store, count: number): Promise<void> {
  await eventually(`${count} calls wait`, () => {
    const { receivesWaiting, changesWaiting } = innerOf(store).counts()
    return receivesWaiting + changesWaiting === count
  })
}

export interface WaitedOn {
  store: Store
  server: Client
  /** The warnings of the process: listeners that are never taken off, for one. */
  warnings: Error[]
}

/** A server for the tests of a file, in whose process nothing may be warned of. */
export function useWaitedOn(): WaitedOn {
  const at = { warnings: [] as Error[] } as WaitedOn
  const onWarning = (warning: Error) => void at.warnings.push(warning)
  beforeAll(async () => {
    process.on('warning', onWarning)
    at.store = await memoryStore()
    const app = createApp(at.store, { allowAnonymous: false })
    at.server = clientOf(await serving(app, messagesOf(app)))
  })
  afterAll(() => {
    process.off('warning', onWarning)
    expect(at.warnings).toEqual([])
  })
  return at
}

/** Checks that a server that stops answers who waits at once, with `nothing`, and closes their connections. */
export async function expectAnsweredAtStop(
  store: Store,
  call: (client: Client) => Promise<Answer>,
  nothing: object,
): Promise<void> {
  const stopping = new AbortController()
  const app = createApp(store, { allowAnonymous: false, stopping: stopping.signal })
  const { url, stop } = await listen(app, '127.0.0.1', 0)
  const client = clientOf(url)
  const waiting = [1, 2, 3].map(() => call(client))
  await untilWaitedFor(store, 3)
  const stopped = stop()
  stopping.abort()
  const { answer: answers, ms } = await timed(Promise.all(waiting))
  await stopped
  expect(ms).toBeLessThan(soonMs())
  for (const { status, json, headers } of answers) {
    expect([status, json, headers.connection]).toEqual([200, nothing, 'close'])
  }
}

/** Checks that a store that is closed answers who waits at once, with `nothing`, and who comes later with 503. */
export async function expectAnsweredAtClose(
  closing: Store,
  [method, path, sent = {}]: [method: string, path: string, sent?: Sent],
  nothing: object,
): Promise<void> {
  const client = clientOf(await serving(createApp(closing, { allowAnonymous: false, onError: () => {} })))
  const waiting = client.request(method, path, sent)
  await untilWaitedFor(closing, 1)
  const { ms } = await timed(closing.close())
  expect((await waiting).json).toEqual(nothing)
  expect(ms).toBeLessThan(soonMs())
  const later = await send(client.url, method, path, sent)
  expect([later.status, later.json.code]).toEqual([503, 'closed'])
}

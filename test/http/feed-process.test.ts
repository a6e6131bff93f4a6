/** Feeds of built servers: a write to one answers a request that waits at another; a signal ends requests that wait. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ENGINES, engineUrl, freshDatabase } from '../support/engines'
import { type RunningServer, startServer } from '../support/processes'
import { pause, soonMs } from '../support/timing'
import { type Client, clientOf } from './support/client'
import { untilWaiting } from './support/waiting'

const folder = mkdtempSync(join(tmpdir(), 'recentn-feeds-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const served = ENGINES.filter((engine) => engine === 'sqlite' || engineUrl(engine) !== null)

describe.each(served)('two servers on %s', (engine) => {
  let drop: () => Promise<void>
  let servers: RunningServer[] = []
  let writer: Client
  let reader: Client
  beforeAll(async () => {
    const database = await freshDatabase(engine)
    drop = database.drop
    const env = { DATABASE_URL: database.url }
    servers = await Promise.all([startServer(env), startServer(env)])
    ;[writer, reader] = servers.map(({ url }) => clientOf(url)) as [Client, Client]
  })
  afterAll(async () => {
    for (const server of servers) expect(await server.stop()).toEqual({ code: 0, signal: null })
    await drop()
  })

  /** Lets the reader wait for changes, and gives what it is answered how long after the write. */
  async function answeredAfter(query: string, write: () => Promise<unknown>) {
    const waiting = reader.get(`${query}&waitSeconds=20`)
    await pause(700)
    const start = performance.now()
    const [answer] = await Promise.all([waiting.then(({ json }) => ({ json, ms: performance.now() - start })), write()])
    return answer
  }

  test('a write to one answers who waits at the other', async () => {
    const first = await answeredAfter('/v1/feeds/f/changes?after=0', () =>
      writer.put('/v1/feeds/f/entries/a', { value: { n: 1 } }),
    )
    expect(first.json).toMatchObject({ changes: [{ syncId: '1', key: 'a', value: { n: 1 } }], cursor: '1' })
    expect((await reader.put('/v1/feeds/f/consumers/c', { cursor: '1' })).status).toBe(200)
    const next = await answeredAfter('/v1/feeds/f/changes?consumer=c', () => writer.delete('/v1/feeds/f/entries/a'))
    expect(next.json).toMatchObject({ changes: [{ syncId: '2', key: 'a', deleted: true }], cursor: '2' })
    for (const { ms } of [first, next]) expect(ms).toBeLessThan(soonMs())
  })

  test('both number at once: a consumer of either sees every sync id once, in order and without a gap', async () => {
    const keys = Array.from({ length: 200 }, (_, n) => `k${n}`)
    const writing = Promise.all(
      keys.map((key, n) => (n % 2 ? writer : reader).put(`/v1/feeds/many/entries/${key}`, { value: n })),
    )
    const seen: { key: string; syncId: string }[] = []
    const latest = new Map<string, unknown>()
    for (let cursor = '0'; latest.size < keys.length; ) {
      const page = JSON.parse((await reader.get(`/v1/feeds/many/changes?after=${cursor}&waitSeconds=10&limit=7`)).text)
      expect(page.changes).not.toEqual([])
      for (const change of page.changes) {
        seen.push(change)
        latest.set(change.key, change.value)
      }
      cursor = page.cursor
    }
    expect((await writing).map(({ status }) => status)).toEqual(keys.map(() => 200))
    expect([...latest].sort()).toEqual(keys.map((key, n) => [key, n]).sort())
    const ids = seen.map(({ syncId }) => Number(syncId))
    expect(ids).toEqual(keys.map((_, n) => n + 1))
  })
})

test.each(['SIGTERM', 'SIGINT'] as const)(
  '%s: who waits for changes is answered, and does not hold the end',
  async (signal) => {
    const server = await startServer({ DATABASE_URL: `sqlite:${join(folder, `${signal}.db`)}` })
    const client = clientOf(server.url)
    const waiting = Array.from({ length: 20 }, () => client.get('/v1/feeds/f/changes?waitSeconds=20'))
    await untilWaiting(client, 'changes', waiting.length)
    const start = Date.now()
    expect(await server.stop(signal)).toEqual({ code: 0, signal: null })
    expect(Date.now() - start).toBeLessThan(soonMs())
    for (const { status, json } of await Promise.all(waiting)) {
      expect([status, json]).toEqual([200, { changes: [], cursor: '0', hasMore: false }])
    }
  },
)

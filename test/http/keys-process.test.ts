/** Keys and built servers: a start that needs one, and two processes that apply keys made and revoked while they run. */
import { openStore } from '../../src/store/open'
import { freshDatabase } from '../support/engines'
import { type RunningServer, startServer } from '../support/processes'
import { eventually as asksUntil, stopwatch } from '../support/timing'
import { clientOf, send } from './support/client'
import { served, withKey } from './support/keys'
import { closeStreams, eventually, listening } from './support/streams'

afterEach(closeStreams)

describe.each(served)('servers on %s', (engine) => {
  let url: string
  let drop: () => Promise<void>
  beforeEach(async () => {
    const database = await freshDatabase(engine)
    url = database.url
    drop = database.drop
  })
  afterEach(() => drop())

  /** As the command line does: by another process's connection. */
  async function withStore<T>(work: (store: Awaited<ReturnType<typeof openStore>>) => Promise<T>): Promise<T> {
    const store = await openStore({ url, sweep: false, publish: false })
    try {
      return await work(store)
    } finally {
      await store.close()
    }
  }
  const create = (scopes: ('read' | 'append' | 'admin')[]) =>
    withStore(({ keys }) => keys.create({ label: 'l', scopes }))
  const reachable = (server: RunningServer) => server.url.replace('0.0.0.0', '127.0.0.1')

  test('on an address that others reach start with a key only', async () => {
    const env = { DATABASE_URL: url, HOST: '0.0.0.0' }
    const said = await startServer(env).then(
      () => 'it started',
      (error: Error) => error.message,
    )
    expect(said).toContain('ended with 1')
    expect(said).toMatch(/recentn: HOST 0\.0\.0\.0 .*"recentn keys create".*RECENTN_ALLOW_ANONYMOUS=1/)
    const { key } = await create(['read'])
    const server = await startServer(env)
    expect((await send(reachable(server), 'GET', '/v1/groups', {})).status).toBe(401)
    expect((await withKey(reachable(server), key).get('/v1/groups')).status).toBe(200)
    expect((await send(reachable(server), 'GET', '/livez', { headers: { Host: 'example.org' } })).status).toBe(200)
    expect(await server.stop()).toMatchObject({ code: 0 })
    const open = await startServer({ ...env, RECENTN_ALLOW_ANONYMOUS: '1' })
    expect((await send(reachable(open), 'GET', '/v1/groups', {})).status).toBe(200)
    await open.stop()
  })

  test('two of them apply a key that is made, and one that is revoked, within 5 seconds', async () => {
    const env = { DATABASE_URL: url }
    const servers = await Promise.all([startServer(env), startServer(env)])
    const statuses = async (headers: Record<string, string> = {}) =>
      Promise.all(servers.map(async (each) => (await clientOf(each.url).get('/v1/groups', headers)).status))
    const within = async (ms: number, what: string, expected: number, headers: Record<string, string> = {}) => {
      await asksUntil(ms, what, async () => (await statuses(headers)).every((status) => status === expected), 50)
    }
    expect(await statuses()).toEqual([200, 200])
    const { key } = await create(['append'])
    await within(5000, 'a key is needed', 401)

    const reader = await create(['read', 'append'])
    const headers = { Authorization: `Bearer ${reader.key}` }
    await within(5000, 'the second key is known', 200, headers)
    expect(await statuses({ Authorization: `Bearer ${key}` })).toEqual([403, 403])
    const streams = await Promise.all(servers.map((each) => listening(each.url, '/v1/groups/g/stream', headers)))
    let ended = 0
    for (const stream of streams) stream.ended.then(() => ended++)
    expect((await withKey(servers[0]?.url as string, reader.key).post('/v1/groups/g/items', {})).status).toBe(201)
    await Promise.all(streams.map((stream) => stream.until(1)))
    const watch = stopwatch()
    await withStore(({ keys }) => keys.revoke(reader.id))
    await within(5000, 'the revocation applies', 401, headers)
    await eventually('the streams have ended', () => ended === 2, 5000)
    expect(watch.isBeyond(6000)).toBe(false)

    const { keys } = await withStore((store) => store.keys.list())
    const used = new Map(keys.map(({ id, lastUsedAt }) => [id, lastUsedAt]))
    expect(used.get(reader.id)).toBeInstanceOf(Date)
    for (const server of servers) expect(await server.stop()).toEqual({ code: 0, signal: null })
  })

  test('say nothing of a key to the log', async () => {
    const { key } = await create(['admin'])
    const server = await startServer({ DATABASE_URL: url })
    await withKey(server.url, key).get('/v1/groups')
    await withKey(server.url, `${key}x`).get('/v1/groups')
    await server.stop()
    expect(server.output()).not.toContain(key.slice(0, 12))
  })
})

test('pages of configured origins may read a server', async () => {
  const server = await startServer({ RECENTN_CORS_ORIGIN: 'http://localhost:5173' })
  const { headers } = await clientOf(server.url).get('/v1/groups', { Origin: 'http://localhost:5173' })
  expect(headers['access-control-allow-origin']).toBe('http://localhost:5173')
  expect(headers['x-content-type-options']).toBe('nosniff')
  await server.stop()
})

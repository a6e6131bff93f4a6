import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { connect, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openStore } from '../../src/store/open'
import { type RunningServer, startServer } from '../support/processes'
import { clientOf, send } from './support/client'

const folder = mkdtempSync(join(tmpdir(), 'recentn-process-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

let files = 0
const freshDatabase = () => `sqlite:${join(folder, `${++files}.db`)}`

/** Why a server did not start: its output and exit code, as the helper tells them. */
async function refusal(env: Record<string, string>): Promise<string> {
  const outcome = await startServer(env).then(
    () => 'it started',
    (error: Error) => error.message,
  )
  expect(outcome).toContain('ended with 1')
  return outcome
}

/** A request whose body is half sent. */
async function halfSent(server: RunningServer, path: string): Promise<{ socket: Socket; finish(): Promise<string> }> {
  const { hostname, port } = new URL(server.url)
  const socket = connect(Number(port), hostname)
  let text = ''
  socket.on('data', (chunk) => {
    text += chunk.toString()
  })
  socket.on('error', () => {})
  const body = '{"member":"in flight"}'
  const head = `POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${body.length}`
  // The server says 100 when the handler of the request is running.
  socket.write(`${head}\r\nExpect: 100-continue\r\n\r\n${body.slice(0, 5)}`)
  await once(socket, 'data')
  expect(text).toMatch(/^HTTP\/1.1 100 /)
  const finish = async () => {
    socket.write(body.slice(5))
    await once(socket, 'close')
    return text
  }
  return { socket, finish }
}

test('says in one line where it listens and where the data is', async () => {
  const url = freshDatabase()
  const server = await startServer({ DATABASE_URL: url })
  const line = `recentn listens on ${server.url}, data in ${url.replace('sqlite:', '')}`
  expect(server.output().split('\n')[0]?.startsWith(line)).toBe(true)
  expect(server.output().trim().split('\n')).toHaveLength(1)
  expect(server.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/)
  expect((await clientOf(server.url).get('/readyz')).status).toBe(200)
  expect(await server.stop()).toEqual({ code: 0, signal: null })
})

test.each(['SIGTERM', 'SIGINT'] as const)('%s: finishes what was accepted, closes, exits 0', async (signal) => {
  const url = freshDatabase()
  const server = await startServer({ DATABASE_URL: url })
  const { hostname, port } = new URL(server.url)
  const idle = connect(Number(port), hostname)
  await once(idle, 'connect')
  const used = connect(Number(port), hostname)
  used.write('GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n')
  await once(used, 'data')
  const request = await halfSent(server, '/v1/groups/g/items')

  const stopped = server.stop(signal)
  await Promise.all([once(idle.resume(), 'close'), once(used.resume(), 'close')])
  await expect(send(server.url, 'GET', '/livez', {})).rejects.toThrow()
  const text = await request.finish()
  expect(text).toContain('HTTP/1.1 201 Created')
  expect(text).toContain('Connection: close')
  expect(await stopped).toEqual({ code: 0, signal: null })

  const again = await startServer({ DATABASE_URL: url })
  const page = await clientOf(again.url).get('/v1/groups/g/items')
  expect(page.json).toMatchObject({ totalAppended: '1', items: [{ member: 'in flight' }] })
  await again.stop()
})

test('SIGTERM during a burst of POSTs: what was answered with 201 is stored, and nothing else', async () => {
  const url = freshDatabase()
  const server = await startServer({ DATABASE_URL: url, RECENTN_DEFAULT_CAPACITY: '10000' })
  const acknowledged = new Map<string, string>()
  let unanswered = 0
  let stopping = false
  const callers = Array.from({ length: 50 }, async (_, caller) => {
    for (let n = 0; ; n++) {
      const member = `${caller}-${n}`
      const group = `g${n % 3}`
      const answer = await send(server.url, 'POST', `/v1/groups/${group}/items`, { json: { member } }).catch(() => null)
      if (answer?.status === 201) acknowledged.set(`${group} ${answer.json.id}`, member)
      else {
        // Cut off or refused by a server that is stopping: by then, and in no other way.
        expect([stopping, answer?.status ?? 503]).toEqual([true, 503])
        unanswered++
        return
      }
    }
  })
  while (acknowledged.size < 300) await new Promise((resolve) => setTimeout(resolve, 5))
  stopping = true
  expect(await server.stop()).toEqual({ code: 0, signal: null })
  await Promise.all(callers)
  const store = await openStore({ url, sweep: false, defaultCapacity: 10_000 })
  const stored = new Map<string, string>()
  for (const { group, items } of await store.groups.recentMany(['g0', 'g1', 'g2'], { limit: 10_000 })) {
    for (const { id, member } of items) stored.set(`${group} ${id}`, String(member))
  }
  await store.close()
  expect(unanswered).toBe(50)
  expect(stored).toEqual(acknowledged)
})

test('does not wait longer than RECENTN_SHUTDOWN_SECONDS', async () => {
  const server = await startServer({ RECENTN_SHUTDOWN_SECONDS: '1' })
  const { socket } = await halfSent(server, '/v1/groups/g/items')
  const started = Date.now()
  expect(await server.stop()).toEqual({ code: 1, signal: null })
  expect(Date.now() - started).toBeGreaterThan(900)
  expect(server.output()).toContain('RECENTN_SHUTDOWN_SECONDS')
  socket.destroy()
})

test('two servers started at once share an empty SQLite file', async () => {
  const env = { DATABASE_URL: freshDatabase() }
  const servers = await Promise.all([startServer(env), startServer(env)])
  const [a, b] = servers.map(({ url }) => clientOf(url)) as [ReturnType<typeof clientOf>, ReturnType<typeof clientOf>]
  const answers = await Promise.all(
    Array.from({ length: 100 }, (_, i) => (i % 2 ? a : b).post('/v1/groups/g/items', { member: `m${i}` })),
  )
  expect(answers.map(({ status }) => status)).toEqual(Array(100).fill(201))
  const ids = answers.map(({ json }) => Number(json.id)).sort((x, y) => x - y)
  expect(ids).toEqual(Array.from({ length: 100 }, (_, i) => i))
  expect((await a.get('/v1/groups/g/items')).text).toBe((await b.get('/v1/groups/g/items')).text)
  for (const server of servers) expect(await server.stop()).toEqual({ code: 0, signal: null })
})

describe('does not start', () => {
  test('on an address that others reach, unless told to let everyone in', async () => {
    const said = await refusal({ HOST: '0.0.0.0' })
    expect(said).toMatch(/recentn: HOST .*RECENTN_ALLOW_ANONYMOUS=1/)
    const server = await startServer({ HOST: '0.0.0.0', RECENTN_ALLOW_ANONYMOUS: '1' })
    const url = server.url.replace('0.0.0.0', '127.0.0.1')
    expect((await send(url, 'GET', '/v1/groups', { headers: { Host: 'example.org' } })).status).toBe(200)
    await server.stop()
  })

  test('with a bad environment: every fault is said', async () => {
    const said = await refusal({ PORT: 'x', DATABASE_URL: 'mongodb://user:secret@host/db', RECENTN_POOL_SIZE: '0' })
    for (const name of ['PORT', 'DATABASE_URL', 'RECENTN_POOL_SIZE']) expect(said).toContain(`recentn: ${name} `)
    expect(said).not.toContain('secret')
  })

  test('with a database URL that names none', async () => {
    expect(await refusal({ DATABASE_URL: 'mysql://user:secret@host' })).toMatch(
      /recentn: DATABASE_URL names no database; must/,
    )
  })

  test('on a port that is in use', async () => {
    const other = createServer().listen(0, '127.0.0.1')
    await once(other, 'listening')
    const { port } = other.address() as { port: number }
    const said = await refusal({ PORT: String(port) })
    expect(said).toContain(`recentn: port ${port} of 127.0.0.1 is in use`)
    expect(said).not.toContain('    at ')
    other.close()
  })

  test('in a folder where it can not write', async () => {
    const said = await refusal({ DATABASE_URL: 'sqlite:/dev/null/x/recentn.db' })
    expect(said).toMatch(/recentn: /)
    expect(said).not.toContain('    at ')
  })

  test('on a database that newer code has migrated', async () => {
    const url = freshDatabase()
    const store = await openStore({ url, sweep: false })
    await store.dataSource.query('UPDATE recentn_schema SET version = version + 1')
    await store.close()
    expect(await refusal({ DATABASE_URL: url })).toContain('recentn: The recentn tables are newer than this code')
  })
})

test('waits for a database server that is not there yet, and can be stopped before it is', async () => {
  const { spawn } = await import('node:child_process')
  const env = { PATH: process.env.PATH, PORT: '0', DATABASE_URL: 'mysql://user:secret@127.0.0.1:9/recentn' }
  const child = spawn(process.execPath, [join(__dirname, '../../dist/src/main.js')], { env })
  let said = ''
  child.stderr.on('data', (chunk) => {
    said += chunk
    if (said.includes('trying again')) child.kill('SIGTERM')
  })
  const [code] = await once(child, 'close')
  expect(said).toMatch(
    /^recentn: The database mysql:\/\/127\.0\.0\.1:9\/recentn cannot .*trying again for up to 30 seconds\n$/,
  )
  expect(said).not.toContain('secret')
  expect(code).toBe(0)
})

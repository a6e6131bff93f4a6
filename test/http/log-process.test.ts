/** The lines of the server with every setting of its log; by separate processes. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { openLog } from '../../src/http/process/log'
import { startServer } from '../support/processes'
import { freePort } from '../support/servers/program'
import { clientOf, type Loose, send } from './support/client'
import { eventually, pause } from './support/streams'

const UUID = /^[0-9a-f-]{36}$/
const json = { RECENTN_LOG_FORMAT: 'json' }

type Running = Awaited<ReturnType<typeof startServer>>

/** Every line that was written, which all must be JSON. */
function linesOf(server: Running): Loose[] {
  return server
    .output()
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line))
}

const requestsOf = (server: Running) => linesOf(server).filter(({ event }) => (event as unknown) === 'request')

test('JSON: one line an event, with the address in it, and nothing else on either output', async () => {
  const server = await startServer(json)
  const [ready] = linesOf(server)
  expect(ready).toMatchObject({
    level: 'info',
    pid: server.process.pid,
    msg: expect.stringMatching(/^recentn listens on /),
    url: server.url,
    location: 'memory (SQLite)',
  })
  expect(new Date(String(ready?.time)).toISOString()).toBe(ready?.time)
  expect(await server.stop()).toEqual({ code: 0, signal: null })
  expect(linesOf(server)).toHaveLength(1)
})

test('JSON: a line a request, by the template of its route, with its id and no name', async () => {
  const server = await startServer({ ...json, RECENTN_ACCESS_LOG: '1' })
  const client = clientOf(server.url)
  const secret = 'zz-secret'
  await client.request('POST', `/v1/groups/${secret}/items`, {
    json: { member: secret, payload: { secret } },
    headers: { 'X-Request-Id': 'mine-1', Authorization: `Bearer ${secret}` },
  })
  await client.get(`/v1/groups/${secret}?x=${secret}`)
  await client.get(`/${secret}`)
  for (const path of ['/livez', '/readyz', '/metrics']) await client.get(path)
  await server.stop()
  const lines = requestsOf(server)
  expect(lines).toEqual([
    expect.objectContaining({ method: 'POST', route: '/v1/groups/{group}/items', status: 201, requestId: 'mine-1' }),
    expect.objectContaining({ method: 'GET', route: '/v1/groups/{group}', status: 400, problem: 'invalid_input' }),
    expect.objectContaining({ method: 'GET', route: 'unknown', status: 404 }),
  ])
  for (const line of lines) expect(line).toMatchObject({ level: 'info', durationSeconds: expect.any(Number) })
  expect(lines[1]?.requestId).toMatch(UUID)
  expect(server.output()).not.toContain(secret)
})

test('JSON at debug: the path too, health and metrics too; never the secret of a key', async () => {
  const server = await startServer({ ...json, RECENTN_ACCESS_LOG: '1', RECENTN_LOG_LEVEL: 'debug' })
  const client = clientOf(server.url)
  await client.get('/livez')
  const key = `rk_0123456789abcdef_${'s'.repeat(43)}`
  await client.get(`/v1/groups/a%2Fb?key=${key}`)
  await client.get(
    `/v1/groups/a%2Fb?limit=1&access%5Ftoken=hidden-1&%61pi_key=%68idden-2&x=${key.replaceAll('s', '%73')}`,
  )
  await client.get(`/v1/groups/${key.replaceAll('_', '%255F')}`, { 'X-Request-Id': `for-${key}` })
  await server.stop()
  const [health, first, second, third] = requestsOf(server)
  expect(health).toMatchObject({ level: 'debug', route: '/livez', path: '/livez' })
  expect(first).toMatchObject({ level: 'info', path: '/v1/groups/a%2Fb?key=rk_0123456789abcdef_…' })
  const shown = '/v1/groups/a%2Fb?limit=1&access%5Ftoken=…&%61pi_key=…&x=rk_0123456789abcdef_…'
  expect(second).toMatchObject({ path: shown })
  expect(third).toMatchObject({ path: '/v1/groups/rk_0123456789abcdef_…', requestId: expect.stringMatching(UUID) })
  expect(server.output()).not.toMatch(/sss|%73|hidden|idden/)
})

test('JSON: tells which key it was, and of errors what they are', async () => {
  const server = await startServer({ ...json, RECENTN_ACCESS_LOG: '1', DATABASE_URL: 'sqlite::memory:' })
  await clientOf(server.url).put('/v1/queues/q', {})
  await server.stop()
  expect(requestsOf(server)[0]).not.toHaveProperty('keyId')

  const lines: string[] = []
  const write = jest.spyOn(process.stderr, 'write').mockImplementation((line) => lines.push(String(line)) > 0)
  openLog('text', 'info').error('GET /x (request 1)', new Error('broken\nin two lines'), {})
  write.mockRestore()
  expect(lines.join('')).toMatch(/^recentn: GET \/x \(request 1\): Error: broken\nin two lines\n {4}at /)
})

test('JSON: an error is one line, its stack in it', async () => {
  const code = `
    const { openLog } = require('./dist/src/http/process/log')
    const { RecentnError } = require('./dist/src/shared/errors')
    const log = openLog('json', 'info')
    const below = Object.assign(new Error("Duplicate entry 'secret' for key 'x'"), { errno: 1213, query: 'SELECT secret' })
    const error = new Error('broken\\nin two lines', { cause: below })
    log.error('could not publish', error, { work: 'publish' })
    log.error('could not sweep', new RecentnError('database_unavailable'), {})
    process.emitWarning('take care')
    setImmediate(() => { throw new Error('not caught') })
  `
  const child = spawn(process.execPath, ['-e', code], { cwd: join(__dirname, '../..') })
  let said = ''
  child.stdout.on('data', (chunk) => {
    said += chunk
  })
  await once(child, 'close')
  const [published, swept, warned, ended, ...rest] = said
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  expect(rest).toEqual([])
  expect(published).toMatchObject({ level: 'error', msg: 'could not publish', work: 'publish' })
  expect(published.error).toMatchObject({ type: 'Error', message: 'broken\nin two lines', cause: { errno: 1213 } })
  expect(published.error.stack).toContain('    at ')
  expect(said).not.toContain('secret')
  expect(swept.error).toMatchObject({ code: 'database_unavailable' })
  expect(swept.error).not.toHaveProperty('stack')
  expect(warned).toMatchObject({ level: 'warn', msg: 'take care' })
  expect(ended).toMatchObject({ level: 'error', error: { message: 'not caught' } })
})

test('text: access lines for people, and the ready line as ever', async () => {
  const server = await startServer({ RECENTN_ACCESS_LOG: '1' })
  await clientOf(server.url).get('/v1/groups', { 'X-Request-Id': 'mine' })
  await clientOf(server.url).get('/livez')
  await server.stop()
  const [ready, ...lines] = server.output().trim().split('\n')
  expect(ready).toBe(`recentn listens on ${server.url}, data in memory (SQLite)`)
  expect(lines).toEqual([expect.stringMatching(/^GET \/v1\/groups 200 \d+\.\d\d ms \(request mine\)$/)])
})

test('without RECENTN_ACCESS_LOG there is no line a request, and at the level error no ready line either', async () => {
  const server = await startServer(json)
  await clientOf(server.url).get('/v1/groups')
  await server.stop()
  expect(requestsOf(server)).toEqual([])
  const port = await freePort()
  const env = {
    PATH: process.env.PATH,
    PORT: String(port),
    DATABASE_URL: 'sqlite::memory:',
    RECENTN_LOG_LEVEL: 'error',
  }
  const child = spawn(process.execPath, [join(__dirname, '../../dist/src/main.js')], { env })
  let said = ''
  child.stdout.on('data', (chunk) => {
    said += chunk
  })
  const closed = once(child, 'close')
  const isUpOrGone = () =>
    send(`http://127.0.0.1:${port}`, 'GET', '/livez', {}).then(
      () => true,
      () => child.exitCode !== null,
    )
  while (!(await isUpOrGone())) await pause(50)
  child.kill('SIGTERM')
  expect(await closed).toEqual([0, null])
  expect(said).toBe('')
})

test.each([
  ['json', 'dist/src/main.js', []],
  ['text', 'dist/src/main.js', []],
  ['json', 'dist/src/cli.js', ['serve']],
  ['text', 'dist/src/cli.js', ['serve']],
])('%s: continues to serve when no process reads what %s says any more', async (format, script, args) => {
  const env = {
    PATH: process.env.PATH,
    PORT: '0',
    DATABASE_URL: 'sqlite::memory:',
    RECENTN_LOG_FORMAT: format,
    RECENTN_ACCESS_LOG: '1',
  }
  const child = spawn(process.execPath, [join(__dirname, '../..', script), ...args], { env })
  const [chunk] = await once(child.stdout, 'data')
  const url = /http:\/\/[^\s/]+:\d+/.exec(String(chunk))?.[0] as string
  child.stdout.destroy()
  child.stderr.destroy()
  for (let n = 0; n < 100; n++) expect((await send(url, 'GET', '/v1/groups', {})).status).toBe(200)
  await pause(400)
  expect((await send(url, 'GET', '/livez', {})).status).toBe(200)
  child.kill('SIGTERM')
  expect(await once(child, 'exit')).toEqual([0, null])
})

test('what goes wrong in the background is said in the log, once', async () => {
  const server = await startServer({
    ...json,
    DATABASE_URL: `sqlite:${join(process.env.TMPDIR ?? '/tmp', `recentn-log-${process.pid}-${Date.now()}.db`)}`,
  })
  const { default: Database } = await import('better-sqlite3')
  const file = /^(.*) \(SQLite\)$/.exec(String(linesOf(server)[0]?.location))?.[1] as string
  const other = new Database(file)
  other.exec('ALTER TABLE recentn_groups RENAME TO hidden_groups')
  await eventually('it is said', () => server.output().includes('(sweep-groups)'), 10_000)
  other.exec('ALTER TABLE hidden_groups RENAME TO recentn_groups')
  other.close()
  await server.stop()
  const { rmSync } = await import('node:fs')
  for (const ending of ['', '-wal', '-shm']) rmSync(file + ending, { force: true })
  const said = linesOf(server).filter(({ msg }) => String(msg).includes('sweep-'))
  expect(said.length).toBeLessThanOrEqual(2)
  expect(said[0]).toMatchObject({ level: 'error', work: 'sweep-groups', error: { message: expect.any(String) } })
})

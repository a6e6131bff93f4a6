/** The command line as a process of its own. */
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { openStore } from '../../src/store/open'
import { startServer } from '../support/processes'
import { logLine, run, start, temporaryFolder } from './support'

const folder = temporaryFolder()
afterAll(() => folder.remove())

let count = 0
const freshUrl = () => `sqlite:${join(folder.path, `${++count}.db`)}`
const lines = (from: number, to: number, path = '/') =>
  Array.from({ length: to - from }, (_, n) => logLine(path, from + n)).join('')

async function total(url: string, group = '/'): Promise<bigint | undefined> {
  const store = await openStore({ url, migrate: false })
  try {
    return (await store.groups.get(group))?.totalAppended
  } finally {
    await store.close()
  }
}

describe('recentn', () => {
  it.each([
    [[], /serve.*run the HTTP server[\s\S]*migrate[\s\S]*replay[\s\S]*doctor/],
    [['serve'], /--port[\s\S]*--host[\s\S]*--database-url[\s\S]*RECENTN_ALLOW_ANONYMOUS/],
    [['migrate'], /--database-url[\s\S]*one migrates, the others wait/],
    [['replay'], /--group <field>[\s\S]*--ttl-seconds[\s\S]*Exit code[\s\S]*Examples:/],
    [['doctor'], /--json[\s\S]*SKIP LOCKED/],
  ])('explains %j', async (command, text) => {
    const ran = await run([...command, '--help'])
    expect(ran).toMatchObject({ code: 0, stderr: '' })
    expect(ran.stdout).toMatch(text)
  })

  it.each([
    [['frobnicate'], /unknown command/],
    [['replay', '--group', 'colour'], /Allowed choices are path/],
    [['replay', '--batch', '1001'], /whole number from 1 to 1000/],
    [['replay', '--payload', 'method,cookie'], /"none" or a list of method/],
    [['replay', '--url', 'http://x', '--database-url', 'sqlite:x'], /cannot be used with/],
    [['replay', '--mode', 'distinct', '--member', 'none'], /needs a member/],
    [['replay', '--mode', 'distinct', '--event-ids'], /needs no --event-ids/],
    [['replay', '--url', 'localhost:3000'], /must be an address such as/],
    [['replay', '/there/is/no.log'], /ENOENT.*no\.log/],
    [['replay', '--database-url', 'postgres://x/y'], /DATABASE_URL: must begin with sqlite:, mysql:/],
    [['serve', '--port', '99999'], /PORT: must be a whole number/],
  ])('refuses %j without a stack', async (args, said) => {
    const ran = await run(args, { cwd: folder.path })
    expect(ran).toMatchObject({ code: 1, stdout: '' })
    expect(ran.stderr).toMatch(said)
    expect(ran.stderr).not.toMatch(/\n +at /)
    expect(existsSync(join(folder.path, 'data'))).toBe(false)
  })
})

describe('recentn replay', () => {
  it.each([
    ['plain', (text: string) => text],
    ['compressed', gzipSync],
  ])('reads standard input, %s, into the default database', async (_, encode) => {
    const inner = temporaryFolder()
    const ran = await run(['replay'], { cwd: inner.path, stdin: encode(`${lines(0, 1200)}bad\n`) })
    expect(ran.code).toBe(0)
    expect(ran.stdout).toMatch(
      /^1,201 lines, 1,200 appended to 1 group, 1 bad, [0-9.]+ s, [0-9,]+ appends\/s\nto .*recentn\.db/,
    )
    expect(ran.stderr).toMatch(
      /^recentn: DATABASE_URL is not set: taking sqlite:.*\nstandard input, line 1201 does not begin/,
    )
    expect(await total(`sqlite:${join(inner.path, 'data/recentn.db')}`)).toBe(1200n)
    inner.remove()
  })

  it('takes the database from the environment, and several files', async () => {
    const [one, two] = [join(folder.path, 'one'), join(folder.path, 'two')]
    writeFileSync(one, lines(0, 5))
    writeFileSync(two, gzipSync(lines(5, 9)))
    const url = freshUrl()
    const ran = await run(['replay', one, two, '-', '--json'], { env: { DATABASE_URL: url }, stdin: lines(9, 11) })
    expect(JSON.parse(ran.stdout)).toEqual({
      lines: 11,
      appended: 11,
      alreadyThere: 0,
      groups: 1,
      badLines: 0,
      blankLines: 0,
      seconds: expect.any(Number),
      appendsPerSecond: expect.any(Number),
      interrupted: false,
      error: null,
    })
    expect(await total(url)).toBe(11n)
  })

  it.each([
    ['when nothing could be appended', 'bad\nworse\n', [], 1],
    ['when a line is bad and it is strict', `${lines(0, 3)}bad\n`, ['--strict'], 1],
    ['not when there was nothing', '', [], 0],
    ['not when only some lines are bad', `bad\n${lines(0, 3)}`, [], 0],
  ])('fails %s', async (_, stdin, flags, code) => {
    const ran = await run(['replay', '--database-url', freshUrl(), ...flags], { stdin })
    expect(ran.code).toBe(code)
    expect(ran.stdout).toMatch(/ lines, /)
  })

  it('stops at Ctrl-C with what has been appended, while its input goes on', async () => {
    const url = freshUrl()
    const replaying = start(['replay', '--batch', '5', '--json', '--database-url', url])
    replaying.process.stdin?.write(`${lines(0, 12)}bad\n`)
    await replaying.said(/line 13/)
    replaying.process.kill('SIGINT')
    const ran = await replaying.ended
    expect(JSON.parse(ran.stdout)).toMatchObject({ lines: 13, appended: 10, interrupted: true, error: null })
    expect(ran.code).toBe(130)
    expect(await total(url)).toBe(10n)
  })

  it('sends to a running server in requests that it takes, and shows what it refuses', async () => {
    const url = freshUrl()
    const server = await startServer({ DATABASE_URL: url })
    const agent = 'x'.repeat(8000)
    const big = Array.from({ length: 400 }, (_, n) => logLine('/', n).replace(`agent ${n}`, agent)).join('')
    const ran = await run(['replay', '--url', server.url, '--batch', '1000', '--capacity', '500', '--json'], {
      stdin: big,
    })
    expect(JSON.parse(ran.stdout)).toMatchObject({ lines: 400, appended: 400, badLines: 0, error: null })
    const refused = await run(['replay', '--url', `${server.url}/elsewhere`], { stdin: lines(0, 1) })
    expect(refused.stderr).toMatch(/POST .*\/elsewhere\/v1\/items was answered 404/)
    expect(refused.code).toBe(1)
    expect(await server.stop()).toMatchObject({ code: 0 })
    expect(await total(url)).toBe(400n)
  })
})

describe('recentn serve', () => {
  it('puts its options before the environment', async () => {
    const env = { PORT: 'nonsense', HOST: '192.0.2.1', DATABASE_URL: 'mysql://192.0.2.1/x' }
    const serving = start(['serve', '--port', '0', '--host', '127.0.0.1', '--database-url', freshUrl()], { env })
    const [, url] = await serving.said(/(http:\/\/127\.0\.0\.1:\d+)/)
    expect((await fetch(`${url}/livez`)).status).toBe(200)
    serving.process.kill('SIGTERM')
    expect((await serving.ended).code).toBe(0)
  })
})

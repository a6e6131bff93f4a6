/** The command line as a separate process. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { run, start, temporaryFolder } from './support'

const folder = temporaryFolder()
afterAll(() => folder.remove())

let count = 0
const freshUrl = () => `sqlite:${join(folder.path, `${++count}.db`)}`

describe('recentn', () => {
  it.each([
    [[], /serve.*run the HTTP server[\s\S]*migrate[\s\S]*queues[\s\S]*doctor/],
    [['serve'], /--port[\s\S]*--host[\s\S]*--database-url[\s\S]*RECENTN_ALLOW_ANONYMOUS/],
    [['migrate'], /--database-url[\s\S]*one migrates, the others wait/],
    [['doctor'], /--json[\s\S]*SKIP LOCKED/],
  ])('explains %j', async (command, text) => {
    const ran = await run([...command, '--help'])
    expect(ran).toMatchObject({ code: 0, stderr: '' })
    expect(ran.stdout).toMatch(text)
  })

  it.each([
    [['frobnicate'], /unknown command/],
    [['queues', 'list', '--url', 'http://x', '--database-url', 'sqlite:x'], /cannot be used with/],
    [['migrate', '--database-url', 'postgres://x/y'], /DATABASE_URL: must begin with sqlite:, mysql:/],
    [['serve', '--port', '99999'], /PORT: must be a whole number/],
  ])('refuses %j without a stack', async (args, said) => {
    const ran = await run(args, { cwd: folder.path })
    expect(ran).toMatchObject({ code: 2, stdout: '' })
    expect(ran.stderr).toMatch(said)
    expect(ran.stderr).not.toMatch(/\n +at /)
    expect(existsSync(join(folder.path, 'data'))).toBe(false)
  })
})

describe('recentn procedures', () => {
  it('prints them with the prefix of the tables, and asks no database', async () => {
    const ran = await run(['procedures'], {
      env: { RECENTN_TABLE_PREFIX: 'shop_', DATABASE_URL: 'mysql://192.0.2.1/x' },
    })
    expect(ran).toMatchObject({ code: 0, stderr: '' })
    const [send, append] = ran.stdout.split(/^DROP PROCEDURE IF EXISTS /m).slice(1)
    expect(send).toMatch(/^shop_send;\nCREATE PROCEDURE shop_send\([\s\S]* INSERT INTO shop_sends /)
    expect(append).toMatch(/^shop_append;\nCREATE PROCEDURE shop_append\([\s\S]* INSERT INTO shop_appends /)
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

/** Where npx gets SQLite's driver from. The npm is a program of the test; `npm run test:package` does it with the real one. */
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { cachedDriver } from '../../src/cli/sqlite-driver'
import { sqliteRange } from '../../src/http/version'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'recentn-driver-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

/** An environment whose npm is this script, which notes each run in the file `runs`. */
function environment(script: string): NodeJS.ProcessEnv {
  const npm = join(folder, 'npm-cli.js')
  const note = `require('fs').appendFileSync(${JSON.stringify(join(folder, 'runs'))}, JSON.stringify([process.argv.slice(2), process.env.npm_config_omit ?? null]) + '\\n');`
  writeFileSync(npm, `${note}${script}`)
  return { PATH: process.env.PATH, XDG_CACHE_HOME: join(folder, 'cache'), npm_execpath: npm, npm_config_omit: 'peer' }
}

const INSTALLS = `require('fs').mkdirSync('node_modules/better-sqlite3', { recursive: true })`
const runs = () => readFileSync(join(folder, 'runs'), 'utf8').trim().split('\n')
const kept = () => readdirSync(join(folder, 'cache', 'recentn'))

test('is installed once, in a folder for this Node, and found from then on', async () => {
  const env = environment(INSTALLS)
  const said: string[] = []
  const driver = await cachedDriver(sqliteRange(), env, (line) => said.push(line))
  expect(existsSync(driver)).toBe(true)
  expect(driver).toContain(`better-sqlite3-12-${process.platform}-${process.arch}-${process.versions.modules}`)
  expect(await cachedDriver(sqliteRange(), env, (line) => said.push(line))).toBe(driver)
  expect(said).toEqual([expect.stringContaining('installing better-sqlite3@^12')])
  expect(runs().map((line) => JSON.parse(line))).toEqual([
    [expect.arrayContaining(['install', `better-sqlite3@${sqliteRange()}`]), null],
  ])
})

test('is whole for each of several processes that install it at once', async () => {
  const env = environment(INSTALLS)
  const drivers = await Promise.all([1, 2].map(() => cachedDriver(sqliteRange(), env, () => {})))
  for (const driver of drivers) expect(existsSync(driver)).toBe(true)
  expect(kept()).toHaveLength(1)
})

test('is refused with what npm said and what to do, and nothing is left of it', async () => {
  const env = environment(`console.error('gyp ERR! not found: make'); process.exit(1)`)
  const failing = cachedDriver(sqliteRange(), env, () => {})
  await expect(failing).rejects.toMatchObject({
    code: 'database_refused',
    message: expect.stringMatching(/gyp ERR! not found: make[\s\S]*npx -p recentn -p better-sqlite3 recentn serve/),
  })
  expect(kept()).toEqual([])
})

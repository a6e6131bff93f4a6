/** Where npx gets SQLite's driver from. The npm is a program of the test; `npm run test:package` does it with the real one. */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { cachedDriver } from '../../src/cli/sqlite-driver'
import { mayAbort } from '../../src/database/drivers'
import { nodeFault, sqliteRange } from '../../src/http/version'

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
  const [major] = /\d+/.exec(sqliteRange()) as RegExpExecArray
  expect(driver).toContain(`better-sqlite3-${major}-${process.platform}-${process.arch}-${process.versions.modules}`)
  expect(await cachedDriver(sqliteRange(), env, (line) => said.push(line))).toBe(driver)
  expect(said).toEqual([expect.stringContaining(`installing better-sqlite3@^${major}`)])
  expect(runs().map((line) => JSON.parse(line))).toEqual([
    [expect.arrayContaining(['install', `better-sqlite3@${sqliteRange()}`]), null],
  ])
})

test('is of the newest major version that this Node can run', () => {
  expect([sqliteRange('20.19.0'), sqliteRange('22.13.0'), sqliteRange('24.21.0')]).toEqual([
    '^12.0.0',
    '^13.0.0',
    '^13.0.0',
  ])
})

test.each([
  ['an old Node', ['18.20.8', '20.18.3', '21.7.0', '22.12.0', '23.11.0', '24.10.0'], true],
  ['a Node that is supported', ['20.19.0', '22.13.0', '24.11.0', '25.0.0', process.versions.node], false],
])('%s: a fault of the command line', (_, versions, isFault) => {
  expect(versions.map((version) => nodeFault(version) !== null)).toEqual(versions.map(() => isFault))
})

test('a driver that Node 24 may abort with is told from others by what its compiled part calls', () => {
  const place = join(folder, 'better-sqlite3')
  mkdirSync(join(place, 'build', 'Release'), { recursive: true })
  writeFileSync(join(place, 'package.json'), '{}')
  expect(mayAbort(place)).toBe(false)
  const compiled = join(place, 'build', 'Release', 'better_sqlite3.node')
  writeFileSync(compiled, '\0_ZN4node25AddEnvironmentCleanupHookE\0')
  expect(mayAbort(place)).toBe(false)
  writeFileSync(compiled, '\0_ZN4node28RemoveEnvironmentCleanupHookEPN2v87IsolateEPFvPvES3_\0')
  expect(mayAbort(place)).toBe(true)
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

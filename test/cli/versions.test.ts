/** Which Node, and which SQLite driver, are warned of. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { mayAbort } from '../../src/database/opening/drivers'
import { nodeFault } from '../../src/http/version'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'recentn-driver-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

test.each([
  ['an old Node', ['18.20.8', '20.18.3', '21.7.0', '22.12.0', '23.11.0', '24.10.0'], true],
  ['a Node that is supported', ['20.19.0', '22.13.0', '24.11.0', '25.0.0', process.versions.node], false],
])('%s: a fault of the command line', (_, versions, isFault) => {
  expect(versions.map((version) => nodeFault(version) !== null)).toEqual(versions.map(() => isFault))
})

test('a driver that Node 24 may abort with is recognized by what its compiled part calls', () => {
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

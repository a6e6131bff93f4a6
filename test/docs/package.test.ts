/** The package and the image are made from files that are not programs: these are their promises. */
import { readFileSync } from 'node:fs'
import path from 'node:path'

const ROOT = path.join(__dirname, '../..')
const read = (file: string) => readFileSync(path.join(ROOT, file), 'utf8')
const manifest = JSON.parse(read('package.json'))

test('the SQLite driver is an optional peer, and nothing is an optional dependency', () => {
  expect(manifest.optionalDependencies).toBeUndefined()
  expect(manifest.peerDependencies['better-sqlite3']).toMatch(/^\^12/)
  expect(manifest.peerDependenciesMeta).toEqual({ 'better-sqlite3': { optional: true } })
  expect(manifest.devDependencies['better-sqlite3']).toMatch(/^12\./)
})

test('no page says to leave out the optional dependencies of the whole project', () => {
  for (const page of ['README.md', 'docs/library.md', 'docs/operating.md']) {
    expect(read(page)).not.toContain('--omit=optional')
  }
})

test('the image keeps the SQLite driver when it drops what is for development', () => {
  const { packages } = JSON.parse(read('package-lock.json'))
  expect(packages['node_modules/better-sqlite3']).toMatchObject({ devOptional: true })
})

test('the image begins from bytes that a digest names', () => {
  const base = /^ARG BASE=(\S+)$/m.exec(read('Dockerfile'))?.[1]
  expect(base).toMatch(/^node:\d+-bookworm-slim@sha256:[0-9a-f]{64}$/)
  const froms = [...read('Dockerfile').matchAll(/^FROM (\S+)/gm)].map(([, image]) => image)
  expect(new Set(froms)).toEqual(new Set([`\${BASE}`]))
})

/** A SQLite file whose disk is full, that cannot be written, is damaged, deleted or replaced. */
import { execFileSync } from 'node:child_process'
import {
  closeSync,
  copyFileSync,
  mkdtempSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import BetterSqlite3 from 'better-sqlite3'
import { DataSource } from 'typeorm'
import { attachStore, openStore, type Store } from '../../src/index'
import { down, eventually, idsOf, refusal } from '../contract/context'
import { whenKilled } from '../support/servers/guard'

const undo: (() => unknown)[] = []
afterEach(async () => {
  for (const step of undo.splice(0).reverse()) await step()
})

function freshFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'recentn-faults-'))
  undo.push(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

async function openIn(folder: string): Promise<Store> {
  const store = await openStore({
    url: `sqlite:${join(folder, 'recentn.db')}`,
    sweep: false,
    publish: false,
    defaultCapacity: 10_000,
  })
  undo.push(() => store.close())
  return store
}

async function attachIn(folder: string): Promise<Store> {
  const source = new DataSource({ type: 'better-sqlite3', database: join(folder, 'recentn.db') })
  await source.initialize()
  const store = await attachStore(source, { sweep: false, publish: false })
  undo.push(
    () => source.destroy(),
    () => store.close(),
  )
  return store
}

const sqlOf = (store: Store) => (sql: string) => store.dataSource.query(sql)
const PAYLOAD = 'x'.repeat(3000)

/** Writes until something is refused; resolves to how often all of it was stored. */
async function writeUntilFull(store: Store): Promise<number> {
  for (let n = 0; ; n++) {
    const outcomes = await Promise.allSettled([
      store.groups.append('full', { payload: { n, PAYLOAD } }),
      store.transaction((tx) => tx.groups.appendMany(['a', 'b'].map((group) => ({ group, payload: PAYLOAD })))),
    ])
    const refused = outcomes.filter(({ status }) => status === 'rejected') as PromiseRejectedResult[]
    if (refused.length === 0) continue
    for (const { reason } of refused) {
      const error = await refusal(Promise.reject(reason))
      expect([error.code, error.status, error.message]).toEqual(['database_unavailable', 503, expect.any(String)])
    }
    return n
  }
}

async function expectWhole(store: Store, atLeast: number): Promise<void> {
  for (const group of ['full', 'a', 'b']) {
    const { items, totalAppended } = await store.groups.recent(group, { limit: 10_000 })
    expect(Number(totalAppended)).toBeGreaterThanOrEqual(atLeast)
    expect(idsOf({ items })).toEqual(down(totalAppended - 1n, Number(totalAppended)))
  }
  const [a, b] = await Promise.all(['a', 'b'].map((group) => store.groups.recent(group)))
  expect(a?.totalAppended).toBe(b?.totalAppended)
}

it('a new file and a new folder are for their user alone', async () => {
  const folder = join(freshFolder(), 'new')
  const store = await openIn(folder)
  await store.groups.append('g')
  const modes = [folder, ...readdirSync(folder).map((name) => join(folder, name))].map(
    (path) => statSync(path).mode & 0o777,
  )
  expect(modes).toEqual([0o700, 0o600, 0o600, 0o600])
})

it('a file that may not grow refuses writes as database_unavailable, until it may', async () => {
  const store = await openIn(freshFolder())
  const sql = sqlOf(store)
  const [{ page_count: pages }] = await sql('PRAGMA page_count')
  await sql(`PRAGMA max_page_count = ${Number(pages) + 50}`)
  const written = await writeUntilFull(store)
  await store.ping()
  await sql('PRAGMA max_page_count = 1000000')
  await store.groups.append('full')
  await expectWhole(store, written)
})

it('a full disk refuses writes as database_unavailable, until there is room', async () => {
  const folder = freshFolder()
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=4m', 'tmpfs', folder], { stdio: 'pipe' })
  } catch (error) {
    process.stderr.write(
      `NOT TESTED: a full disk on sqlite: nothing can be mounted here: ${(error as Error).message}\n`,
    )
    return
  }
  const release = whenKilled('umount -l "$1"; rmdir "$1"', [folder])
  undo.push(() => {
    execFileSync('umount', ['-l', folder])
    release()
  })
  const store = await openIn(folder)
  const filler = join(folder, 'filler')
  const file = openSync(filler, 'w')
  writeSync(file, Buffer.alloc(2 ** 20))
  closeSync(file)
  const written = await writeUntilFull(store)
  await store.ping()
  rmSync(filler)
  await store.groups.append('full')
  await expectWhole(store, written)
  const again = await openIn(folder)
  await expectWhole(again, written)
})

it('a file that may not be written answers reads, and writes again when it may be', async () => {
  const store = await openIn(freshFolder())
  await store.groups.append('g')
  await sqlOf(store)('PRAGMA query_only = 1')
  expect((await refusal(store.groups.append('g'))).code).toBe('database_unavailable')
  expect((await refusal(store.transaction((tx) => tx.groups.append('g')))).code).toBe('database_unavailable')
  expect((await store.groups.recent('g')).totalAppended).toBe(1n)
  await sqlOf(store)('PRAGMA query_only = 0')
  expect((await store.groups.append('g')).id).toBe(1n)
})

it('a damaged file is database_unavailable for callers, and database_refused when it is opened', async () => {
  const folder = freshFolder()
  const store = await openIn(folder)
  await store.groups.appendMany(Array.from({ length: 300 }, (_, n) => ({ group: `g${n}`, payload: PAYLOAD })))
  const path = join(folder, 'recentn.db')
  const other = new BetterSqlite3(path)
  // Another connection that writes makes the store read the pages again.
  other.exec('CREATE TABLE others (n integer); INSERT INTO others VALUES (1)')
  other.pragma('wal_checkpoint(TRUNCATE)')
  other.close()
  const file = openSync(path, 'r+')
  writeSync(file, Buffer.alloc(statSync(path).size - 100, 0xa5), 0, undefined, 100)
  closeSync(file)
  const calls = [
    () => store.groups.recent('g7'),
    () => store.groups.append('g8', { payload: PAYLOAD }),
    () => store.transaction((tx) => tx.groups.append('g9')),
  ]
  for (const call of calls) {
    const error = await refusal(call())
    expect([error.code, error.message]).toEqual(['database_unavailable', expect.stringMatching(/malformed/)])
  }
  const opened = await refusal(openIn(folder))
  expect([opened.code, opened.message]).toEqual([
    'database_refused',
    expect.stringMatching(/can't be used: .*malformed/),
  ])
})

test.each(['/dev/null', tmpdir()])('%s is refused, as it is not a file', async (place) => {
  const error = await refusal(openStore({ url: `sqlite:${place}` }))
  expect([error.code, error.message]).toEqual(['invalid_input', expect.stringContaining('is not a file')])
})

test('a file that does not exist is not created where nothing is migrated', async () => {
  const folder = freshFolder()
  const file = join(folder, 'recentn.db')
  const missing = await refusal(openStore({ url: `sqlite:${file}`, migrate: false }))
  expect([missing.code, missing.message]).toEqual(['schema_missing', expect.stringContaining(file)])
  expect(readdirSync(folder)).toEqual([])
})

describe.each<[string, (folder: string) => Promise<Store>]>([
  ['a store with its own connection', openIn],
  ['an attached store', attachIn],
])('the file of %s', (_, open) => {
  async function opened(): Promise<{ store: Store; folder: string; file: string }> {
    const folder = freshFolder()
    await (await openStore({ url: `sqlite:${join(folder, 'recentn.db')}` })).close()
    const store = await open(folder)
    await store.groups.append('g')
    return { store, folder, file: join(folder, 'recentn.db') }
  }

  /** Once the loss is noticed, all is refused. */
  async function expectRefused(store: Store, file: string): Promise<void> {
    const noticed = () =>
      store.groups.append('g').then(
        () => false,
        () => true,
      )
    await eventually(20_000, 'it is noticed', noticed)
    for (const call of [
      () => store.groups.append('g'),
      () => store.transaction((tx) => tx.groups.append('g')),
      () => store.groups.recent('g'),
      () => store.ping(),
    ]) {
      const error = await refusal(call())
      expect([error.code, error.message]).toEqual([
        'database_unavailable',
        expect.stringContaining(`${file} was deleted`),
      ])
    }
  }

  it('is deleted: nothing more is acknowledged, and a new file is one for a store that is opened then', async () => {
    const { store, folder, file } = await opened()
    for (const name of readdirSync(folder)) rmSync(join(folder, name))
    await expectRefused(store, file)
    const again = await openIn(folder)
    expect((await again.groups.append('g')).id).toBe(0n)
    await expectRefused(store, file)
  })

  it('is replaced by another file: writes are refused, and that file stays as it is', async () => {
    const { store, folder, file } = await opened()
    copyFileSync(file, join(folder, 'copy'))
    renameSync(join(folder, 'copy'), file)
    const before = statSync(file, { bigint: true }).mtimeNs
    await expectRefused(store, file)
    expect(statSync(file, { bigint: true }).mtimeNs).toBe(before)
  })

  it('is put back: the store continues', async () => {
    const { store, folder, file } = await opened()
    renameSync(file, join(folder, 'aside'))
    await expectRefused(store, file)
    renameSync(join(folder, 'aside'), file)
    const { id } = await store.groups.append('g')
    const { totalAppended } = await store.groups.recent('g')
    expect(totalAppended).toBe(id + 1n)
  })
})

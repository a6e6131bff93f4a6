/** Backups of a SQLite file, copies over it by hand, and a `-wal` that is not its own. */
import { execFileSync, spawnSync } from 'node:child_process'
import { copyFileSync, existsSync, readdirSync, rmSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import BetterSqlite3 from 'better-sqlite3'
import { openStore, type Store } from '../../src/index'
import { command, run, temporaryFolder } from '../cli/support'
import { eventually, refusal } from '../contract/context'

const undo: (() => unknown)[] = []
afterEach(async () => {
  for (const step of undo.splice(0).reverse()) await step()
})

interface Place {
  folder: string
  file: string
  url: string
}

function place(): Place {
  const { path: folder, remove } = temporaryFolder()
  undo.push(remove)
  const file = join(folder, 'recentn.db')
  return { folder, file, url: `sqlite:${file}` }
}

async function opened({ url }: Place): Promise<Store> {
  const store = await openStore({ url, sweep: false, publish: false })
  undo.push(() => store.close())
  return store
}

const SCRIPT = `
const { openStore } = require(process.argv[1])
openStore({ url: process.argv[2], sweep: false, publish: false }).then(async (store) => {
  const payload = 'x'.repeat(2000)
  for (let n = 0; n < Number(process.argv[3]); n++) {
    await store.groups.appendMany(Array.from({ length: 50 }, (_, m) => ({ group: 'g' + m, payload })))
  }
  if (process.argv[4] === 'checkpoint') await store.dataSource.query('PRAGMA wal_checkpoint(PASSIVE)')
  process.kill(process.pid, 'SIGKILL')
})`

/** A process that appends to 50 groups this often, and is killed: its \`-wal\` stays. */
function killed({ url, file }: Place, rounds: number, last = ''): void {
  const { signal, stderr } = spawnSync(process.execPath, [
    '-e',
    SCRIPT,
    resolve('dist/src/index.js'),
    url,
    String(rounds),
    last,
  ])
  expect([signal, String(stderr)]).toEqual(['SIGKILL', ''])
  expect(statSync(`${file}-wal`).size).toBeGreaterThan(0)
}

const cli = (at: Place, ...args: string[]) => command(args, { DATABASE_URL: at.url })

it.each([
  [1, ''],
  [40, ''],
  [40, 'checkpoint'],
])('the -wal of a process that was killed after %i commits, and a %s, is its own', async (rounds, last) => {
  const at = place()
  killed(at, rounds, last)
  const store = await opened(at)
  expect((await store.groups.recent('g7')).totalAppended).toBe(BigInt(rounds))
})

it.each([1, 40])(
  'a backup copied over the file of a process killed after %i commits is refused, and restored',
  async (rounds) => {
    const at = place()
    const backup = join(at.folder, 'backup.db')
    await (await openStore({ url: at.url })).close()
    const first = await opened(at)
    await first.groups.append('g7')
    expect(await cli(at, 'backup', backup)).toMatchObject({ code: 0, stderr: '' })
    await first.close()
    killed(at, rounds)
    copyFileSync(backup, at.file)
    const error = await refusal(opened(at))
    expect([error.code, error.message]).toEqual(['database_refused', expect.stringContaining('recentn restore')])
    expect(await cli(at, 'restore', '--yes', backup)).toMatchObject({ code: 0, stderr: '' })
    const store = await opened(at)
    expect((await store.groups.recent('g7')).totalAppended).toBe(1n)
    expect(await store.dataSource.query('PRAGMA integrity_check')).toEqual([{ integrity_check: 'ok' }])
  },
)

it.each(['-wal', '-shm'])('nothing more is acknowledged once the %s is gone', async (ending) => {
  const at = place()
  const store = await opened(at)
  await store.groups.append('g')
  rmSync(at.file + ending)
  const isRefused = () =>
    refusal(store.groups.append('g')).then(
      ({ code }) => code === 'database_unavailable',
      () => false,
    )
  await eventually(20_000, 'it is noticed', isRefused)
  expect((await refusal(store.ping())).message).toContain(`${at.file}${ending} was deleted or replaced`)
})

it('a backup is whole while others write, is for its owner alone, and replaces no file', async () => {
  const at = place()
  const store = await opened(at)
  const backup = join(at.folder, 'backup.db')
  let isOver = false
  const writing = (async () => {
    while (!isOver) await store.groups.appendMany([{ group: 'a' }, { group: 'b' }])
  })()
  await eventually(20_000, 'appends', async () => (await store.groups.recent('a')).totalAppended > 20n)
  expect(await cli(at, 'backup', backup)).toMatchObject({ code: 0, stderr: '' })
  isOver = true
  await writing
  expect(statSync(backup).mode & 0o777).toBe(0o600)
  const copy = new BetterSqlite3(backup)
  const last = copy.prepare('SELECT group_key, last_id FROM recentn_groups ORDER BY group_key').all() as {
    last_id: number
  }[]
  copy.close()
  expect(last[0]?.last_id).toBeGreaterThan(19)
  expect(last[0]?.last_id).toBe(last[1]?.last_id)
  const again = await cli(at, 'backup', backup)
  expect([again.code, again.stderr]).toEqual([2, expect.stringContaining('exists already')])
})

it('a restore is refused while a process has the file open, for a file without the tables, and without --yes', async () => {
  const at = place()
  const store = await opened(at)
  await store.groups.append('g')
  const backup = join(at.folder, 'backup.db')
  const other = join(at.folder, 'other.db')
  await cli(at, 'backup', backup)
  const foreign = new BetterSqlite3(other)
  foreign.exec('CREATE TABLE t (n integer)')
  foreign.close()
  for (const [exit, args, why] of [
    [1, ['--yes', backup], 'stop every process'],
    [1, ['--yes', other], 'no tables of recentn'],
    [1, ['--yes', join(at.folder, 'missing.db')], 'cannot be copied'],
    [2, [backup], 'needs --yes'],
  ] as const) {
    const { code, stderr } = await cli(at, 'restore', ...args)
    expect([code, stderr]).toEqual([exit, expect.stringContaining(why)])
  }
  expect((await store.groups.append('g')).id).toBe(1n)
  expect(readdirSync(at.folder).filter((name) => name.endsWith('.new'))).toEqual([])
})

it('a restore makes a database that is not there, and servers have their own tools', async () => {
  const at = place()
  const store = await opened(at)
  await store.groups.append('g')
  const backup = join(at.folder, 'backup.db')
  await cli(at, 'backup', backup)
  const there = place()
  execFileSync('cp', [`${at.file}-wal`, `${there.file}-wal`])
  expect(await run(['restore', backup], { env: { DATABASE_URL: there.url } })).toMatchObject({ code: 0, stderr: '' })
  expect(existsSync(`${there.file}-wal`)).toBe(false)
  expect((await (await opened(there)).groups.append('g')).id).toBe(1n)
  const server = await run(['backup', backup], { env: { DATABASE_URL: 'mysql://root@127.0.0.1:1/a' } })
  expect([server.code, server.stderr]).toEqual([2, expect.stringContaining('mysqldump --single-transaction')])
})

/**
 * `node scripts/idle.mjs [URL]`: the processor time of an idle server, and of an idle store with a worker, a consumer, a
 * followed table and a poller, each in its own process, as a share of a core over a minute. Needs a build and Linux.
 * The database (default: SQLite in memory) must be one that may be written to.
 */
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { MAIN } from './lib.mjs'

const url = process.argv[2] ?? 'sqlite::memory:'
/** By then nothing has happened for long enough, and what was loaded is compiled. */
const QUIET_SECONDS = 120
const SECONDS = 60
/** The clock ticks of a second in /proc. */
const TICKS = 100

const STORE = `
const { openStore } = require(${JSON.stringify(MAIN.replace(/main\.js$/, 'index.js'))})
openStore({ url: ${JSON.stringify(url)} }).then(async (store) => {
  const query = (sql) => store.dataSource.query(sql)
  await query('DROP TABLE IF EXISTS idle_rows')
  await query('CREATE TABLE idle_rows (id integer NOT NULL PRIMARY KEY, sync bigint NULL, status varchar(40))')
  await query('CREATE INDEX idle_rows_sync ON idle_rows (sync)')
  await query('CREATE INDEX idle_rows_status ON idle_rows (status, id)')
  await store.feeds.follow('idle_rows', { syncColumn: 'sync', key: 'id', feed: 'idle' })
  await store.queues.ensure('idle')
  store.queues.work('idle', () => {})
  store.feeds.consume('idle', 'idle', () => {})
  store.poll('idle_rows', () => {}, { status: 'status' })
})`

async function measured(what, args, env = {}) {
  const child = spawn(process.execPath, args, {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...process.env, ...env },
  })
  const ticks = () => {
    const [, rest] = readFileSync(`/proc/${child.pid}/stat`, 'utf8').split(') ')
    const fields = rest.split(' ')
    return Number(fields[11]) + Number(fields[12])
  }
  await sleep(QUIET_SECONDS * 1000)
  const before = ticks()
  await sleep(SECONDS * 1000)
  process.stdout.write(`${what}: ${(((ticks() - before) / TICKS / SECONDS) * 100).toFixed(2)} % of a core\n`)
  child.kill()
}

await Promise.all([
  measured('server', [MAIN], { DATABASE_URL: url, PORT: '0' }),
  measured('store with a worker, a consumer, a followed table and a poller', ['-e', STORE]),
])

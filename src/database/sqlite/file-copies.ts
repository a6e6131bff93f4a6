/**
 * Copies of a SQLite file, and going back to one. Invariant: a file gets its name once it is whole and on disk. A restored
 * one gets it while no other process has the old one open, whose `-wal` goes with it.
 */
import { closeSync, existsSync, fsyncSync, openSync, renameSync, rmSync } from 'node:fs'
import path from 'node:path'
import type BetterSqlite3 from 'better-sqlite3'
import { RecentnError } from '../../shared/errors'
import { sqliteFile } from '../mysql/server-url'
import { sqliteDriver } from '../opening/drivers'
import { tablesOf } from '../tables'
import { requireOwnWal } from './watched-file'

type Driver = new (file: string, options?: BetterSqlite3.Options) => BetterSqlite3.Database

const BUSY_MS = 30_000
const OTHERS_MS = 1000

export async function backUp(source: string, file: string, tablePrefix: string | undefined): Promise<void> {
  if (existsSync(file)) throw new RecentnError('invalid_input', `${file} exists already`)
  await requireOwnWal(source)
  copyInto(`${file}.new`, source, tablePrefix)
  moveTo(file, `${file}.new`)
}

/** Puts a copy in the place of the database. Throws `database_refused`, also while another connection has that open. */
export function restore(target: string, file: string, tablePrefix: string | undefined): void {
  copyInto(`${target}.new`, file, tablePrefix)
  if (existsSync(target)) replace(target, `${target}.new`)
  else {
    removeBeside(target)
    moveTo(target, `${target}.new`)
  }
}

/** The file of a URL. Throws `invalid_input` for a database that has none. */
export function fileOf(url: string): string {
  const file = url.startsWith('sqlite:') ? sqliteFile(url) : null
  if (file !== null && file !== ':memory:') return path.resolve(file)
  const tools = 'use "mysqldump --single-transaction" or "mariadb-dump --single-transaction"'
  throw new RecentnError('invalid_input', `this is for the file of a SQLite database: for a server, ${tools}`)
}

function open(file: string, options: BetterSqlite3.Options): BetterSqlite3.Database {
  return new (sqliteDriver() as Driver)(file, options)
}

/** Throws `database_refused` where the source is not a sound database with recentn's tables. */
function copyInto(file: string, source: string, tablePrefix: string | undefined): void {
  rmSync(file, { force: true })
  closeSync(openSync(file, 'wx', 0o600))
  try {
    const database = open(source, { fileMustExist: true, timeout: BUSY_MS })
    try {
      const known = database.prepare('SELECT 1 FROM sqlite_schema WHERE name = ?').get(tablesOf(tablePrefix).schema)
      if (known === undefined) throw new Error('it has no tables of recentn')
      database.prepare('VACUUM INTO ?').run(file)
    } finally {
      database.close()
    }
    const copy = open(file, { readonly: true })
    const found = copy.pragma('quick_check(1)', { simple: true })
    copy.close()
    if (found !== 'ok') throw new Error(String(found))
  } catch (error) {
    rmSync(file, { force: true })
    throw new RecentnError('database_refused', `${source} cannot be copied: ${(error as Error).message}`)
  }
}

/** The file is on disk before it has the name, and the name before this returns. */
function moveTo(target: string, file: string): void {
  sync(file)
  renameSync(file, target)
  if (process.platform !== 'win32') sync(path.dirname(path.resolve(target)))
}

function sync(file: string): void {
  const handle = openSync(file, 'r')
  fsyncSync(handle)
  closeSync(handle)
}

function replace(target: string, file: string): void {
  const old = open(target, { timeout: OTHERS_MS })
  try {
    try {
      // Fails while another connection has the file open; removes the -wal, and keeps others out until the end.
      old.pragma('locking_mode = EXCLUSIVE')
      old.pragma('journal_mode = DELETE')
      old.exec('BEGIN EXCLUSIVE')
    } catch (error) {
      const { code, message } = error as { code?: string; message: string }
      if (!/^SQLITE_(CORRUPT|NOTADB)/.test(code ?? '')) {
        throw new RecentnError('database_refused', `stop every process that has ${target} open first: ${message}`)
      }
    }
    removeBeside(target)
    moveTo(target, file)
  } finally {
    rmSync(file, { force: true })
    old.close()
  }
}

function removeBeside(target: string): void {
  for (const ending of ['-wal', '-shm', '-journal']) rmSync(target + ending, { force: true })
}

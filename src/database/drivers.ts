/**
 * The drivers of the databases that we open ourselves. They are loaded when a URL first asks for them, so that who uses
 * MySQL needs no SQLite, and from where recentn is installed: TypeORM would look from its own place, where a package
 * manager may have put another version, or none.
 */
import { RecentnError } from '../errors'

const COMPILING =
  'where npm finds no prebuilt one it is compiled, which takes python3, make and a C++ compiler; a mysql:// or mariadb:// URL does without it'

const SQLITE = 'better-sqlite3'

/** Where it is loaded from, in place of what recentn finds beside itself. */
let sqlitePlace: string = SQLITE

/** Whether better-sqlite3 is installed where recentn finds it, compiled or not. */
export function isSqliteInstalled(): boolean {
  try {
    require.resolve(SQLITE)
    return true
  } catch {
    return false
  }
}

/** From now on better-sqlite3 is loaded from this folder of a package. */
export function loadSqliteFrom(folder: string): void {
  sqlitePlace = folder
}

/** better-sqlite3, its compiled part included. Throws `database_refused`, with what to do about it. */
export function sqliteDriver(): unknown {
  let cause: unknown
  try {
    const Sqlite = require(sqlitePlace) as typeof import('better-sqlite3')
    // The compiled part is loaded with the first database.
    new Sqlite(':memory:').close()
    return Sqlite
  } catch (error) {
    cause = error
  }
  const { code, message } = cause as NodeJS.ErrnoException
  const missing = code === 'MODULE_NOT_FOUND' && message.includes("'better-sqlite3'")
  const text = missing
    ? `a sqlite: URL needs the package better-sqlite3, which is not installed: npm install better-sqlite3@12 (${COMPILING})`
    : `the SQLite driver better-sqlite3 is installed, but does not load (${message.split('\n')[0]}): npm rebuild better-sqlite3 (${COMPILING})`
  throw new RecentnError('database_refused', text)
}

export function mysqlDriver(): unknown {
  return require('mysql2')
}

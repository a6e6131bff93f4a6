/**
 * The drivers of the databases that we open ourselves. A driver is loaded when a URL first needs it, so that users of
 * MySQL need no SQLite. It is loaded from where recentn is installed: TypeORM would look beside itself, where a package
 * manager may have put another version, or none.
 */
import { RecentnError } from '../errors'

const COMPILING =
  'where npm finds no prebuilt one it is compiled, which takes python3, make and a C++ compiler; a mysql:// or mariadb:// URL does without it'

const SQLITE = 'better-sqlite3'

/** The package name or folder from which better-sqlite3 is loaded. */
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

/** Makes later calls load better-sqlite3 from this folder. */
export function loadSqliteFrom(folder: string): void {
  sqlitePlace = folder
}

/** Loads better-sqlite3 with its compiled part. Throws `database_refused`, which says what to do. */
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

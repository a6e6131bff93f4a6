/**
 * The drivers of the databases that we open ourselves. A driver is loaded when a URL first needs it, so that users of
 * MySQL need no SQLite. It is loaded from where recentn is installed: TypeORM would look beside itself, where a package
 * manager may have put another version, or none.
 */
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { RecentnError } from '../../shared/errors'

const MISSING = 'a sqlite: URL needs the SQLite driver: npm install recentn better-sqlite3'
const COMPILING =
  'where npm finds no prebuilt one it is compiled, which takes python3, make and a C++ compiler; a mysql:// or mariadb:// URL does without it'

const SQLITE = 'better-sqlite3'

const WARNING = 'RECENTN_SQLITE_DRIVER'
const ABORTS =
  'this better-sqlite3 was compiled for Node 24.19 or later, where it may abort the process at any time (nodejs/node#65446): use better-sqlite3 13, or Node 22'

/**
 * The call in a driver that was compiled with the headers of Node 24.19 and later. Their ObjectWrap removes a hook when
 * it is collected, and Node 24 aborts if no script is running then. Version 13 has no ObjectWrap.
 */
const FATAL_CALL = 'RemoveEnvironmentCleanupHook'

export function mayAbort(place: string): boolean {
  try {
    const folder = path.dirname(require.resolve(`${place}/package.json`))
    return readFileSync(path.join(folder, 'build', 'Release', 'better_sqlite3.node')).includes(FATAL_CALL)
  } catch {
    return false // compiled for another Node, or elsewhere
  }
}

let loaded: unknown

/** Loads better-sqlite3 with its compiled part. Throws `database_refused`, which says what to do. */
export function sqliteDriver(): unknown {
  if (loaded !== undefined) return loaded
  try {
    const Sqlite = require(SQLITE) as typeof import('better-sqlite3')
    // The compiled part is loaded with the first database.
    new Sqlite(':memory:').close()
    loaded = Sqlite
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    const missing = code === 'MODULE_NOT_FOUND' && message.includes("'better-sqlite3'")
    const text = missing
      ? MISSING
      : `the SQLite driver better-sqlite3 is installed, but does not load (${message.split('\n')[0]}): npm rebuild better-sqlite3 (${COMPILING})`
    throw new RecentnError('database_refused', text)
  }
  if (process.versions.node.startsWith('24.') && mayAbort(SQLITE)) process.emitWarning(ABORTS, { code: WARNING })
  return loaded
}

export const mysqlDriver = (): unknown => require('mysql2')

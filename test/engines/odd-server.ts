/** The tests' own server with settings that we would not choose, and that some users have. */
import { type Connection, createConnection, type RowDataPacket } from 'mysql2/promise'
import { dockerServer } from '../support/servers/docker'
import { allowedSources } from '../support/servers/find-server'
import { packagesServer } from '../support/servers/packages'
import { programServer } from '../support/servers/program'
import {
  awaitVersion,
  type DataPlace,
  messageOf,
  mysqlUri,
  type Server,
  type ServerEngine,
} from '../support/servers/server'

const SOURCES = { docker: dockerServer, program: programServer, packages: packagesServer }

/** In every one of these a statement of the store could mean something else. */
const COMMON = [
  '--sql-mode=ANSI_QUOTES,NO_BACKSLASH_ESCAPES,PIPES_AS_CONCAT,IGNORE_SPACE,NO_UNSIGNED_SUBTRACTION',
  '--transaction-isolation=SERIALIZABLE',
  '--character-set-server=latin1',
  '--collation-server=latin1_swedish_ci',
  '--default-time-zone=-08:00',
  '--auto-increment-increment=3',
  '--auto-increment-offset=2',
  '--default-storage-engine=MyISAM',
  '--innodb-strict-mode=OFF',
  '--log-bin=binlog',
  '--binlog-row-image=MINIMAL',
  '--innodb-rollback-on-timeout=ON',
  // MariaDB changes it only where it was set at the start.
  '--max-user-connections=400',
  '--server-id=7',
  '--lower-case-table-names=1',
]

const OWN: Record<ServerEngine, string[]> = {
  mariadb: ['--gtid-strict-mode=ON', '--innodb-snapshot-isolation=OFF', '--innodb-force-primary-key=ON'],
  mysql: [
    '--secure-file-priv=',
    '--sql-require-primary-key=ON',
    '--innodb-autoinc-lock-mode=2',
    '--gtid-mode=ON',
    '--enforce-gtid-consistency=ON',
  ],
}

export interface OddServer {
  /** As an account that may do everything. */
  admin: Connection
  /** A new database, made without a word about encodings, for an account that may do all in it and nothing else. */
  database(): Promise<string>
  stop(): Promise<void>
}

export async function startOddServer(engine: ServerEngine): Promise<OddServer> {
  const server = await startServerWith(engine, [...COMMON, ...OWN[engine]])
  const admin = await createConnection({ uri: mysqlUri(server.url), supportBigNumbers: true })
  let databases = 0
  return {
    admin,
    database: async () => {
      const name = `Odd_${++databases}`
      await admin.query(`CREATE DATABASE ${name}`)
      await admin.query(`CREATE USER ${name} IDENTIFIED BY 'odd'`)
      await admin.query(`GRANT ALL ON ${name}.* TO ${name}`)
      const url = new URL(server.url)
      url.username = name
      url.password = 'odd'
      url.pathname = `/${name}`
      return url.toString()
    },
    stop: async () => {
      admin.destroy()
      await server.stop()
    },
  }
}

/** A server with these settings, from the first source that can. Throws the reasons of all. */
export async function startServerWith(engine: ServerEngine, settings: string[], place?: DataPlace): Promise<Server> {
  const reasons: string[] = []
  for (const name of allowedSources()) {
    try {
      const server = await SOURCES[name](engine, settings, place ?? { memory: true })
      await awaitVersion(server.url, 60)
      return server
    } catch (error) {
      reasons.push(messageOf(error))
    }
  }
  throw new Error(reasons.join('; '))
}

/** Runs `work` while a global variable is another; connections that are made until it ends have it. */
export async function withGlobal<T>(
  admin: Connection,
  name: string,
  value: string,
  work: () => Promise<T>,
): Promise<T> {
  const [rows] = await admin.query<RowDataPacket[]>(`SELECT @@GLOBAL.${name} AS value`)
  const before = rows[0]?.value
  await admin.query(`SET GLOBAL ${name} = ${value}`)
  try {
    return await work()
  } finally {
    // sql_select_limit takes no text, and JavaScript has no number that is as large.
    await admin.query(`SET GLOBAL ${name} = ${/^\d+$/.test(before) ? before : admin.escape(before)}`)
  }
}

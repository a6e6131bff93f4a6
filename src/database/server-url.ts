/** Parses `mysql://` and `mariadb://` URLs: the server, the user, the database, and how the connection is encrypted. */
import { readFileSync } from 'node:fs'
import { invalidInput, RecentnError } from '../errors'

export interface ServerUrl {
  type: 'mysql' | 'mariadb'
  host: string
  port: number
  username: string
  password: string
  database: string
  ssl?: { rejectUnauthorized: boolean; verifyIdentity?: boolean; ca?: string }
}

/** The names are those of MySQL's clients. `REQUIRED` protects against listeners, but not against a fake server. */
const SSL_MODES = ['DISABLED', 'REQUIRED', 'VERIFY_CA', 'VERIFY_IDENTITY'] as const
const PARAMETERS = ['ssl-mode', 'ssl-ca']

/** Throws `invalid_input` for a URL that is not valid. */
export function parseServerUrl(url: string): ServerUrl {
  const server = URL.canParse(url) ? new URL(url) : null
  const type = server?.protocol === 'mysql:' ? 'mysql' : server?.protocol === 'mariadb:' ? 'mariadb' : null
  if (!server || !type) throw refusedUrl('must begin with sqlite:, mysql:// or mariadb://')
  if (server.hash) throw refusedUrl('takes no fragment')
  const [username, password, database] = [server.username, server.password, server.pathname.slice(1)].map(decoded) as [
    string,
    string,
    string,
  ]
  if (!server.hostname || !database || database.includes('/')) {
    throw refusedUrl('must be of the form mysql://user:password@host:port/database')
  }
  return {
    type,
    host: server.hostname.replace(/^\[(.*)\]$/, '$1'),
    port: server.port ? Number(server.port) : 3306,
    username,
    password,
    database,
    ssl: sslOf(server.searchParams),
  }
}

function sslOf(parameters: URLSearchParams): ServerUrl['ssl'] {
  for (const name of new Set(parameters.keys())) {
    if (!PARAMETERS.includes(name)) throw refusedUrl(`takes no parameters but ${PARAMETERS.join(' and ')}`)
    if (parameters.getAll(name).length > 1) throw refusedUrl(`takes ${name} once`)
  }
  const file = parameters.get('ssl-ca')
  const mode = parameters.get('ssl-mode') ?? (file === null ? 'DISABLED' : 'VERIFY_CA')
  if (!(SSL_MODES as readonly string[]).includes(mode)) {
    throw refusedUrl(`takes as ssl-mode one of ${SSL_MODES.join(', ')}`)
  }
  if (!mode.startsWith('VERIFY')) {
    if (file !== null) throw refusedUrl('takes ssl-ca with ssl-mode VERIFY_CA or VERIFY_IDENTITY')
    return mode === 'REQUIRED' ? { rejectUnauthorized: false } : undefined
  }
  const ca = file === null ? {} : { ca: textOf(file) }
  return { rejectUnauthorized: true, verifyIdentity: mode === 'VERIFY_IDENTITY', ...ca }
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw refusedUrl(`names an ssl-ca that can't be read: ${(error as Error).message}`)
  }
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    throw refusedUrl('has percent-encoding that is not UTF-8')
  }
}

export function refusedUrl(detail: string): RecentnError {
  return invalidInput([{ pointer: '/url', detail }])
}

export const NAMELESS_FILE = 'must name a file, as sqlite:./data/recentn.db does'

/** The fault of a database URL, without its password; null if there is none. */
export function urlFault(url: string): string | null {
  if (/^sqlite:/.test(url)) return url === 'sqlite:' ? NAMELESS_FILE : null
  try {
    parseServerUrl(url)
    return null
  } catch (error) {
    if (!(error instanceof RecentnError)) throw error
    return error.faults.map(({ detail }) => detail).join('; ')
  }
}

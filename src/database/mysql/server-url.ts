/** Parses `mysql://` and `mariadb://` URLs: the hosts, the user, the database, and how the connection is encrypted. */
import { readFileSync } from 'node:fs'
import { invalidInput, RecentnError } from '../../shared/errors'
import type { ServerHost } from './server-hosts'

interface ServerUrl {
  type: 'mysql' | 'mariadb'
  /** One or more, in the order in which they are tried. */
  hosts: ServerHost[]
  username: string
  password: string
  database: string
  ssl?: { rejectUnauthorized: boolean; verifyIdentity?: boolean; ca?: string }
}

/** The names are those of MySQL's clients. `REQUIRED` protects against listeners, but not against a fake server. */
const SSL_MODES = ['DISABLED', 'REQUIRED', 'VERIFY_CA', 'VERIFY_IDENTITY'] as const
const PARAMETERS = ['ssl-mode', 'ssl-ca']

const SCHEME = /^(mysql|mariadb):\/\/([^/?#]*)(.*)$/s
const FORM = 'must be of the form mysql://user:password@host:port/database, with commas between several hosts'
const ENCODED =
  'has an @ behind a /, ? or #: in the user and the password write / as %2F, ? as %3F, # as %23, @ as %40 and % as %25'
const DEFAULT_PORT = 3306

/** Throws `invalid_input`, with every fault, for a URL that is not valid. */
export function parseServerUrl(url: string): ServerUrl {
  const [, type, authority = '', rest = ''] = SCHEME.exec(url.trim()) ?? []
  if (type !== 'mysql' && type !== 'mariadb') {
    const why = /^\s*postgres(ql)?:/i.test(url) ? ': PostgreSQL is not supported' : ''
    throw refusedUrl(`must begin with sqlite:, mysql:// or mariadb://${why}`)
  }
  // A password that is cut off here would be taken for a port or a database, and shown.
  if (!authority.includes('@') ? rest.includes('@') : /^[^?]*@/s.test(rest)) throw refusedUrl(ENCODED)
  const faults: string[] = []
  const at = authority.lastIndexOf('@') + 1
  const hosts = hostsOf(authority.slice(at), faults)
  // A URL has one host: the others parts are read with any.
  const whole = `${type}://${authority.slice(0, at)}host${rest}`
  if (!URL.canParse(whole)) throw refusedUrl(FORM)
  const server = new URL(whole)
  if (server.hash) faults.push('takes no fragment')
  const [username = '', password = '', database = ''] = [
    server.username,
    server.password,
    server.pathname.slice(1),
  ].map((part) => decoded(part, faults))
  if (!database) faults.push('names no database')
  if ((!database || database.includes('/')) && !faults.includes(FORM)) faults.push(FORM)
  const ssl = sslOf(server.searchParams, faults)
  if (faults.length > 0) throw refusedUrl(...faults)
  return { type, hosts, username, password, database, ssl }
}

function hostsOf(list: string, faults: string[]): ServerHost[] {
  const hosts: ServerHost[] = []
  if (list === '') faults.push(FORM)
  else
    for (const [place, text] of list.split(',').entries()) {
      if (text === '') {
        faults.push(`names no host at place ${place + 1} of its list`)
        continue
      }
      const [, bracketed, name, port] = HOST.exec(text) ?? []
      const host = bracketed ?? name
      if (host === undefined || !URL.canParse(`mysql://${bracketed ? `[${bracketed}]` : host}/`)) {
        faults.push(`has an invalid host: ${withoutSecret(text)} (an IPv6 address is written in brackets)`)
        continue
      }
      const one = { host, port: port ? Number(port) : DEFAULT_PORT }
      if (one.port < 1 || one.port > 65_535) faults.push(`has an invalid port for the host ${host} (1 to 65535)`)
      const isTwice = hosts.some((other) => other.host === one.host && other.port === one.port)
      if (isTwice) faults.push(`names the host ${text} twice`)
      hosts.push(one)
    }
  return hosts
}

/** The part after a colon may be the password of a URL without its host, unless the text looks like an IPv6 address. */
function withoutSecret(text: string): string {
  return /^[\da-f]*:[\da-f]*:[\da-f:.]*$/i.test(text) ? text : text.replace(/:.*/s, ':…')
}

/** An IPv6 address in brackets, or a name; and a port. */
const HOST = /^(?:\[([^\]]+)\]|([^:[\]]+))(?::(\d*))?$/

function sslOf(parameters: URLSearchParams, faults: string[]): ServerUrl['ssl'] {
  const known = faults.length
  for (const name of new Set(parameters.keys())) {
    if (!PARAMETERS.includes(name)) faults.push(`takes no parameters but ${PARAMETERS.join(' and ')}`)
    else if (parameters.getAll(name).length > 1) faults.push(`takes ${name} once`)
  }
  const file = parameters.get('ssl-ca')
  const mode = parameters.get('ssl-mode') ?? (file === null ? 'DISABLED' : 'VERIFY_CA')
  const isVerified = mode.startsWith('VERIFY')
  if (!(SSL_MODES as readonly string[]).includes(mode)) {
    faults.push(`takes as ssl-mode one of ${SSL_MODES.join(', ')}`)
  } else if (!isVerified && file !== null) faults.push('takes ssl-ca with ssl-mode VERIFY_CA or VERIFY_IDENTITY')
  if (faults.length > known || mode === 'DISABLED') return undefined
  if (!isVerified) return { rejectUnauthorized: false }
  const ca = file === null ? {} : { ca: textOf(file, faults) }
  return { rejectUnauthorized: true, verifyIdentity: mode === 'VERIFY_IDENTITY', ...ca }
}

function textOf(file: string, faults: string[]): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    faults.push(`names an ssl-ca that can't be read: ${(error as Error).message}`)
    return ''
  }
}

function decoded(part: string, faults: string[]): string {
  try {
    return decodeURIComponent(part)
  } catch {
    faults.push('has invalid percent-encoding: write a % of the user or the password as %25')
    return ''
  }
}

export function refusedUrl(...details: string[]): RecentnError {
  return invalidInput(details.map((detail) => ({ pointer: '/url', detail })))
}

export const NAMELESS_FILE = 'must name a file, as sqlite:./data/recentn.db and sqlite:/srv/recentn.db do'

/** The file of a `sqlite:` URL, or `:memory:`; null if it names none. A text after just two slashes would be a host. */
export function sqliteFile(url: string): string | null {
  return /^sqlite:(?:\/\/(?=\/))?((?!\/\/[^/]).+)$/s.exec(url)?.[1] ?? null
}

/** The fault of a password that is given beside a valid database URL; null if there is none. */
export function passwordFault(url: string): string | null {
  if (url.startsWith('sqlite:')) return 'is for mysql:// and mariadb:// URLs'
  return parseServerUrl(url).password === '' ? null : 'must not be given beside that of the URL'
}

/** The fault of a database URL, without its password; null if there is none. */
export function urlFault(url: string): string | null {
  if (url.startsWith('sqlite:')) return sqliteFile(url) === null ? NAMELESS_FILE : null
  try {
    parseServerUrl(url)
    return null
  } catch (error) {
    if (!(error instanceof RecentnError)) throw error
    return error.faults.map(({ detail }) => detail).join('; ')
  }
}

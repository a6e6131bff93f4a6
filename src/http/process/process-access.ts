/**
 * Access to the server of the process. Once a key has been made, every request needs one, for ever. Before that, every
 * client that reaches the server may do everything. So it listens on loopback only, and accepts only requests whose
 * Host is local and that no page of another origin has sent.
 *
 * A loopback address is open to every program of the machine, and so to web pages in a browser on it. It may be one whose host name
 * resolves to 127.0.0.1 (DNS rebinding), one of another local server, or any that submits a form. But a page cannot forge `Host`,
 * `Origin` and `Sec-Fetch-Site`, and browsers send at least one of the latter two with every request that a page of another origin
 * makes.
 */
import type { IncomingMessage } from 'node:http'
import type { RequestHandler } from 'express'
import { endsWithin } from '../../shared/backoff'
import { RecentnError } from '../../shared/errors'
import { CLOCK } from '../../shared/platform'
import { innerOf } from '../../store/inner'
import type { Store } from '../../store/types'
import { ALONE_MS, byKey, EVERYTHING, type Guard, guardOf } from '../access'

interface ProcessAccess {
  guard: Guard
  /** The middleware that every request must pass. */
  door: RequestHandler
}

/** `allowAnonymous` lets everyone do everything, whether or not there are keys. */
export function processAccess(store: Store, allowAnonymous: boolean, corsOrigins: readonly string[]): ProcessAccess {
  if (allowAnonymous) return { guard: guardOf('anonymous', store), door: (_request, _response, next) => next() }
  const local = localOnly(corsOrigins)
  const { keys } = innerOf(store)
  // Asked now, so that the first request need not wait for the database before it is refused.
  keys.exist().catch(() => {})
  return {
    guard(request, scope, isAlone) {
      if (scope === null) return EVERYTHING
      const byKeyIf = (exist: boolean) => (exist ? byKey(keys, request, scope, isAlone) : EVERYTHING)
      const known = keys.known()
      if (known !== null) return byKeyIf(known)
      const asked = keys.exist()
      return (isAlone ? soon(asked) : asked).then(byKeyIf)
    },
    door(request, response, next) {
      const enter = (exist: boolean) => (exist ? next() : local(request, response, next))
      const known = keys.known()
      return known === null ? soon(keys.exist()).then(enter) : enter(known)
    },
  }
}

/** False if the answer takes too long: while the database is away the process must still answer `/livez`. */
async function soon(answer: Promise<boolean>): Promise<boolean> {
  return (await endsWithin(CLOCK, ALONE_MS, answer).catch(() => false)) && answer
}

const LOCAL_AUTHORITY = /^(localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::(\d{1,5}))?$/i

const HTTP_PORT = 80

function isLocalOrigin(origin: string): boolean {
  const match = /^https?:\/\/([^/]+)$/i.exec(origin)
  return match?.[1] !== undefined && LOCAL_AUTHORITY.test(match[1])
}

/** The origin of this server's own pages by the request's Host; null if the Host is not this server's. */
function ownOriginOf(host: string, own: number | undefined): string | null {
  const [, name = '', port] = LOCAL_AUTHORITY.exec(host) ?? []
  // Browsers leave out the port 80 only; other clients may leave out any port.
  if (name === '' || (port !== undefined && Number(port) !== own)) return null
  return `http://${name.toLowerCase()}${own === HTTP_PORT ? '' : `:${own}`}`
}

/** Whether the request comes from no page of another origin. A followed link is allowed. */
function isOwnFetch({ method, headers }: IncomingMessage): boolean {
  const site = headers['sec-fetch-site']
  if (site === undefined || site === 'same-origin' || site === 'none') return true
  const isLink = headers['sec-fetch-mode'] === 'navigate' && headers['sec-fetch-dest'] === 'document'
  return isLink && (method === 'GET' || method === 'HEAD')
}

/**
 * Throws `forbidden` for a request whose Host is not this server's, and for one from a page of another origin, unless
 * that origin is local and in `origins`.
 */
function localOnly(origins: readonly string[]): RequestHandler {
  const allowed = new Set(origins.filter(isLocalOrigin))
  // Nearly every request has the Host of the one before.
  let last: { host: string; port: number | undefined; own: string | null } | null = null
  return (request, _response, next) => {
    const { origin, host = '' } = request.headers
    const port = request.socket.localPort
    if (last === null || last.host !== host || last.port !== port) last = { host, port, own: ownOriginOf(host, port) }
    const { own } = last
    if (own === null) {
      const detail = 'The Host header must be local and of this server: localhost, 127.0.0.1 or [::1], with its port'
      throw new RecentnError('forbidden', detail)
    }
    const isOwn = origin === undefined ? isOwnFetch(request) : origin.toLowerCase() === own || allowed.has(origin)
    if (!isOwn)
      throw new RecentnError('forbidden', 'A server without API keys accepts no requests from pages of other origins')
    next()
  }
}

/**
 * The guard of a server without keys. On a loopback address it is open to every program of the machine, and so to a web
 * page that a browser on it shows: one whose host name is made to resolve to 127.0.0.1 (DNS rebinding), one of another
 * local server, or any one that has a form sent. A page can't forge `Host`, `Origin` and `Sec-Fetch-Site`, though, and
 * browsers send at least one of the latter two with all that a page of another origin has them ask.
 */
import type { IncomingMessage } from 'node:http'
import type { RequestHandler } from 'express'
import { RecentnError } from '../../errors'

const LOCAL_AUTHORITY = /^(localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::(\d{1,5}))?$/i

const HTTP_PORT = 80

/** Whether an origin is of a server on this machine. */
function isLocalOrigin(origin: string): boolean {
  const match = /^https?:\/\/([^/]+)$/i.exec(origin)
  return match?.[1] !== undefined && LOCAL_AUTHORITY.test(match[1])
}

/** The origin of this server's own pages, as the request's Host names it; null where that is not this server's. */
function ownOriginOf({ headers: { host = '' }, socket }: IncomingMessage): string | null {
  const [, name = '', port] = LOCAL_AUTHORITY.exec(host) ?? []
  const own = socket.localPort
  // A browser leaves out the port of HTTP only; other clients may leave out any.
  if (name === '' || (port !== undefined && Number(port) !== own)) return null
  return `http://${name.toLowerCase()}${own === HTTP_PORT ? '' : `:${own}`}`
}

/** Whether no page of another origin is behind the request; a link that somebody follows to here is taken. */
function isOwnFetch({ method, headers }: IncomingMessage): boolean {
  const site = headers['sec-fetch-site']
  if (site === undefined || site === 'same-origin' || site === 'none') return true
  const isLink = headers['sec-fetch-mode'] === 'navigate' && headers['sec-fetch-dest'] === 'document'
  return isLink && (method === 'GET' || method === 'HEAD')
}

/**
 * Throws `forbidden` for a request whose Host is not this server's, and for one that a page of another origin has sent:
 * unless `origins` lists that one, and it is local.
 */
export function localOnly(origins: readonly string[]): RequestHandler {
  const allowed = new Set(origins.filter(isLocalOrigin))
  return (request, _response, next) => {
    const { origin } = request.headers
    const own = ownOriginOf(request)
    if (own === null) {
      const detail = 'The Host header must be local and of this server: localhost, 127.0.0.1 or [::1], with its port'
      throw new RecentnError('forbidden', detail)
    }
    const isOwn = origin === undefined ? isOwnFetch(request) : origin.toLowerCase() === own || allowed.has(origin)
    if (!isOwn) throw new RecentnError('forbidden', 'A server without keys takes nothing from pages of other origins')
    next()
  }
}

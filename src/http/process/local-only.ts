/**
 * The guard against DNS rebinding. A server without keys on a loopback address is open to every program of the machine,
 * and so to a web page that a browser on it shows, once the page's host name is made to resolve to 127.0.0.1. The page
 * can't forge the Host and Origin headers, though.
 */
import type { RequestHandler } from 'express'
import { RecentnError } from '../../errors'

const LOCAL_AUTHORITY = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d{1,5})?$/i

/** Whether a Host header names this machine, with any port. */
export function isLocalAuthority(authority: string): boolean {
  return LOCAL_AUTHORITY.test(authority)
}

function isLocalOrigin(origin: string): boolean {
  const match = /^https?:\/\/([^/]+)$/i.exec(origin)
  return match?.[1] !== undefined && isLocalAuthority(match[1])
}

/** Throws `forbidden` for a request whose Host or Origin is not local. */
export const localOnly: RequestHandler = (request, _response, next) => {
  const { host, origin } = request.headers
  if (host === undefined || !isLocalAuthority(host)) {
    throw new RecentnError('forbidden', 'The Host header must be local: localhost, 127.0.0.1 or [::1]')
  }
  if (origin !== undefined && !isLocalOrigin(origin)) {
    throw new RecentnError('forbidden', 'The Origin header must be local: localhost, 127.0.0.1 or [::1]')
  }
  next()
}

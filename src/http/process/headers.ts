/** Headers of every answer of the process: what browsers may do with it, and the pages of which origins may read it. */
import type { ServerResponse } from 'node:http'
import type { RequestHandler } from 'express'

/**
 * An answer is data: never a page, a script, a frame, a picture in another site's page (which asks without an Origin, so
 * that a server without keys would answer), or a referrer with names in it.
 */
export const SECURITY_HEADERS: Readonly<Record<string, string>> = {
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Cross-Origin-Opener-Policy': 'same-origin',
}

const HEADERS = Object.entries(SECURITY_HEADERS)

export function setSecurityHeaders(response: ServerResponse): void {
  for (const [name, value] of HEADERS) response.setHeader(name, value)
}

export const METHODS = 'GET, HEAD, POST, PUT, PATCH, DELETE'
const REQUEST_HEADERS = 'Authorization, Content-Type, If-None-Match, Last-Event-ID, X-Request-Id'
const RESPONSE_HEADERS = 'ETag, Retry-After, X-Request-Id'
const PREFLIGHT_SECONDS = 600

/** Lets pages of these origins read answers; answers preflights. No cookies are involved, only the key that a page has. */
export function cors(origins: readonly string[]): RequestHandler {
  const allowed = new Set(origins)
  return (request, response, next) => {
    const { origin } = request.headers
    response.vary('Origin')
    if (origin === undefined || !allowed.has(origin)) return next()
    response.setHeader('Access-Control-Allow-Origin', origin)
    const isPreflight = request.method === 'OPTIONS' && request.headers['access-control-request-method'] !== undefined
    if (!isPreflight) {
      response.setHeader('Access-Control-Expose-Headers', RESPONSE_HEADERS)
      return next()
    }
    response.setHeader('Access-Control-Allow-Methods', METHODS)
    response.setHeader('Access-Control-Allow-Headers', REQUEST_HEADERS)
    response.setHeader('Access-Control-Max-Age', PREFLIGHT_SECONDS)
    response.status(204).end()
  }
}

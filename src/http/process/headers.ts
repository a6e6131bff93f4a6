/**
 * The headers that every request to the process must have, and those of every answer. They say what browsers may do with
 * it, and which origins' pages may read it.
 */
import { type IncomingMessage, type OutgoingHttpHeader, type OutgoingHttpHeaders, ServerResponse } from 'node:http'
import type { RequestHandler } from 'express'
import { RecentnError } from '../../shared/errors'
import { StatusError } from '../output/problem'
import { REQUEST_ID_HEADER, requestIdOf } from '../request-id'

/**
 * An answer is data. Browsers must not use it as a page, a script, a frame or a picture in another site's page.
 * They would request it without an Origin, so a server without keys would answer. Nor must they send names in a Referer header.
 */
export const SECURITY_HEADERS: Readonly<Record<string, string>> = {
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Cross-Origin-Opener-Policy': 'same-origin',
}

const HEADERS = Object.entries(SECURITY_HEADERS)
const LINES = HEADERS.flat()

const { writeHead } = ServerResponse.prototype

/**
 * Makes the answers of an app begin with the security headers and the id of the request, if nothing else has set these.
 * They are added as Node writes the head. To set them on each response costs several times as much, because Node checks
 * each header that is set and keeps it in an object.
 */
export function addOwnHeaders(answers: ServerResponse): void {
  answers.writeHead = function (this: ServerResponse, status: number, headers: OutgoingHttpHeaders = {}) {
    const id = requestIdOf(this.req, this)
    if (this.getHeaderNames().length > 0) {
      for (const [name, value] of HEADERS) if (!this.hasHeader(name)) this.setHeader(name, value)
      if (!this.hasHeader(REQUEST_ID_HEADER)) this.setHeader(REQUEST_ID_HEADER, id)
      return writeHead.call(this, status, headers)
    }
    // Names and values in turn, which Node writes as they are.
    const lines: OutgoingHttpHeader[] = [...LINES, REQUEST_ID_HEADER, id]
    for (const name in headers) lines.push(name, headers[name] as OutgoingHttpHeader)
    return writeHead.call(this, status, lines)
  } as ServerResponse['writeHead']
}

export const METHODS = 'GET, HEAD, POST, PUT, PATCH, DELETE'
const REQUEST_HEADERS = 'Authorization, Content-Type, If-None-Match, Last-Event-ID, X-Request-Id'
const RESPONSE_HEADERS = 'ETag, Location, Retry-After, X-Request-Id'
const PREFLIGHT_SECONDS = 600

/**
 * Lets pages of these origins read answers, and answers preflights. There are no cookies, only the key that a page has.
 */
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

/** The most header lines of a request. */
export const MAX_HEADERS = 1000

/** How Node recognizes the only expectation there is, which it meets by itself. */
const CONTINUE = /(?:^|\W)100-continue(?:$|\W)/i

/**
 * Refuses heads that Node accepts and a server must not. Throws a `StatusError` (417, 431), and
 * `invalid_input` for a Host that is missing or given twice.
 */
export function checkHead({ rawHeaders, headers: { expect }, httpVersion }: IncomingMessage): void {
  if (rawHeaders.length > 2 * MAX_HEADERS) {
    throw new StatusError(431, `A request may have at most ${MAX_HEADERS} headers`)
  }
  const hosts = hostsIn(rawHeaders)
  if (hosts > 1) throw new RecentnError('invalid_input', 'The Host header is given more than once')
  if (httpVersion !== '1.1') return
  if (hosts === 0) throw new RecentnError('invalid_input', 'The Host header is required')
  if (expect !== undefined && !CONTINUE.test(expect))
    throw new StatusError(417, 'The only expectation that the server meets is 100-continue')
}

function hostsIn(rawHeaders: readonly string[]): number {
  let hosts = 0
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] as string
    if (name.length === 4 && name.toLowerCase() === 'host') hosts++
  }
  return hosts
}

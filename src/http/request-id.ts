/**
 * `X-Request-Id`: the client's own is echoed if it is short, printable and without a key; otherwise a new one is made.
 */
import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { hasSecret } from './secrets'

const HEADER = 'X-Request-Id'
const VISIBLE_ASCII = /^[\x21-\x7e]{1,128}$/

/** Sets the id of the answer, unless the surrounding app has set one. Returns the id. */
export function giveRequestId(request: IncomingMessage, response: ServerResponse): string {
  const there = response.getHeader(HEADER)
  if (there !== undefined) return String(there)
  const asked = request.headers['x-request-id']
  const id = typeof asked === 'string' && VISIBLE_ASCII.test(asked) && !hasSecret(asked) ? asked : randomUUID()
  if (!response.headersSent) response.setHeader(HEADER, id)
  return id
}

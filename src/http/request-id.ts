/**
 * `X-Request-Id`: the client's own is echoed if it is short, printable and without a key; otherwise a new one is made.
 */
import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { hasSecret } from './secrets'

export const REQUEST_ID_HEADER = 'X-Request-Id'
const VISIBLE_ASCII = /^[\x21-\x7e]{1,128}$/

const REQUEST_ID = Symbol('recentn request id')

interface Identified extends ServerResponse {
  [REQUEST_ID]?: string
}

/** The id of the request; the one that the surrounding app has set on the answer, if it has set one. */
export function requestIdOf(request: IncomingMessage, response: ServerResponse): string {
  const identified = response as Identified
  identified[REQUEST_ID] ??= String(response.getHeader(REQUEST_ID_HEADER) ?? chosenId(request))
  return identified[REQUEST_ID]
}

function chosenId({ headers }: IncomingMessage): string {
  const asked = headers['x-request-id']
  return typeof asked === 'string' && VISIBLE_ASCII.test(asked) && !hasSecret(asked) ? asked : randomUUID()
}

/** Sets the id of the answer, unless the surrounding app has set one. */
export function giveRequestId(request: IncomingMessage, response: ServerResponse): void {
  const id = requestIdOf(request, response)
  if (!response.headersSent && !response.hasHeader(REQUEST_ID_HEADER)) response.setHeader(REQUEST_ID_HEADER, id)
}

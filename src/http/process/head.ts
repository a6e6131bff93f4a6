/** What of the head of a request Node lets through, and a server must not. */
import type { IncomingMessage } from 'node:http'
import { RecentnError } from '../../errors'

/** Header lines of a request. */
export const MAX_HEADERS = 1000

/** As Node knows the one expectation there is, which it meets by itself. */
const CONTINUE = /(?:^|\W)100-continue(?:$|\W)/i

/** Throws `headers_too_large`, `invalid_input` for a Host that is missing or there twice, and `expectation_failed`. */
export function checkHead({ rawHeaders, headers: { expect }, httpVersion }: IncomingMessage): void {
  if (rawHeaders.length > 2 * MAX_HEADERS) {
    throw new RecentnError('headers_too_large', `A request may have at most ${MAX_HEADERS} headers`)
  }
  const hosts = hostsIn(rawHeaders)
  if (hosts > 1) throw new RecentnError('invalid_input', 'The Host header is given more than once')
  if (httpVersion !== '1.1') return
  if (hosts === 0) throw new RecentnError('invalid_input', 'The Host header is required')
  if (expect !== undefined && !CONTINUE.test(expect)) throw new RecentnError('expectation_failed')
}

function hostsIn(rawHeaders: readonly string[]): number {
  let hosts = 0
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] as string
    if (name.length === 4 && name.toLowerCase() === 'host') hosts++
  }
  return hosts
}

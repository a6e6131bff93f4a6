/** A problem as the bytes of an answer, where there is no request that Node would give an answer for. */
import { STATUS_CODES } from 'node:http'
import type { RecentnError } from '../../errors'
import { problemText } from '../output/problem'
import { SECURITY_HEADERS } from './headers'

export function rawProblem(error: RecentnError, headers: Readonly<Record<string, string>> = {}): string {
  const { status } = error
  const body = problemText(error)
  const all = {
    ...SECURITY_HEADERS,
    'Content-Type': 'application/problem+json',
    'Content-Length': Buffer.byteLength(body),
    'Cache-Control': 'no-store',
    Connection: 'close',
    ...headers,
  }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
  return `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${body}`
}

/**
 * Parses a line of an Apache or nginx access log, in common or combined format.
 *
 * A line is bytes: servers write the bytes of clients unchanged or as `\xHH`, and not all of them are UTF-8. UTF-8 is
 * decoded; every other byte is kept as `\xHH`, so that different names stay different. Everything here takes linear time,
 * because the sender of a request chooses much of its line.
 */
import { MAX_TIME_MS } from '../fields/rules'

export interface AccessLogEntry {
  /** The client's address or host name. */
  address: string
  /** The authenticated user; null for `-`. */
  user: string | null
  time: Date
  /** Null, like `target` and `protocol`, if there is no valid request line (a timeout, a TLS handshake). */
  method: string | null
  /** As it was logged: `/path?query`, `http://host/path`, `*`, or `host:port` of a CONNECT. */
  target: string | null
  /** `HTTP/1.1`; null for HTTP/0.9. */
  protocol: string | null
  /** Null if none was logged. */
  status: number | null
  /** Bytes of the body that were sent: `-` is 0, as the format says. */
  bytes: number
  /** Null if none was sent, or the log has the common format. */
  referrer: string | null
  userAgent: string | null
}

export type ParsedLine = { entry: AccessLogEntry; reason?: undefined } | { entry?: undefined; reason: string }

const TIME = / \[(\d{2}\/[A-Za-z]{3}\/\d{4}:\d{2}:\d{2}:\d{2} [+-]\d{4})\] "/g
const QUOTED = /"([^"\\]*(?:\\.[^"\\]*)*)"(?= |$)/sy
const NUMBERS = / (\d{3}|-) (\d{1,15}|-)(?= |$)/y

export function parseAccessLogLine(line: Buffer): ParsedLine {
  // One character a byte, so that any byte can be searched for; each field is decoded by itself.
  const text = line.toString('latin1')
  const addressEnd = text.indexOf(' ')
  const identEnd = addressEnd > 0 ? text.indexOf(' ', addressEnd + 1) : -1
  if (identEnd < 0) return { reason: 'does not begin with an address, an identity and a user' }

  TIME.lastIndex = identEnd
  const time = TIME.exec(text)
  if (!time) return { reason: 'has no time such as [17/May/2015:10:05:03 +0000] with a quoted request after it' }
  if (time.index === identEnd) return { reason: 'has no user (it should be "-") before the time' }
  const at = parseTime(time[1] as string)
  if (at === null) return { reason: `has an impossible time: ${time[1]}` }

  QUOTED.lastIndex = TIME.lastIndex - 1
  const request = QUOTED.exec(text)
  if (!request) return { reason: 'has a request that is not quoted properly' }
  NUMBERS.lastIndex = QUOTED.lastIndex
  const numbers = NUMBERS.exec(text)
  if (!numbers) return { reason: 'has no status and size after the request' }

  const agents = parseReferrerAndAgent(text, NUMBERS.lastIndex)
  if (!agents) return { reason: 'has a referrer and a user agent that are not both quoted properly' }
  const user = decodeField(text.slice(identEnd + 1, time.index))
  return {
    entry: {
      address: decodeField(text.slice(0, addressEnd)),
      user: orNull(user),
      time: at,
      ...parseRequest(decodeField(request[1] as string)),
      status: numbers[1] === '-' ? null : Number(numbers[1]),
      bytes: numbers[2] === '-' ? 0 : Number(numbers[2]),
      ...agents,
    },
  }
}

/** The fields that only the combined format has. Further fields, which many configurations add, are ignored. */
function parseReferrerAndAgent(text: string, from: number): Pick<AccessLogEntry, 'referrer' | 'userAgent'> | null {
  if (text[from + 1] !== '"') return { referrer: null, userAgent: null }
  QUOTED.lastIndex = from + 1
  const referrer = QUOTED.exec(text)
  if (!referrer || text[QUOTED.lastIndex + 1] !== '"') return null
  QUOTED.lastIndex += 1
  const agent = QUOTED.exec(text)
  if (!agent) return null
  return { referrer: orNull(decodeField(referrer[1] as string)), userAgent: orNull(decodeField(agent[1] as string)) }
}

function orNull(field: string): string | null {
  return field === '-' ? null : field
}

const METHOD = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/
const PROTOCOL = /^HTTP\/\d(?:\.\d)?$/

/** The method ends at the first space and the protocol begins after the last, because some servers log targets with spaces. */
function parseRequest(line: string): Pick<AccessLogEntry, 'method' | 'target' | 'protocol'> {
  const none = { method: null, target: null, protocol: null }
  const first = line.indexOf(' ')
  const last = line.lastIndexOf(' ')
  const method = line.slice(0, Math.max(first, 0))
  if (!METHOD.test(method)) return none
  const end = line.slice(last + 1)
  if (PROTOCOL.test(end))
    return last > first + 1 ? { method, target: line.slice(first + 1, last), protocol: end } : none
  // HTTP/0.9 has no protocol, and no other method than this.
  return method === 'GET' && first === last && end !== '' ? { method, target: end, protocol: null } : none
}

const ABSOLUTE = /^[A-Za-z][A-Za-z0-9+.-]*:\/\/[^/?#]*/

/** A request target without scheme and host: `http://host/path?query` is `/path?query`. */
export function hostless(target: string): string {
  const origin = ABSOLUTE.exec(target)
  if (!origin) return target
  const rest = target.slice(origin[0].length)
  return rest.startsWith('/') ? rest : `/${rest}`
}

/** The path of a request target: without scheme, host and query string. */
export function pathOf(target: string): string {
  const rest = hostless(target)
  const query = rest.indexOf('?')
  return query < 0 ? rest : rest.slice(0, query)
}

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

/** The time of `17/May/2015:10:05:03 +0000`; null for a date that does not exist, or outside of 1970 to 9999. */
function parseTime(text: string): Date | null {
  const day = Number(text.slice(0, 2))
  const month = MONTHS.indexOf(text.slice(3, 6))
  const year = Number(text.slice(7, 11))
  const [hour, minute, second] = [Number(text.slice(12, 14)), Number(text.slice(15, 17)), Number(text.slice(18, 20))]
  const [offsetHour, offsetMinute] = [Number(text.slice(22, 24)), Number(text.slice(24, 26))]
  if (month < 0 || hour > 23 || minute > 59 || second > 59 || offsetHour > 23 || offsetMinute > 59) return null
  const local = new Date(Date.UTC(year, month, day, hour, minute, second))
  // Date.UTC turns 31 February into 3 March, and the year 15 into 1915.
  if (local.getUTCDate() !== day || local.getUTCMonth() !== month || local.getUTCFullYear() !== year) return null
  const offset = (offsetHour * 60 + offsetMinute) * (text[21] === '-' ? -60_000 : 60_000)
  const ms = local.getTime() - offset
  return ms >= 0 && ms <= MAX_TIME_MS ? new Date(ms) : null
}

const ESCAPES: Record<string, string> = { b: '\b', n: '\n', r: '\r', t: '\t', v: '\v', '"': '"', '\\': '\\' }
const ESCAPE = /\\(?:x([0-9A-Fa-f]{2})|([bnrtv"\\]))/g

/** Removes the server's escapes (an unknown one stays as it is), then decodes. */
function decodeField(latin1: string): string {
  const bytes = latin1.includes('\\')
    ? latin1.replace(ESCAPE, (_, hex: string | undefined, short: string) =>
        hex === undefined ? (ESCAPES[short] as string) : String.fromCharCode(Number.parseInt(hex, 16)),
      )
    : latin1
  return decodeUtf8(bytes)
}

const NON_ASCII = /[\x80-\xff]/
// RFC 3629, section 4: a sequence that is UTF-8, or otherwise a single byte.
const SEQUENCE =
  /[\xc2-\xdf][\x80-\xbf]|\xe0[\xa0-\xbf][\x80-\xbf]|[\xe1-\xec\xee\xef][\x80-\xbf]{2}|\xed[\x80-\x9f][\x80-\xbf]|\xf0[\x90-\xbf][\x80-\xbf]{2}|[\xf1-\xf3][\x80-\xbf]{3}|\xf4[\x80-\x8f][\x80-\xbf]{2}|[\x80-\xff]/g

function decodeUtf8(latin1: string): string {
  if (!NON_ASCII.test(latin1)) return latin1
  return latin1.replace(SEQUENCE, (bytes) =>
    bytes.length === 1 ? `\\x${bytes.charCodeAt(0).toString(16)}` : Buffer.from(bytes, 'latin1').toString('utf8'),
  )
}

/**
 * Errors as texts: with all they say, for the message or row that they are kept with, and as logs may tell them. A driver's error has the statement and its values, as fields and in its message: a
 * duplicate entry, the text near a syntax error. They are somebody's data, and no log is the place for them.
 */

/** These name tables, columns and accounts, which say what is wrong, and no values. */
const NAMES_ONLY: ReadonlySet<unknown> = new Set([
  'ER_NO_SUCH_TABLE',
  'ER_BAD_TABLE_ERROR',
  'ER_BAD_DB_ERROR',
  'ER_ACCESS_DENIED_ERROR',
  'ER_DBACCESS_DENIED_ERROR',
  'ER_TABLEACCESS_DENIED_ERROR',
  'ER_COLUMNACCESS_DENIED_ERROR',
])

function isOfDriver(error: Error): boolean {
  const { code } = error as { code?: unknown }
  return 'sql' in error || 'sqlMessage' in error || 'query' in error || /^(?:ER_|SQLITE_)/.test(String(code))
}

/** The message; of a driver's error without what it quotes. */
export function safeMessage(error: Error): string {
  if (!isOfDriver(error) || NAMES_ONLY.has((error as { code?: unknown }).code)) return error.message
  // From the first quote to the last one: a value may have quotes in it.
  return error.message.replace(/(['"`])[\s\S]*['"`]/, '$1…$1')
}

/** The stack, with that message. */
export function safeStack(error: Error): string | undefined {
  const message = safeMessage(error)
  if (message === error.message || error.stack === undefined) return error.stack
  const frames = error.stack.split('\n').filter((line) => /^\s+at /.test(line))
  return [`${error.name}: ${message}`, ...frames].join('\n')
}

/** What is thrown, as one sentence. */
export function safeText(error: unknown): string {
  return error instanceof Error ? `${error.name}: ${safeMessage(error)}` : String(error)
}

const MAX_ERROR_LENGTH = 1000
/** Errors and values of one text: its causes and members may be without end. */
const MAX_PARTS = 20

/** The text of a handler's error that is kept with its message or row: what it is, its causes, and its members. */
export function errorText(error: unknown): string {
  // Half of a pair, which a database refuses, is replaced; older browsers have no `toWellFormed`.
  return partText(error, new Set())
    .slice(0, MAX_ERROR_LENGTH)
    .replace(/\p{Cs}/gu, '\uFFFD')
}

/** Whatever a hostile value does when it is read, it has a text. `seen`: what is in the text already. */
function partText(part: unknown, seen: Set<unknown>): string {
  try {
    if (!isError(part)) return valueText(part)
    seen.add(part)
    const { cause, errors } = part as { cause?: unknown; errors?: unknown }
    const isNew = (one: unknown) => seen.size < MAX_PARTS && !seen.has(one)
    const parts = [headOf(part, seen)]
    if (Array.isArray(errors)) {
      const members = errors.slice(0, MAX_PARTS).filter(isNew)
      if (members.length > 0) parts.push(`errors: [${members.map((one) => partText(one, seen)).join(', ')}]`)
    }
    if (cause !== undefined && isNew(cause)) parts.push(`cause: ${partText(cause, seen)}`)
    return parts.join('; ')
  } catch {
    return 'an error that has no text'
  }
}

/** Also one of another realm, such as an error of Node's in a test of jest. */
function isError(value: unknown): value is Error {
  return value instanceof Error || /^\[object (Error|DOMException)\]$/.test(Object.prototype.toString.call(value))
}

/** A class that sets no name has that of its constructor. */
function headOf(error: Error, seen: Set<unknown>): string {
  const name = error.name === 'Error' ? error.constructor.name : error.name
  const message: unknown = error.message
  const text = typeof message === 'string' ? message : partText(message, seen)
  return [name === 'Error' ? '' : name, text].filter((one) => one !== '').join(': ') || 'Error'
}

function valueText(value: unknown): string {
  if (value === undefined || value === null || value === '') return `${JSON.stringify(value)} was thrown`
  if (typeof value !== 'object') return String(value)
  const within = new Set<unknown>()
  const json = JSON.stringify(value, (_, one: unknown) => {
    if (typeof one === 'bigint') return String(one)
    // An object that is there twice may be a cycle.
    if (within.has(one)) return '…'
    if (typeof one === 'object' && one !== null) within.add(one)
    return isError(one) ? partText(one, within) : one
  })
  const { name = 'Object' } = (value.constructor as { name?: string } | undefined) ?? {}
  return name === 'Object' || name === 'Array' ? String(json) : `${name} ${json}`
}

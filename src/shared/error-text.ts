/** Errors as texts, with all they say, for the message or row that they are kept with. */

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
  return value instanceof Error || / (Error|DOMException)\]/.test(Object.prototype.toString.call(value))
}

/** A class that sets no name has that of its constructor. */
function headOf(error: Error, seen: Set<unknown>): string {
  const name = error.name === 'Error' ? error.constructor.name : error.name
  const message: unknown = error.message
  const text = typeof message === 'string' ? message : partText(message, seen)
  return [name === 'Error' ? '' : name, text].filter(Boolean).join(': ') || 'Error'
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

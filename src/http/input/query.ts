/** A strict reading of the query string: nothing is guessed, dropped or merged. */
import type { Fault } from '../../shared/errors'

/** The longest request target that is taken, in characters as they are sent. */
export const MAX_TARGET_LENGTH = 16 * 1024

interface ParsedQuery {
  /** The values of each parameter, in the order given. */
  values: Map<string, string[]>
  faults: Fault[]
  /** There are too many parameters to read any of them. */
  isTooLong?: boolean
}

/** The query of a request target, decoded as `application/x-www-form-urlencoded` (`+` is a space). */
export function parseQuery(target: string): ParsedQuery {
  const values = new Map<string, string[]>()
  const faults: Fault[] = []
  const start = target.indexOf('?')
  if (start < 0) return { values, faults }
  if (hasMore(target, '&', MAX_PAIRS)) {
    return {
      values,
      faults: [{ pointer: '', detail: `must have at most ${MAX_PAIRS} query parameters` }],
      isTooLong: true,
    }
  }
  for (const pair of target.slice(start + 1).split('&')) {
    if (pair === '') continue
    const equals = pair.indexOf('=')
    const rawName = equals < 0 ? pair : pair.slice(0, equals)
    const name = decodedText(rawName)
    const value = decodedText(equals < 0 ? '' : pair.slice(equals + 1))
    if (name === null || value === null) {
      faults.push({ parameter: name ?? rawName, detail: 'has percent-encoding that is not UTF-8' })
      // Known, so that it is not reported as missing too.
      if (name !== null && !values.has(name)) values.set(name, [])
      continue
    }
    const given = values.get(name)
    if (given) given.push(value)
    else values.set(name, [value])
  }
  return { values, faults }
}

/** No route takes as many. To decode what is not UTF-8 takes long: no client may have it done a hundred thousand times. */
const MAX_PAIRS = 1000

/** Whether the text has as many of these characters as `count`, or more. */
function hasMore(text: string, character: string, count: number): boolean {
  let found = 0
  for (let i = text.indexOf(character); i >= 0 && found < count; i = text.indexOf(character, i + 1)) found++
  return found >= count
}

/** Null where its percent-encoding is not UTF-8. */
export function decodedText(text: string): string | null {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    return null
  }
}

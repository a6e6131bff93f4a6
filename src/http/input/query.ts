/** A strict reading of the query string: nothing is guessed, dropped or merged. */
import type { Fault } from '../../errors'

/** The longest request target that is taken, in characters as they are sent. */
export const MAX_TARGET_LENGTH = 16 * 1024

export interface ParsedQuery {
  /** The values of each parameter, in the order given. */
  values: Map<string, string[]>
  faults: Fault[]
}

/** The query of a request target, decoded as `application/x-www-form-urlencoded` (`+` is a space). */
export function parseQuery(target: string): ParsedQuery {
  const values = new Map<string, string[]>()
  const faults: Fault[] = []
  const start = target.indexOf('?')
  if (start < 0) return { values, faults }
  for (const pair of target.slice(start + 1).split('&')) {
    if (pair === '') continue
    const equals = pair.indexOf('=')
    const rawName = equals < 0 ? pair : pair.slice(0, equals)
    const name = decode(rawName)
    const value = decode(equals < 0 ? '' : pair.slice(equals + 1))
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

function decode(text: string): string | null {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    return null
  }
}

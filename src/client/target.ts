/** The target of a request: the names in its path, percent-encoded, and its query. */
import { invalidInput } from '../errors'
import { idText } from './convert'

type Values = Readonly<Record<string, unknown>>

/** A path below the base. Throws `invalid_input` for a name that has no place in a path. */
export function targetOf(template: string, path: Values, query: Values): string {
  const filled = template.replaceAll(/\{(\w+)\}/g, (_, name: string) => segment(name, path[name]))
  const asked = queryText(query)
  return asked === '' ? filled : `${filled}?${asked}`
}

function segment(name: string, value: unknown): string {
  const text = name === 'id' ? idText(value, { parameter: name }) : value
  if (typeof text !== 'string' || text === '') throw invalidInput([{ parameter: name, detail: 'must be a name' }])
  // A URL loses such a segment, however it is encoded.
  if (text === '.' || text === '..') throw invalidInput([{ parameter: name, detail: 'must be neither "." nor ".."' }])
  return encode(name, text)
}

function encode(name: string, text: string): string {
  try {
    return encodeURIComponent(text)
  } catch {
    throw invalidInput([{ parameter: name, detail: 'must be well-formed Unicode (it has a lone surrogate)' }])
  }
}

function queryText(query: Values): string {
  const parts: string[] = []
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined || value === null) continue
    for (const each of Array.isArray(value) ? value : [value]) parts.push(`${name}=${encode(name, String(each))}`)
  }
  return parts.join('&')
}

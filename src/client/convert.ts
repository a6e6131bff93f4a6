/**
 * Between what is on the wire and what the client gives: ids as bigint, times as Date. Where they are is known by the
 * shapes; all else, and so what users put into a payload, is passed on as it is.
 */
import { invalidInput } from '../errors'
import { SHAPES, type Shape } from './wire/shapes'

type Fields = Record<string, unknown>

/** Changes an answer, which JSON.parse has made, in place. `JSON.stringify` makes of it what the server answered. */
export function decoded(value: unknown, shape: Shape): unknown {
  if (value === null || value === undefined) return value
  if (Array.isArray(value)) return value.map((each) => decoded(each, shape))
  if (shape === 'bigint') return BigInt(value as string)
  if (shape === 'time') return new Date(value as string)
  const fields = value as Fields
  for (const [name, of] of Object.entries(fieldsOf(shape))) {
    if (Object.hasOwn(fields, name)) fields[name] = decoded(fields[name], of)
  }
  return Object.setPrototypeOf(fields, prototypeOf(shape))
}

/** By shape. Answers look and compare as plain objects: what they inherit is not enumerable, and not a constructor. */
const prototypes = new Map<Shape, object>()

function prototypeOf(shape: Exclude<Shape, 'bigint' | 'time'>): object {
  const known = prototypes.get(shape)
  if (known !== undefined) return known
  const toJSON = function (this: Fields): unknown {
    // What the client adds from the status and the headers is not of the body.
    const { appended, created, sent, tag, ...body } = this
    return encoded(body, shape)
  }
  const made = Object.defineProperty(Object.create(Object.prototype), 'toJSON', { value: toJSON })
  prototypes.set(shape, made)
  return made
}

/** A copy of a body, as far as something in it changes. Throws `invalid_input` for what is no id or time. */
export function encoded(value: unknown, shape: Shape, pointer = ''): unknown {
  if (value === null || value === undefined) return value
  if (Array.isArray(value)) return value.map((each, i) => encoded(each, shape, `${pointer}/${i}`))
  if (shape === 'bigint') return idText(value, { pointer })
  if (shape === 'time') return timeText(value, pointer)
  if (typeof value !== 'object') return value
  const fields: Fields = { ...value }
  for (const [name, of] of Object.entries(fieldsOf(shape))) {
    if (Object.hasOwn(fields, name)) fields[name] = encoded(fields[name], of, `${pointer}/${name}`)
  }
  return fields
}

function fieldsOf(shape: Exclude<Shape, 'bigint' | 'time'>): Readonly<Record<string, Shape>> {
  return (typeof shape === 'string' ? SHAPES[shape] : shape) as Readonly<Record<string, Shape>>
}

export function idText(value: unknown, place: { pointer?: string; parameter?: string }): string {
  if (typeof value === 'bigint' && value >= 0n) return String(value)
  throw invalidInput([{ ...place, detail: 'must be a bigint of at least 0' }])
}

function timeText(value: unknown, pointer: string): string {
  if (value instanceof Date && !Number.isNaN(value.getTime())) return value.toISOString()
  throw invalidInput([{ pointer, detail: 'must be a valid Date' }])
}

/** The JSON text of a body. Throws `invalid_input` for what JSON has no form for. */
export function bodyText(body: unknown): string {
  try {
    return JSON.stringify(body)
  } catch (error) {
    throw invalidInput([{ pointer: '', detail: `can't be written as JSON: ${(error as Error).message}` }])
  }
}

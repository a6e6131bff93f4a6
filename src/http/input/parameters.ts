/** Path and query parameters: how each is read, checked and described, in one place. */
import type { FaultSink } from '../../errors'
import { cursorTextFault } from '../../fields/feed-rules'
import { oneOfFault } from '../../fields/queue-rules'
import { idTextFault, MAX_BATCH, MAX_ID, MAX_NAME_CODE_POINTS, nameFault, positionTextFault } from '../../fields/rules'
import { parseQuery } from './query'

export type Schema = Readonly<Record<string, unknown>>

/** A path or query parameter whose text becomes a `T`. */
export interface Parameter<T> {
  readonly description: string
  /** The JSON schema of the value in the OpenAPI document. */
  readonly schema: Schema
  readonly example: unknown
  readonly required: boolean
  /** May be given more than once. */
  readonly repeatable: boolean
  /** Makes the value of all the texts given; adds to `complaints` what is wrong with them. */
  read(texts: readonly string[], complaints: string[]): T
}

export type Parameters = Readonly<Record<string, Parameter<unknown>>>
export type Values<P extends Parameters> = { [K in keyof P]: P[K] extends Parameter<infer T> ? T : never }

const NAME = { $ref: '#/components/schemas/Name' }

/** A name that must be there. */
export function nameParameter(description: string, example: string): Parameter<string> {
  return {
    description,
    schema: NAME,
    example,
    required: true,
    repeatable: false,
    read: ([text = ''], complaints) => checked(text, nameFault(text), complaints),
  }
}

/** From `min` to `max` names. `unique`: none of them twice. */
export function namesParameter(
  description: string,
  example: string[],
  min: number,
  max: number,
  { unique = false } = {},
): Parameter<string[]> {
  return {
    description,
    schema: { type: 'array', items: NAME, minItems: min, maxItems: max, ...(unique && { uniqueItems: true }) },
    example,
    required: min > 0,
    repeatable: true,
    read(texts, complaints) {
      if (texts.length > max) complaints.push(`may be given at most ${max} times`)
      else {
        for (const fault of new Set(texts.map(nameFault))) if (fault !== null) complaints.push(fault)
        if (unique && new Set(texts).size < texts.length) complaints.push('must not have a name more than once')
      }
      return [...texts]
    },
  }
}

/** What is a bigint to the store and decimal digits on the wire, and must be there. */
const bigintParameter =
  (schema: string, faultOf: (text: string) => string | null) =>
  (description: string, example: string): Parameter<bigint> => ({
    description,
    schema: { $ref: `#/components/schemas/${schema}` },
    example,
    required: true,
    repeatable: false,
    read([text = ''], complaints) {
      const fault = faultOf(text)
      return checked(fault === null ? BigInt(text) : MAX_ID, fault, complaints)
    },
  })

export const idParameter = bigintParameter('Id', idTextFault)
/** Where a listener stands: the newest item that it knows of, or −1. */
export const positionParameter = bigintParameter('Position', positionTextFault)
/** Of a feed. */
export const cursorParameter = bigintParameter('Cursor', cursorTextFault)

/** The same parameter, which may be left out. */
export function optional<T>(parameter: Parameter<T>): Parameter<T | undefined> {
  return {
    ...parameter,
    required: false,
    read: (texts, complaints) => (texts.length === 0 ? undefined : parameter.read(texts, complaints)),
  }
}

/** How many: plain decimal digits, `byDefault` when left out. */
export function limitParameter(max: number, byDefault: number): Parameter<number> {
  return wholeParameter('At most so many.', 1, max, byDefault)
}

/** A whole number from `min` (0 or more) in plain decimal digits, `byDefault` when left out. */
export function wholeParameter(description: string, min: number, max: number, byDefault: number): Parameter<number> {
  return {
    description,
    schema: { type: 'integer', minimum: min, maximum: max, default: byDefault },
    example: byDefault,
    required: false,
    repeatable: false,
    read([text], complaints) {
      if (text === undefined) return byDefault
      const valid = /^(0|[1-9][0-9]{0,6})$/.test(text) && Number(text) >= min && Number(text) <= max
      return checked(Number(text), valid ? null : `must be a whole number from ${min} to ${max}`, complaints)
    },
  }
}

/** One of a few words, the first one when left out. */
export function wordParameter<W extends string>(description: string, words: readonly [W, ...W[]]): Parameter<W> {
  const [byDefault] = words
  return {
    description,
    schema: { enum: [...words], default: byDefault },
    example: byDefault,
    required: false,
    repeatable: false,
    read: ([text], complaints) =>
      text === undefined ? byDefault : checked(text as W, oneOfFault(text, words), complaints),
  }
}

/** For reads that may go without payloads. */
export const payloadsParameter = wordParameter('`none`: null in place of each payload.', ['value', 'none'])

/** A text that is taken as it is: a cursor that the store checks, or the beginning of names. */
export function textParameter(description: string, example: string, max: number): Parameter<string | undefined> {
  return {
    description,
    schema: { type: 'string', maxLength: max },
    example,
    required: false,
    repeatable: false,
    read: ([text], complaints) =>
      checked(text, text !== undefined && text.length > max ? `must have at most ${max} characters` : null, complaints),
  }
}

/** A cursor is at most so long: a name in base64 and then some. */
const MAX_CURSOR_LENGTH = 2000

/** What every list takes; `example` is a cursor. */
export function pageParameters(example: string, cursor: 'name' | 'opaque' = 'name') {
  const what = `The \`nextAfter\` of the page before${cursor === 'opaque' ? ': opaque' : ''}.`
  return { limit: limitParameter(MAX_BATCH, 100), after: textParameter(what, example, MAX_CURSOR_LENGTH) }
}

/** The beginning of a name; empty is the same as left out. */
export function prefixParameter(description: string, example: string): Parameter<string | undefined> {
  return {
    description,
    schema: { type: 'string', maxLength: MAX_NAME_CODE_POINTS },
    example,
    required: false,
    repeatable: false,
    read: ([text], complaints) =>
      text === undefined || text === '' ? undefined : checked(text, nameFault(text), complaints),
  }
}

function checked<T>(value: T, fault: string | null, complaints: string[]): T {
  if (fault !== null) complaints.push(fault)
  return value
}

/** What reads the path parameters that the router has decoded. */
export function pathReader(parameters: Parameters) {
  const readAll = readerOf(parameters)
  return (given: Readonly<Record<string, unknown>>, faults: FaultSink) =>
    readAll((name) => [String(given[name])], faults)
}

/** What reads the query of a request target; unknown and repeated parameters are faults. */
export function queryReader(parameters: Parameters) {
  const readAll = readerOf(parameters)
  return (target: string, faults: FaultSink) => {
    if (!target.includes('?')) return readAll(leftOut, faults)
    const { values, faults: undecodable, isTooLong } = parseQuery(target)
    for (const fault of undecodable) faults.push(fault)
    if (isTooLong) return {}
    for (const name of values.keys()) {
      if (!Object.hasOwn(parameters, name)) faults.push({ parameter: name, detail: 'is not a known parameter' })
    }
    const broken = new Set(undecodable.map((fault) => fault.parameter))
    return readAll((name) => (broken.has(name) ? null : (values.get(name) ?? [])), faults)
  }
}

const leftOut = () => []

function readerOf(parameters: Parameters) {
  const entries = Object.entries(parameters)
  return (textsOf: (name: string) => readonly string[] | null, faults: FaultSink) => {
    const read: Record<string, unknown> = {}
    for (const [name, parameter] of entries) {
      const texts = textsOf(name)
      if (texts === null) continue
      const complaints: string[] = []
      if (texts.length > 1 && !parameter.repeatable) complaints.push('is given more than once')
      else if (texts.length === 0 && parameter.required) complaints.push('is required')
      else read[name] = parameter.read(texts, complaints)
      for (const detail of complaints) faults.push({ parameter: name, detail })
    }
    return read
  }
}

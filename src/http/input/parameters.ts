/** Path and query parameters: how the text of each becomes a value of its field, and how it is described. */

import { CURSOR } from '../../fields/feeds'
import type { Field, Schema } from '../../fields/field'
import { unknownDetail } from '../../fields/field'
import {
  type Defaulted,
  defaulted,
  ID,
  MAX_NAME_CODE_POINTS,
  NAME,
  nameFault,
  oneOf,
  PAGE_LIMIT,
  PART,
  POSITION,
  PREFIX,
  text,
} from '../../fields/rules'
import { type Fault, type FaultSink, MAX_LISTED_FAULTS } from '../../shared/errors'
import { parseQuery } from './query'

/** A path or query parameter whose text becomes a `T`. */
export interface RequestParameter<T> {
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

export type Parameters = Readonly<Record<string, RequestParameter<unknown>>>
export type Values<P extends Parameters> = { [K in keyof P]: P[K] extends RequestParameter<infer T> ? T : never }

/** A text that must be given. One that is not valid is a fault, and read as `unread` says. */
function textual<T>({ wire, fault, schema }: Field<T>, unread: (text: string) => T) {
  const faultOf = wire?.fault ?? fault
  return (description: string, example: string): RequestParameter<T> => ({
    description,
    schema,
    example,
    required: true,
    repeatable: false,
    read([text = ''], complaints) {
      const detail = faultOf(text)
      if (detail !== null) complaints.push(detail)
      return detail === null && wire ? (wire.read(text) as T) : unread(text)
    },
  })
}

export const nameParameter = textual(NAME, String)
export const textParameter = textual(text(), String)
export const idParameter = textual(ID, () => 0n)
/** The position of a listener: the newest item that it knows, or −1. */
export const positionParameter = textual(POSITION, () => 0n)
export const cursorParameter = textual(CURSOR, () => 0n)

/** The same parameter, which may be left out. */
export function optional<T>(parameter: RequestParameter<T>): RequestParameter<T | undefined> {
  return {
    ...parameter,
    required: false,
    read: (texts, complaints) => (texts.length === 0 ? undefined : parameter.read(texts, complaints)),
  }
}

/** From `min` to `max` names. `unique`: none of them twice. */
export function namesParameter(
  description: string,
  example: string[],
  min: number,
  max: number,
  { unique = false } = {},
): RequestParameter<string[]> {
  const schema = { type: 'array', items: NAME.schema, minItems: min, maxItems: max }
  return {
    description,
    schema: unique ? { ...schema, uniqueItems: true } : schema,
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

/** One of few values, read from the text by `parse`; the field's default when left out. */
function withDefault<T>(
  description: string,
  field: Defaulted<T>,
  parse: (text: string) => unknown,
): RequestParameter<T> {
  const { description: _, ...schema } = field.schema
  return {
    description,
    schema,
    example: field.default,
    required: false,
    repeatable: false,
    read([text], complaints) {
      if (text === undefined) return field.default
      const value = parse(text)
      const detail = field.fault(value)
      if (detail !== null) complaints.push(detail)
      return value as T
    },
  }
}

/** A whole number of 0 or more, in plain decimal digits. */
export function wholeParameter(field: Defaulted<number>, description = String(field.schema.description)) {
  return withDefault(description, field, (text) => (/^(0|[1-9][0-9]{0,6})$/.test(text) ? Number(text) : text))
}

/** How many. */
export function limitParameter(field: Defaulted<number>): RequestParameter<number> {
  return wholeParameter(field, 'The maximum number to return.')
}

/** One of a few words, the first one when left out. */
export function wordParameter<W extends string>(description: string, words: readonly [W, ...W[]]): RequestParameter<W> {
  return withDefault(description, defaulted(oneOf(words), words[0]), (text) => text)
}

/** One of a few words, or none of them. */
export function chosenParameter<W extends string>(description: string, words: readonly [W, ...W[]]) {
  return optional(textual<W>(oneOf(words), (text) => text as W)(description, words[0]))
}

/** For reads that may go without payloads. */
export const payloadsParameter = wordParameter('`none`: null in place of each payload.', ['value', 'none'])

/** May be left out, and empty is the same. */
function partOfName({ fault }: Field<string>) {
  const read = (text: unknown) => (text as string) || undefined
  const schema = { type: 'string', maxLength: MAX_NAME_CODE_POINTS }
  const parameter = textual<string | undefined>({ fault, schema, wire: { fault, read } }, String)
  return (description: string, example: string) => optional(parameter(description, example))
}
/** The beginning of a name. */
export const prefixParameter = partOfName(PREFIX)
/** Any part of a name. */
export const containsParameter = partOfName(PART)

/** The longest cursor of a page: a name in base64, and a little more. */
const MAX_CURSOR_LENGTH = 2000
const cursorText = textual<string>(
  {
    fault: (text) =>
      (text as string).length > MAX_CURSOR_LENGTH ? `must have at most ${MAX_CURSOR_LENGTH} characters` : null,
    schema: { type: 'string', maxLength: MAX_CURSOR_LENGTH },
  },
  String,
)

/** The parameters of every list; `example` is a cursor, which the store checks. */
export function pageParameters(example: string, cursor: 'name' | 'opaque' = 'name') {
  const what = `The \`nextAfter\` of the page before${cursor === 'opaque' ? ': opaque' : ''}.`
  return { limit: limitParameter(PAGE_LIMIT), after: optional(cursorText(what, example)) }
}

/** The parameters of a history, which is read from the newest on; `example` is a cursor, which the store checks. */
export function historyParameters(example: string) {
  const before = optional(cursorText('The `nextBefore` of the page before: opaque.', example))
  return { limit: limitParameter(PAGE_LIMIT), before }
}

export function pathReader(parameters: Parameters) {
  const readAll = readerOf(parameters)
  return (given: Readonly<Record<string, unknown>>, faults: FaultSink) =>
    readAll((name) => [String(given[name])], faults)
}

/** The reader of the query of a request target; unknown and repeated parameters are faults. */
export function queryReader(parameters: Parameters) {
  const readAll = readerOf(parameters)
  // Without a query a parameter is its default, which is the same for every request.
  const missing: Fault[] = []
  const defaults = Object.freeze(readAll(leftOut, missing))
  return (target: string, faults: FaultSink) => {
    if (!target.includes('?')) {
      for (const fault of missing) faults.push(fault)
      return defaults
    }
    const { values, faults: undecodable, isTooLong } = parseQuery(target)
    for (const fault of undecodable) faults.push(fault)
    if (isTooLong) return {}
    for (const name of values.keys()) {
      if (Object.hasOwn(parameters, name)) continue
      // Beyond those that a refusal lists none is compared: a request may have thousands.
      const known = faults.length <= MAX_LISTED_FAULTS ? Object.keys(parameters) : []
      faults.push({ parameter: name, detail: unknownDetail('is not a known parameter', name, known) })
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

/**
 * Requests of every operation of the OpenAPI document, made from what the document says of its parameters and its body:
 * valid ones, and ones with a fault here and there. An operation that is added to the document has requests with it.
 *
 * A request is drawn before anything is known of the store that it is sent to: `§in§` in its texts is for the beginning of
 * the names that it may touch, and `§id:7§` is for the eighth of the ids that answers have shown.
 */
import fc from 'fast-check'
import { json, key, time } from '../../http/support/json-texts'

interface Schema {
  $ref?: string
  type?: string
  enum?: unknown[]
  anyOf?: Schema[]
  minimum?: number
  maximum?: number
  pattern?: string
  format?: string
  minItems?: number
  items?: Schema
  properties?: Record<string, Schema>
  required?: string[]
  propertyNames?: { pattern: string }
  additionalProperties?: boolean | Schema
}

interface DocumentedOperation {
  operationId: string
  security: Record<string, string[]>[]
  parameters?: { name: string; in: 'path' | 'query' | 'header'; required?: boolean; schema: Schema }[]
  requestBody?: { required: boolean; content: { 'application/json': { schema: Schema } } }
  responses: Record<string, { content?: Record<string, unknown> }>
}

export interface OpenApi {
  paths: Record<string, Record<string, DocumentedOperation>>
  components: { schemas: Record<string, Schema> }
}

/** Texts of a request, without any encoding. */
export interface Drawn {
  path: Record<string, string>
  query: [string, string][]
  /** As it is sent, behind the query that is encoded. */
  rawQuery: string
  headers: Record<string, string>
  /** JSON, or something like it; nothing is sent for `undefined`. */
  body: string | undefined
}

export interface FuzzedOperation {
  id: string
  method: string
  template: string
  /** The scope that it needs; none for what is open to all. */
  scope: string | undefined
  bodySchema: string | undefined
  requests: fc.Arbitrary<Drawn>
}

/** The names in a store that `seed` of test/http/support/named-routes.ts has filled, by the name of a parameter or field. */
const KNOWN: Readonly<Record<string, readonly string[]>> = {
  group: ['§in§g', '§in§h', '§in§cleared', '§in§deleted', '§in§kept'],
  prefix: ['§in§', '§in§deleted', '§in§g'],
  queue: ['§in§q', '§in§held', '§in§letters', '§in§dying', '§in§deleted', '§in§purged'],
  deadLetterQueue: ['§in§letters', '§in§q'],
  schedule: ['§in§s', '§in§deleted', '§in§t'],
  feed: ['§in§f', '§in§deleted', '§in§e'],
  consumer: ['c', 'gone'],
  key: ['k', 'gone', 'l'],
  member: ['m', 'n'],
  exclude: ['m', 'n'],
  messageGroup: ['tenant-1', 'tenant-2'],
  dedupId: ['once'],
  eventId: ['event-1', 'event-2'],
  cron: ['* * * * *', '30 2 * * *', '@daily', '60 * * * *', '0 0 31 2 *'],
  timeZone: ['Europe/Berlin', 'UTC', 'Mars/Olympus'],
  id: ['0', '1', '§id:0§', '§id:1§', '§id:2§'],
  receiptHandles: ['§receiptHandle:0§', '§receiptHandle:1§', '§receiptHandle:2§', '§foreignHandle§'],
  cursor: ['0', '1', '§cursor:0§', '§cursor:1§'],
  after: ['0', '1', '§cursor:0§', '§nextAfter:0§', '§nextAfter:1§', '§in§g'],
  before: ['1', '§nextBefore:0§'],
  'If-None-Match': ['*', '§etag:0§', 'W/§etag:0§, "a"', '"'],
  'Last-Event-ID': ['0', '1'],
}

/** Names that something may take for something else: an engine, a URL, a pattern, a header, an object. */
const ODD_NAMES = [
  "'",
  '"',
  '`',
  '%',
  '_',
  '\\',
  ';--',
  '%2e%2e',
  '..',
  '.',
  ' ',
  'Q',
  'q ',
  'é',
  'e\u0301',
  'ß',
  '😀'.repeat(191),
  '😀'.repeat(192),
  'a'.repeat(191),
  'a'.repeat(192),
  '\0',
  '\u0085',
  '\ufeff',
  '\u202e',
  '\uffff',
  '$1',
  '$&',
  '{{x}}',
  '__proto__',
  'constructor',
  'toString',
  'null',
  '0',
  '-1',
  '/',
  'a/b',
  '?',
  '#',
  '&a=b',
  ':id',
  '*',
  '(',
  '[',
  '{}',
]

const NUMBERS = [
  '0',
  '-1',
  '1',
  '01',
  '1.5',
  '1e3',
  '0x10',
  '2147483648',
  '4294967296',
  '9007199254740993',
  '9223372036854775807',
  '9223372036854775808',
  '18446744073709551616',
  '9'.repeat(38),
  '9'.repeat(39),
  'NaN',
  'Infinity',
]

const anyText = fc.oneof(
  fc.constantFrom(...ODD_NAMES, ...NUMBERS),
  fc.string({ unit: 'binary', maxLength: 20 }),
  fc.constantFrom('a'.repeat(2001), '"'.repeat(500)),
)

/** A name that is there, one that is not, another key's, or an odd one. */
function nameText(name: string): fc.Arbitrary<string> {
  const known = KNOWN[name] ?? ['§in§g', '§in§q', '§in§f', 'k']
  const foreign = known.map((each) => each.replace('§in§', '§out§'))
  return fc.oneof(
    { weight: 30, arbitrary: fc.constantFrom(...known) },
    { weight: 1, arbitrary: fc.constantFrom(...foreign) },
    { weight: 3, arbitrary: fc.constantFrom(...ODD_NAMES).map((odd) => `§in§${odd}`) },
    { weight: 1, arbitrary: anyText },
  )
}

class Generator {
  readonly #schemas: Record<string, Schema>

  constructor({ components }: OpenApi) {
    this.#schemas = components.schemas
  }

  /** A text of a parameter, which fits most of the time. */
  parameter(schema: Schema, name: string): fc.Arbitrary<string> {
    const own = this.#resolved(schema)
    const element = own.type === 'array' ? this.#resolved(own.items ?? {}) : own
    const fits = this.#plain(element, name)
    return fc.oneof({ weight: 30, arbitrary: fits }, { weight: 1, arbitrary: anyText })
  }

  isList(schema: Schema): boolean {
    return this.#resolved(schema).type === 'array'
  }

  /** The JSON text of a value; where `isWild`, any part of it may be something else. */
  text(schema: Schema, name: string, isWild: boolean): fc.Arbitrary<string> {
    const fits = this.#fitting(this.#resolved(schema), name, isWild)
    return isWild ? fc.oneof({ weight: 8, arbitrary: fits }, { weight: 1, arbitrary: json }) : fits
  }

  #fitting(own: Schema, name: string, isWild: boolean): fc.Arbitrary<string> {
    if (own.anyOf) return fc.oneof(...own.anyOf.map((each) => this.text(each, name, isWild)))
    if (own.type === 'null') return fc.constant('null')
    if (own.type === 'boolean') return fc.constantFrom('true', 'false')
    if (own.type === 'object') return this.#object(own, isWild)
    if (own.type === 'array') {
      const list = { minLength: own.minItems ?? 0, maxLength: (own.minItems ?? 0) + 3 }
      return fc.array(this.text(own.items ?? {}, name, isWild), list).map((all) => `[${all.join(',')}]`)
    }
    if (own.type === undefined && !own.enum) return json
    return this.#plain(own, name).map((text) => (own.type === 'integer' ? text : JSON.stringify(text)))
  }

  /** The text of a value that is a word or a number. */
  #plain({ enum: words, type, minimum = 0, maximum = 1e6, format, pattern }: Schema, name: string) {
    if (words) return fc.constantFrom(...words.map(String))
    // Else a request waits for as long as it says.
    if (name === 'waitSeconds') return fc.constant('0')
    if (type === 'integer') {
      const small = fc.integer({ min: minimum, max: Math.min(maximum, minimum + 20) })
      const edges = [minimum, maximum, minimum - 1, maximum + 1]
      return fc.oneof({ weight: 20, arbitrary: small }, { weight: 1, arbitrary: fc.constantFrom(...edges) }).map(String)
    }
    if (format === 'date-time') return time.map((text) => JSON.parse(text) as string)
    if (pattern !== undefined && !(name in KNOWN)) return fc.stringMatching(new RegExp(pattern, 'u'))
    return nameText(name)
  }

  #object({ properties = {}, required = [], propertyNames, additionalProperties }: Schema, isWild: boolean) {
    const members = Object.entries(properties).map(([name, schema]) => {
      const isNeeded = required.includes(name) && !isWild
      const text = this.text(schema, name, isWild).map((value) => `${JSON.stringify(name)}:${value}`)
      return isNeeded ? text : fc.option(text, { freq: 2 })
    })
    const names = propertyNames
      ? fc.stringMatching(new RegExp(propertyNames.pattern)).map((s) => JSON.stringify(s))
      : key
    const values = typeof additionalProperties === 'object' ? this.text(additionalProperties, 'member', isWild) : json
    const further = fc.tuple(names, values).map((member) => member.join(':'))
    const most = isWild || typeof additionalProperties === 'object' ? 2 : 0
    return fc
      .tuple(fc.tuple(...members), fc.array(further, { maxLength: most }))
      .map(([own, more]) => `{${[...own, ...more].filter((each) => each !== null).join(',')}}`)
  }

  #resolved(schema: Schema): Schema {
    const name = schema.$ref?.split('/').at(-1)
    return name === undefined ? schema : this.#resolved(this.#schemas[name] ?? {})
  }
}

/** Bodies that are not JSON, or not for us. */
const BROKEN_BODIES = ['', '{', '{}}', '[]', 'null', '\ufeff{}', '{"a":1,"a":2}', '['.repeat(5000), '1e999', "{'a':1}"]

const HEADERS = fc.oneof(
  { weight: 20, arbitrary: fc.constant({}) },
  {
    weight: 1,
    arbitrary: fc.constantFrom<Record<string, string>>(
      { 'Content-Type': 'text/plain' },
      { 'Content-Type': 'application/json; charset=utf-16' },
      { 'Content-Encoding': 'gzip' },
      { 'X-Request-Id': 'x'.repeat(129) },
      { Accept: 'text/html' },
      { Range: 'bytes=0-1' },
      { 'Transfer-Encoding': 'gzip, chunked' },
      { Expect: '100-continue' },
      { 'X-HTTP-Method-Override': 'DELETE' },
      { 'X-Forwarded-For': '127.0.0.1', Forwarded: 'for=127.0.0.1' },
    ),
  },
)

export const RAW_QUERIES = fc.oneof(
  { weight: 14, arbitrary: fc.constant('') },
  { weight: 1, arbitrary: fc.constantFrom('x=1', '%', '%ff=1', '&&', '__proto__=1', 'limit[]=1', 'limit=1&limit=2') },
)

/** Every operation of the document. */
export function fuzzedOperations(document: OpenApi): FuzzedOperation[] {
  const generator = new Generator(document)
  return Object.entries(document.paths).flatMap(([template, methods]) =>
    Object.entries(methods).map(([method, operation]) => {
      const schema = operation.requestBody?.content['application/json'].schema
      return {
        id: operation.operationId,
        method: method.toUpperCase(),
        template,
        scope: operation.security[0]?.key?.[0],
        bodySchema: schema?.$ref?.split('/').at(-1),
        requests: requestsOf(generator, operation),
      }
    }),
  )
}

function requestsOf(generator: Generator, { parameters = [], requestBody }: DocumentedOperation): fc.Arbitrary<Drawn> {
  const inPlace = (place: string) => parameters.filter((each) => each.in === place)
  const path = inPlace('path').map(({ name, schema }) => [name, generator.parameter(schema, name)] as const)
  const query = inPlace('query').map(({ name, schema, required = false }) => {
    const value = generator.parameter(schema, name)
    const least = required ? 1 : 0
    const most = generator.isList(schema) ? 3 : 1
    const all = fc.array(value, { minLength: least, maxLength: most })
    return all.map((values) => values.map((each): [string, string] => [name, each]))
  })
  const headers = inPlace('header').map(
    ({ name, schema }) => [name, fc.option(generator.parameter(schema, name))] as const,
  )
  return fc.record({
    path: fc.record(Object.fromEntries(path)),
    query: fc.tuple(...query).map((lists) => lists.flat()),
    rawQuery: RAW_QUERIES,
    headers: fc
      .tuple(HEADERS, fc.record(Object.fromEntries(headers)))
      .map(([any, own]) => ({ ...any, ...withoutNulls(own) })),
    body: requestBody ? bodyOf(generator, requestBody.content['application/json'].schema) : fc.constant(undefined),
  })
}

function bodyOf(generator: Generator, schema: Schema): fc.Arbitrary<string | undefined> {
  return fc.oneof(
    { weight: 12, arbitrary: generator.text(schema, '', false) },
    { weight: 6, arbitrary: generator.text(schema, '', true) },
    { weight: 1, arbitrary: fc.constantFrom(undefined, ...BROKEN_BODIES) },
    { weight: 1, arbitrary: json },
  )
}

function withoutNulls(all: Record<string, string | null>): Record<string, string> {
  const given = Object.entries(all).filter((each): each is [string, string] => each[1] !== null)
  // Another test has values that no header can carry.
  return Object.fromEntries(given.map(([name, text]) => [name, text.replace(/[^\x20-\x7e§]/g, '')]))
}

/**
 * The building blocks of answers. An answer is defined once, by its members. From them come its JSON for REST and `toJSON`, and
 * its schema and example in the OpenAPI document. Its constant names its type in `src/shared`: where one of the two has a
 * member that the other lacks, or with another type, the constant does not compile.
 *
 * In JSON ids are strings, and times are RFC 3339 in UTC with milliseconds. Payloads are the text that the store keeps.
 */
import { jsonTextOf } from '../shared/json'
import { described, type Field, ref, type Schema, orNull as schemaOrNull } from './field'

/** Gives a function a name in the JavaScript that is being made. */
type Bind = (helper: (...given: never[]) => unknown) => string

interface UntypedMember {
  readonly schema: Schema
  readonly description?: string | undefined
  readonly example?: unknown
  /** The part of a template literal that writes the variable `name` as JSON. Null: JSON does not have it. */
  readonly template: ((name: string, bind: Bind) => string) | null
  readonly isOptional?: boolean
}

/** One kind of member, which the library gives as a `T`. */
export interface AnswerMember<T> extends UntypedMember {
  /** For TypeScript only: neither a wider type nor a narrower one. */
  readonly type?: (given: T) => T
}
type OptionalMember<T> = AnswerMember<T> & { readonly isOptional: true }

type AnswerMembers = Readonly<Record<string, UntypedMember>>
type GivenBy<K> = K extends AnswerMember<infer T> ? T : never
type OptionalIn<M> = { [Name in keyof M]: M[Name] extends { isOptional: true } ? Name : never }[keyof M]
type ResultOf<M> = { [Name in Exclude<keyof M, OptionalIn<M>>]: GivenBy<M[Name]> } & {
  [Name in OptionalIn<M>]?: GivenBy<M[Name]>
}

/** A component of the OpenAPI document. */
export interface NamedComponent {
  readonly name: string
  readonly component: Schema
  readonly example?: unknown
}

/** `within`: the names that the caller may know begin with it; others are null. */
type Render<T> = (value: T, within?: string | null) => string

/** The only place where source text becomes a function: at load, from the definitions. */
export function compiled<F>(make: (bind: Bind) => string): F {
  const helpers: unknown[] = []
  const source = make((helper) => `h${helpers.push(helper)}`)
  return new Function(...helpers.map((_, i) => `h${i + 1}`), `return ${source}`)(...helpers)
}

/**
 * `JSON.stringify` of a result returns the answer of the call's REST route, so that an app can send it unchanged. `toJSON` is
 * not enumerable, and its prototype has no own constructor: results look, print and compare (`toEqual`, also
 * `toStrictEqual`) as plain objects. A copy by `{ ...result }` is a plain object without `toJSON`.
 */
export class AnswerOf<T> implements AnswerMember<T>, NamedComponent {
  readonly component: Schema
  /** As a member of another answer. */
  readonly schema: Schema
  readonly example: Readonly<Record<string, unknown>>
  readonly json: Render<T>
  /** The result with these members: for results that are made by the thousand. */
  readonly make: (given: T) => T
  readonly #prototype: object
  declare readonly type?: (given: T) => T

  /** `name`: that of its component; '' if it is only part of another one. */
  constructor(
    readonly name: string,
    members: AnswerMembers,
    description?: string,
  ) {
    const all = Object.entries(members)
    const shown = all.filter(([, { template }]) => template !== null)
    this.component = {
      type: 'object',
      ...(description !== undefined && { description }),
      properties: Object.fromEntries(shown.map(([key, kind]) => [key, described(kind.schema, kind.description)])),
      required: shown.filter(([, { isOptional }]) => !isOptional).map(([key]) => key),
    }
    this.schema = name === '' ? this.component : ref(name)
    this.example = Object.fromEntries(
      shown.flatMap(([key, { example }]) => (example === undefined ? [] : [[key, example]])),
    )
    const json = compiled<Render<T>>((bind) => objectSource(shown, bind))
    this.json = json
    const toJSON = function (this: T): unknown {
      return JSON.parse(json(this))
    }
    this.#prototype = Object.create(Object.prototype, { toJSON: { value: toJSON, configurable: true, writable: true } })
    this.make = compiled<(prototype: object) => (given: T) => T>(() => {
      const copies = all.map(([key]) => `this.${key} = given.${key}`).join('\n')
      return `(prototype) => { function Made(given) { ${copies} }\nMade.prototype = prototype\nreturn (given) => new Made(given) }`
    })(this.#prototype)
  }

  /** Makes the result of an object literal, which may have more members: for one result, or a page. Changes its argument. */
  of<R extends T>(given: R): R {
    return Object.setPrototypeOf(given, this.#prototype)
  }

  readonly template = (name: string, bind: Bind) => `\${${bind(this.json)}(${name}, within)}`
}

function objectSource(members: readonly [string, UntypedMember][], bind: Bind): string {
  const written = members.map(([name, { template, isOptional }], i) => {
    const text = `${i === 0 ? '' : ','}"${name}":${template?.(name, bind)}`
    return isOptional ? `\${${name} === undefined ? '' : \`${text}\`}` : text
  })
  return `({ ${members.map(([name]) => name).join(', ')} }, within = null) => \`{${written.join('')}}\``
}

export function answer<M extends AnswerMembers>(name: string, members: M, description?: string): AnswerOf<ResultOf<M>> {
  return new AnswerOf(name, members, description)
}

const bare = (name: string) => `\${${name}}`
const quoted = (name: string) => `"\${${name}}"`
const stringified = (name: string, bind: Bind) => `\${${bind(JSON.stringify)}(${name})}`

const kind =
  <T>(schema: Schema, template: UntypedMember['template']) =>
  (example?: unknown, description?: string): AnswerMember<T> => ({ schema, template, example, description })

export const id = kind<bigint>(ref('Id'), quoted)
export const total = kind<bigint>(ref('TotalAppended'), quoted)
export const cursor = kind<bigint>(ref('Cursor'), quoted)
export const time = kind<Date>(ref('Time'), (name, bind) => `"\${${bind(timeText)}(${name})}"`)
export const count = kind<number>({ type: 'integer', minimum: 0 }, bare)
/** It may be negative. */
export const difference = kind<number>({ type: 'integer' }, bare)
export const truth = kind<boolean>({ type: 'boolean' }, bare)
export const text = kind<string>({ type: 'string' }, stringified)
export const name = kind<string>(ref('Name'), stringified)

/** Any JSON value, which is not parsed where it is a `JsonText`. */
export const anyJson = (example: unknown, description = 'Any JSON value.'): AnswerMember<unknown> => ({
  schema: { description },
  example,
  template: (name, bind) => `\${${name} === null ? 'null' : ${bind(jsonTextOf)}(${name})}`,
})

let lastName = ''
let lastText = '""'
/** The name of a group: that of the item before, for most items of a page. */
export const groupName = kind<string>(ref('Name'), (name, bind) => `\${${bind(repeated)}(${name})}`)
function repeated(given: string): string {
  if (given === lastName) return lastText
  lastName = given
  lastText = JSON.stringify(given)
  return lastText
}

/** A value that requests have too. */
export const of = <T>({ schema, description: said }: Field<T>, example?: T, description = said): AnswerMember<T> =>
  kind<T>(schema, schema.type === 'integer' ? bare : stringified)(example, description)

export const constant = <W extends string>(word: W): AnswerMember<W> =>
  kind<W>({ const: word }, () => `"${word}"`)(word)

export const texts = (description: string, example = {}): AnswerMember<Readonly<Record<string, string>>> => ({
  schema: { type: 'object', description, additionalProperties: { type: 'string' } },
  example,
  template: stringified,
})

/** An object that has only some of these members, each of which JSON has as the library has it. */
export const some = <M extends AnswerMembers>(members: M, description: string): AnswerMember<Partial<ResultOf<M>>> => {
  const { properties } = answer('', members).component
  return { schema: { type: 'object', description, properties }, example: {}, template: stringified }
}

/** Its example is null, if the kind has none. */
export function orNull<T>(each: AnswerMember<T>, description = each.description): AnswerMember<T | null> {
  const { schema, example = null, template } = each
  return {
    ...{ schema: schemaOrNull(schema), description, example },
    template: (name, bind) => `\${${name} === null ? 'null' : \`${template?.(name, bind)}\`}`,
  }
}

/** A name that the answer also mentions, such as that of a dead-letter queue: null where the caller may not know it. */
export const shown = (example: string | null, description?: string): AnswerMember<string | null> => ({
  ...orNull(name(example), description),
  template: (name, bind) => `\${${bind(shownText)}(${name}, within)}`,
})
function shownText(given: string | null, within: string | null): string {
  return given === null || (within !== null && !given.startsWith(within)) ? 'null' : JSON.stringify(given)
}

/** May be left out, which its example does. */
export const optional = <T>(each: AnswerMember<T>, description = each.description): OptionalMember<T> => ({
  ...each,
  description,
  example: undefined,
  isOptional: true,
})

/** A member that JSON does not have. */
export const unsent = <T>(): AnswerMember<T> => ({ schema: {}, template: null })

export function list<T>(
  each: AnswerMember<T>,
  examples: readonly unknown[] = [each.example],
  description?: string,
): AnswerMember<T[]> {
  const render =
    each instanceof AnswerOf
      ? each.json
      : compiled<Render<T>>((bind) => `(value, within) => \`${each.template?.('value', bind)}\``)
  const joined = (values: readonly T[], within: string | null) => {
    let out = ''
    for (const value of values) out += out === '' ? render(value, within) : `,${render(value, within)}`
    return out
  }
  return {
    schema: described({ type: 'array', items: each.schema }, description),
    example: examples,
    template: (name, bind) => `[\${${bind(joined)}(${name}, within)}]`,
  }
}

const MS_A_DAY = 86_400_000
const TWO_DIGITS = Array.from({ length: 60 }, (_, n) => String(n).padStart(2, '0'))

/** The day that was asked for last, and its text with the `T`. */
let lastDay = Number.NaN
let lastDayText = ''

/** The text of `toISOString()`, at a fifth of its cost: a page has a time or two for each item, and most are of the same day. */
export function timeText(time: Date): string {
  const ms = time.getTime()
  const day = Math.floor(ms / MS_A_DAY)
  if (day !== lastDay) {
    lastDayText = time.toISOString().slice(0, -13)
    lastDay = day
  }
  const ofDay = ms - day * MS_A_DAY
  const minutes = Math.floor(ofDay / 60_000)
  const ofMinute = ofDay - minutes * 60_000
  const seconds = Math.floor(ofMinute / 1000)
  const thousandths = String(ofMinute - seconds * 1000 + 1000).slice(1)
  return `${lastDayText}${TWO_DIGITS[Math.floor(minutes / 60)]}:${TWO_DIGITS[minutes % 60]}:${TWO_DIGITS[seconds]}.${thousandths}Z`
}

/**
 * What the definitions in this folder are made of. A definition says once what may be given: the library's check, the DTO
 * that class-validator judges, the reading of a request's body and its schema in the OpenAPI document are made from it.
 */
import { type Fault, invalidInput } from '../errors'
import { unknownDetail } from './nearest'

export type Schema = Readonly<Record<string, unknown>>
/** What is wrong with a value, or null. */
export type Rule = (value: unknown) => string | null
/** Looked up and gone through for every item: a Map does both fastest. */
export type Rules = ReadonlyMap<string, Rule>

/** One kind of value, which the library takes as a `T`. */
export interface Field<T = unknown> {
  readonly fault: Rule
  /** In the OpenAPI document. */
  readonly schema: Schema
  /**
   * How JSON has it, where that is another form: an id, a cursor or a time is a text there. What is not valid is read as
   * undefined.
   */
  readonly wire?: { readonly fault: Rule; read(value: unknown): T | undefined }
  /** Any JSON value, which is kept as its text. */
  readonly isJson?: true
  /** What each element of a list is. */
  readonly element?: Field | Body
  /** For TypeScript only. */
  readonly type?: T
}

/** What null says on the wire: nothing, a value of its own (such as no limit), a JSON value, or it is a fault. */
export type NullMeaning = 'left out' | 'kept' | 'value' | 'refused'

/** A field by its name in an object: whether it must be given, and what null says. */
export interface Member<T = unknown, Required extends boolean = boolean> {
  readonly field: Field<T>
  readonly isRequired: Required
  readonly null: NullMeaning
  /** What the library's arguments are checked by. */
  readonly rule: Rule
  /** Null: the document does not show it. */
  readonly schema: Schema | null
}
export type Members = Readonly<Record<string, Member>>

type ValueOf<M> = M extends Member<infer T> ? T : never
type IsShown<M> = [ValueOf<M>] extends [never] ? false : true

/** What the library takes for these members. */
export type InputOf<M extends Members> = {
  [Name in keyof M as M[Name] extends Member<unknown, true> ? Name : never]: ValueOf<M[Name]>
} & {
  [Name in keyof M as M[Name] extends Member<unknown, true> ? never : IsShown<M[Name]> extends true ? Name : never]?:
    | ValueOf<M[Name]>
    | undefined
}

/** A JSON body, or an element of one: a component of the OpenAPI document. */
export interface Body<M extends Members = Members> {
  readonly name: string
  readonly members: M
  readonly rules: Rules
  readonly schema: Schema
}

export const ref = (name: string): Schema => ({ $ref: `#/components/schemas/${name}` })
export const orNull = (schema: Schema): Schema => ({ anyOf: [schema, { type: 'null' }] })

const described = (schema: Schema, description: string | undefined): Schema =>
  description === undefined ? schema : { ...schema, description }

/** Must be given. `description` is what the document says of this use of the field. */
export function required<T>(field: Field<T>, description?: string): Member<T, true> {
  const schema = described(field.schema, description)
  return { field, isRequired: true, null: field.isJson ? 'value' : 'refused', rule: field.fault, schema }
}

/** The same field, whose fault is that it is required where it was left out. */
export function stated<T>(field: Field<T>): Field<T> {
  return { ...field, fault: (value) => (value === undefined ? 'is required' : field.fault(value)) }
}

/** May be left out. In the library null is a fault; on the wire it says the same as leaving it out. */
export function optional<T>(field: Field<T>, description?: string): Member<T, false> {
  const { fault } = field
  const rule: Rule = (value) => (value === undefined ? null : fault(value))
  return { field, isRequired: false, null: 'left out', rule, schema: described(orNull(field.schema), description) }
}

/** May be left out, or be null. */
export function nullable<T>(field: Field<T>, description?: string): Member<T | null, false> {
  const { fault } = field
  const rule: Rule = (value) => (value === undefined || value === null ? null : fault(value))
  const schema = described(field.isJson ? field.schema : orNull(field.schema), description)
  return { field, isRequired: false, null: 'kept', rule, schema }
}

/** May be left out, and is never null, on the wire either. */
export function notNull<T>(field: Field<T>, description?: string): Member<T, false> {
  return { ...optional(field), null: 'refused', schema: described(field.schema, description) }
}

/** Known only to be refused with advice. */
export function refused(advice: string): Member<never, false> {
  return { ...notNull<never>({ fault: () => advice, schema: {} }), schema: null }
}

export function rulesOf(members: Members): Rules {
  return new Map(Object.entries(members).map(([name, { rule }]) => [name, rule]))
}

/** The rules of the options `T`, which may be left out but for those that are `needed`. */
export function optionRules<T extends object>(
  fields: Readonly<Record<keyof T, Field>>,
  needed: readonly (keyof T)[] = [],
): Rules {
  const entries = Object.entries<Field>(fields)
  const ruleOf = (name: string, field: Field) =>
    needed.includes(name as keyof T) ? stated(field).fault : optional(field).rule
  return new Map(entries.map(([name, field]) => [name, ruleOf(name, field)]))
}

/** The schema of a request: what is not known is refused. */
export function body<M extends Members>(name: string, members: M, description?: string): Body<M> {
  const shown = Object.entries(members).filter(([, { schema }]) => schema !== null)
  const names = shown.filter(([, { isRequired }]) => isRequired).map(([each]) => each)
  const schema = {
    type: 'object',
    properties: Object.fromEntries(shown.map(([each, member]) => [each, member.schema])),
    ...(names.length > 0 && { required: names }),
    additionalProperties: false,
  }
  return { name, members, rules: rulesOf(members), schema: described(schema, description) }
}

/** A list of 1 to `max`. Its elements are judged one by one, so that each fault has its place. */
export function list<M extends Members>(element: Body<M>, max: number): Field<readonly InputOf<M>[]>
export function list<T>(element: Field<T>, max: number): Field<readonly T[]>
export function list(element: Body | Field, max: number): Field<readonly unknown[]> {
  const items = 'members' in element ? ref(element.name) : element.schema
  return {
    fault: (value) => (isList(value, max) ? null : `must be a list of 1 to ${max}`),
    schema: { type: 'array', items, minItems: 1, maxItems: max },
    element,
  }
}

function isList(value: unknown, max: number): value is unknown[] {
  return Array.isArray(value) && value.length >= 1 && value.length <= max
}

/** What is made of each of 1 to `max`, where all are surely valid; otherwise null, and the rules decide. */
export function sureList<T, Made>(list: readonly T[], max: number, sure: (one: T) => Made | null): Made[] | null {
  if (!isList(list, max)) return null
  const all: Made[] = []
  for (const one of list) {
    const made = sure(one)
    if (made === null) return null
    all.push(made)
  }
  return all
}

/** A reference token of RFC 6901. */
export function escaped(key: string): string {
  return key.replaceAll('~', '~0').replaceAll('/', '~1')
}

/** Adds the faults of an object whose members each have a rule; a member without a rule is a fault. */
export function addFaults(faults: Fault[], value: unknown, rules: Rules, at: string): void {
  if (typeof value !== 'object' || value === null) {
    faults.push({ pointer: at, detail: 'must be an object' })
    return
  }
  const given = value as Record<string, unknown>
  for (const key of Object.keys(given)) {
    if (rules.has(key)) continue
    faults.push({ pointer: `${at}/${escaped(key)}`, detail: unknownDetail('is not known', key, rules.keys()) })
  }
  for (const [key, rule] of rules) {
    const detail = rule(given[key])
    if (detail !== null) faults.push({ pointer: `${at}/${key}`, detail })
  }
}

/** Adds the faults of a list of 1 to `max` such objects. `what` they are: items, messages. */
export function addListFaults(faults: Fault[], value: unknown, what: string, rules: Rules, max: number): void {
  if (isList(value, max)) for (let i = 0; i < value.length; i++) addFaults(faults, value[i], rules, `/${i}`)
  else faults.push({ pointer: '', detail: `must be a list of 1 to ${max} ${what}` })
}

export function faultsOf(value: unknown, rules: Rules): Fault[] {
  const faults: Fault[] = []
  addFaults(faults, value, rules, '')
  return faults
}

/** The fault of one argument, by its name. */
export function argumentFaults(parameter: string, value: unknown, { fault }: Pick<Field, 'fault'>): Fault[] {
  const detail = fault(value)
  return detail === null ? [] : [{ parameter, detail }]
}

/** Throws `invalid_input` with every fault, if there is one. */
export function refuse(faults: readonly Fault[]): void {
  if (faults.length > 0) throw invalidInput(faults)
}

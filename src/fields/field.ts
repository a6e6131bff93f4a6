/**
 * The kinds of values in arguments and bodies, each defined once. The library checks its arguments by them, and the
 * DTOs are written with them.
 */
import { distance } from 'fastest-levenshtein'
import { type Fault, invalidInput } from '../shared/errors'
import { escaped } from '../shared/recentn-error'

export type Schema = Readonly<Record<string, unknown>>
/** The fault of a value, or null. */
export type Rule = (value: unknown) => string | null
/** Looked up and gone through for every item: a Map does both fastest. */
export type Rules = ReadonlyMap<string, Rule>

/** One kind of value, which the library takes as a `T`. */
export interface Field<T = unknown> {
  readonly fault: Rule
  /** In the OpenAPI document. */
  readonly schema: Schema
  /** The document's description of a member of this kind. */
  readonly description?: string
  /**
   * How JSON has it, where that is another form: an id, a cursor or a time is a text there. An invalid value is read as
   * undefined.
   */
  readonly wire?: { readonly fault: Rule; read(value: unknown): T | undefined }
  /** Any JSON value, which is kept as its text. */
  readonly isJson?: true
  /** The field of each element of a list. */
  readonly element?: Field
  /** The DTO of an object in a list. */
  readonly dto?: DtoClass
  /** For TypeScript only. */
  readonly type?: T
}

/**
 * The base class of DTOs. One that the server hands on was judged when it was read, by rules that refuse all that the library's
 * refuse: the library does not judge it again. The package exports none.
 */
export abstract class Judged {
  declare protected readonly judged: true
}
export type DtoClass<D extends Judged = Judged> = new () => D

/** A member of an argument, and whether it must be given. */
export interface Member<T = unknown, Required extends boolean = boolean> {
  readonly rule: Rule
  readonly isRequired: Required
  /** For TypeScript only. */
  readonly type?: T
}
export type Members = Readonly<Record<string, Member>>

export const ref = (name: string): Schema => ({ $ref: `#/components/schemas/${name}` })
export const said = <F extends Field>(field: F, description: string): F => ({ ...field, description })
export const orNull = (schema: Schema): Schema => ({ anyOf: [schema, { type: 'null' }] })
export const described = <S extends Schema>(schema: S, description: string | undefined): S =>
  description === undefined ? schema : { ...schema, description }

export function required<T>({ fault }: Field<T>): Member<T, true> {
  return { rule: fault, isRequired: true }
}

/** The same field, whose fault is that it is required where it was left out. */
export function stated<T>(field: Field<T>): Field<T> {
  return { ...field, fault: (value) => (value === undefined ? 'is required' : field.fault(value)) }
}

/** May be left out; null is a fault. */
export function optional<T>({ fault }: Field<T>): Member<T, false> {
  return { rule: (value) => (value === undefined ? null : fault(value)), isRequired: false }
}

/** May be left out, or be null. */
export function nullable<T>({ fault }: Field<T>): Member<T | null, false> {
  return { rule: (value) => (value === undefined || value === null ? null : fault(value)), isRequired: false }
}

export function rulesOf(members: Members): Rules {
  return new Map(Object.entries(members).map(([name, { rule }]) => [name, rule]))
}

/** The rules of the options `T`, optional except `needed`. */
export function optionRules<T extends object>(
  fields: Readonly<Record<keyof T, Field>>,
  needed: readonly (keyof T)[] = [],
): Rules {
  const entries = Object.entries<Field>(fields)
  const ruleOf = (name: string, field: Field) =>
    needed.includes(name as keyof T) ? stated(field).fault : optional(field).rule
  return new Map(entries.map(([name, field]) => [name, ruleOf(name, field)]))
}

/** The fault of an object that has none or several of these members. */
export const exactlyOne =
  (...names: string[]) =>
  (given: Readonly<Record<string, unknown>>): Fault[] => {
    const count = names.filter((name) => given[name] !== undefined).length
    return count === 1 ? [] : [{ pointer: '', detail: `must have exactly one of ${names.join(' and ')}` }]
  }

/** The fault of an object that has the first of these members without the second one. */
export const onlyWith =
  (name: string, other: string) =>
  (given: Readonly<Record<string, unknown>>): Fault[] =>
    given[name] === undefined || (given[other] ?? false) !== false
      ? []
      : [{ pointer: `/${name}`, detail: `must not be given without ${other}` }]

/** A list of 1 to `max`. Its elements are judged one by one, so that each fault has its place. */
export function list<T>(element: Field<T>, max: number): Field<readonly T[]> {
  return {
    fault: (value) => (isList(value, max) ? null : `must be a list of 1 to ${max}`),
    schema: { type: 'array', items: element.schema, minItems: 1, maxItems: max },
    element,
  }
}

function isList(value: unknown, max: number): value is unknown[] {
  return Array.isArray(value) && value.length >= 1 && value.length <= max
}

/** The results of `sure` for 1 to `max` elements, where all are surely valid; otherwise null, and the rules decide. */
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

/** Adds the faults of an object whose members each have a rule; a member without a rule is a fault. */
export function addFaults(faults: Fault[], value: unknown, rules: Rules, at: string): void {
  if (value instanceof Judged) return
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

export function argumentFaults(parameter: string, value: unknown, { fault }: Pick<Field, 'fault'>): Fault[] {
  const detail = fault(value)
  return detail === null ? [] : [{ parameter, detail }]
}

/** Throws `invalid_input` with every fault, if there is one. */
export function refuse(faults: readonly Fault[]): void {
  if (faults.length > 0) throw invalidInput(faults)
}

/** Names that are longer are not compared: the work grows with the square of the length. */
const MAX_LENGTH = 40
const MIN_PREFIX = 3

/** `said`, and the known name that is nearest to the unknown one, if one is near enough to be meant. */
export function unknownDetail(said: string, name: string, known: Iterable<string>): string {
  const meant = nearestName(name, known)
  return meant === null ? said : `${said}; did you mean ${meant}?`
}

/** A name that begins with the given one, or that is at most two letters away from it; null if there is none. */
function nearestName(name: string, known: Iterable<string>): string | null {
  if (name.length < MIN_PREFIX || name.length > MAX_LENGTH) return null
  const given = name.toLowerCase()
  // Two letters are too much of a short name.
  let least = Math.min(3, Math.ceil(name.length / 3))
  let nearest: string | null = null
  for (const one of known) {
    const other = one.toLowerCase()
    const letters = other.startsWith(given) ? 0 : distance(given, other)
    if (letters < least) {
      least = letters
      nearest = one
    }
  }
  return nearest
}

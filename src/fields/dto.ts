/**
 * The decorators of DTOs. A DTO is a class with a decorator for each member, and says once what a body, or an argument of the
 * library, may be. From its decorators come the rules of class-validator and of the library, and the reading of a body that is surely
 * valid (`http/input/read.ts`). So do the component of the OpenAPI document and the type that a handler gets. A body is judged as
 * JSON has it: ids and times are texts.
 */
import { ValidateBy, type ValidationArguments } from 'class-validator'
import type { Fault } from '../shared/errors'
import type { JsonText } from '../shared/json'
import {
  type DtoClass,
  described,
  type Field,
  type Judged,
  type Members,
  nullable,
  optional,
  orNull,
  type Rule,
  type Rules,
  ref,
  rulesOf,
  type Schema,
} from './field'

/** The meaning of null in JSON: nothing, its own value (such as no limit), a JSON value, or a fault. */
type NullMeaning = 'left out' | 'kept' | 'value' | 'refused'

export interface DtoMember {
  readonly field: Field
  readonly isRequired: boolean
  readonly null: NullMeaning
  /** Null: the document does not show it. */
  readonly schema: Schema | null
}

/** Those that each class declares itself. */
const declared = new Map<object, Map<string, DtoMember>>()
const components = new Map<DtoClass, { name: string; description: string | undefined }>()

/** The type that a field is read as. */
type ReadAs<F extends Field> = F extends { readonly isJson: true } ? JsonText : F extends Field<infer T> ? T : never
/** A decorator of a member that may be `Given`: its type must allow all of that. */
type Declares<Given> = <D extends object, N extends keyof D>(
  dto: D,
  name: N & ([Given] extends [D[N]] ? unknown : never),
) => void

/** class-validator asks once for each class that declares a member: the answer is that of the last one. */
const judge = ValidateBy({
  name: 'valid',
  validator: { validate: (_, judged) => faultIn(judged) === null, defaultMessage: (judged) => faultIn(judged) ?? '' },
})

function faultIn(judged: ValidationArguments | undefined): string | null {
  const { object, property, value } = judged as ValidationArguments
  for (let each: object | null = object.constructor; each !== null; each = Object.getPrototypeOf(each)) {
    const member = declared.get(each)?.get(property)
    if (member) return memberFault(member, value)
  }
  return null
}

function declares<Given>(member: DtoMember): Declares<Given> {
  return (dto, name) => {
    const members = declared.get(dto.constructor) ?? new Map<string, DtoMember>()
    declared.set(dto.constructor, members.set(name as string, member))
    judge(dto, name as string)
  }
}

const nullIn = ({ isJson }: Field): NullMeaning => (isJson ? 'value' : 'refused')

/** Must be given. `description` is what the document says of this use of the field. */
export function Required<F extends Field>(field: F, description = field.description) {
  const schema = described(field.schema, description)
  return declares<ReadAs<F>>({ field, isRequired: true, null: nullIn(field), schema })
}

/** May be left out; null says the same. */
export function Optional<F extends Field>(field: F, description = field.description) {
  const schema = described(orNull(field.schema), description)
  return declares<ReadAs<F> | undefined>({ field, isRequired: false, null: 'left out', schema })
}

/** May be left out, or be null. */
export function Nullable<F extends Field>(field: F, description = field.description) {
  const schema = described(field.isJson ? field.schema : orNull(field.schema), description)
  return declares<ReadAs<F> | null | undefined>({ field, isRequired: false, null: 'kept', schema })
}

/** May be left out, but null does not say so. */
export function NotNull<F extends Field>(field: F, description = field.description) {
  const schema = described(field.schema, description)
  return declares<ReadAs<F> | undefined>({ field, isRequired: false, null: nullIn(field), schema })
}

/** Known only to be refused with advice. */
export function Refused(advice: string) {
  const field: Field = { fault: () => advice, schema: {} }
  return declares<undefined>({ field, isRequired: false, null: 'refused', schema: null })
}

/** The name of a DTO in the OpenAPI document. */
export const Component =
  (name: string, description?: string) =>
  (dto: DtoClass): void => {
    components.set(dto, { name, description })
  }

/** The faults of members taken together. Each by itself may be wrong too, and null is there unless it is left out. */
export type Together = (given: Readonly<Record<string, unknown>>) => readonly Fault[]
const together = new Map<DtoClass, Together>()

/** How the members of a DTO are judged together. A class that extends it does not inherit that. */
export const Checked =
  (check: Together) =>
  (dto: DtoClass): void => {
    together.set(dto, check)
  }

export const togetherOf = (dto: DtoClass): Together | undefined => together.get(dto)

export function componentName(dto: DtoClass): string {
  return components.get(dto)?.name ?? dto.name
}

/** An object in a list. */
export function object<D extends Judged>(dto: DtoClass<D>): Field<D> {
  const members = membersOf(dto)
  const fault = (value: unknown) => {
    if (!isObject(value)) return 'must be an object'
    const faults = [...members].map(([name, member]) => placed(name, memberFault(member, value[name])))
    return faults.find((each) => each !== null) ?? null
  }
  return { fault, schema: ref(componentName(dto)), dto }
}

/** The members of a DTO: those that it inherits, each perhaps declared again, then its own. */
export function membersOf(dto: object): ReadonlyMap<string, DtoMember> {
  const inherited = Object.getPrototypeOf(dto)
  return new Map([...(inherited === null ? [] : membersOf(inherited)), ...(declared.get(dto) ?? [])])
}

/** The library's rules of what a DTO has, and of `others`, which only the library takes. */
export function rulesOfDto(dto: DtoClass, others: Members = {}): Rules {
  const ruleOf = ({ field, isRequired, null: meaning }: DtoMember): Rule => {
    if (isRequired) return field.fault
    return (meaning === 'kept' ? nullable(field) : optional(field)).rule
  }
  return new Map([...[...membersOf(dto)].map(([name, member]) => [name, ruleOf(member)] as const), ...rulesOf(others)])
}

/** The same without some of them. */
export const without = (rules: Rules, ...names: string[]): Rules =>
  new Map([...rules].filter(([name]) => !names.includes(name)))

/** The component of a DTO: what is not known is refused. */
function schemaOf(dto: DtoClass): Schema & { properties: Record<string, Schema> } {
  const properties: Record<string, Schema> = {}
  const required: string[] = []
  for (const [name, { schema, isRequired }] of membersOf(dto)) {
    if (schema !== null) properties[name] = schema
    if (isRequired) required.push(name)
  }
  const schema = { type: 'object', properties, ...(required.length > 0 && { required }), additionalProperties: false }
  return described(schema, components.get(dto)?.description)
}

/** The components of all DTOs that have been loaded. */
export const dtoSchemas = (): Record<string, Schema> =>
  Object.fromEntries([...components].map(([dto, { name }]) => [name, schemaOf(dto)]))

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The fault of a member; the first fault inside of a list or an object with its place. */
function memberFault({ field, isRequired, null: meaning }: DtoMember, value: unknown): string | null {
  if (value === undefined || (value === null && isRequired && meaning === 'refused'))
    return isRequired ? 'is required' : null
  if (value === null) return meaning === 'refused' ? field.fault(null) : null
  const { fault, wire, element } = field
  const found = (wire?.fault ?? fault)(value)
  if (found !== null || element === undefined) return found
  const list = value as unknown[]
  const index = list.findIndex((one) => element.fault(one) !== null)
  return index < 0 ? null : placed(String(index), element.fault(list[index]))
}

function placed(key: string, fault: string | null): string | null {
  return fault && (fault.startsWith('/') ? `/${key}${fault}` : `/${key}: ${fault}`)
}

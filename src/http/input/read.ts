/**
 * Reading a JSON body by its definition. Nearly every body is valid, and to see that takes far less than class-validator
 * needs: one pass reads a body that is surely valid, by the rule of each member. Where it isn't sure, class-validator judges
 * a DTO that is made from the same definition, and it alone says what is wrong.
 */
import { registerDecorator, validateSync } from 'class-validator'
import { type Fault, type FaultSink, MAX_LISTED_FAULTS } from '../../errors'
import { type Body, escaped, type Field, type InputOf, type Member, type Members } from '../../fields/field'
import { unknownDetail } from '../../fields/nearest'
import { JsonText, jsonFault } from '../../json'
import type { BodyReader } from '../route'
import type { JsonBody } from './body'
import { elementStarts, type JsonSource, memberStart, valueSource, wholeSource } from './json-source'

type JsonObject = Record<string, unknown>

/** A body of a route's, as it is defined. */
export function bodyOf<M extends Members>(definition: Body<M>, example: unknown): BodyReader<InputOf<M>> {
  return { schema: definition.name, example, read: (body, faults) => readBody(definition, body, faults) }
}

/** What the library is given for a body. Where there are faults, they are added, and what is read is not to be used. */
export function readBody<M extends Members>(
  definition: Body<M>,
  { value, text }: JsonBody,
  faults: FaultSink,
): InputOf<M> {
  const source = wholeSource({ text })
  const sure = readSurely(planOf(definition), value, source)
  if (sure !== null) return sure as InputOf<M>
  const count = faults.length
  addFaults(definition, value, '', faults, source)
  if (faults.length === count) throw new Error(`A body ${definition.name} is neither valid nor has it a fault`)
  return {} as InputOf<M>
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

interface MemberReader extends Member {
  /** What the library takes for a value of the object at `source`; undefined where it isn't surely valid. */
  read(given: unknown, source: JsonSource): unknown
}

/** What is made of a definition once. */
interface BodyPlan {
  readers: ReadonlyMap<string, MemberReader>
  requiredCount: number
  /** class-validator's rules for it are those of the members. */
  Dto: new () => object
}
const plans = new Map<Body, BodyPlan>()

function planOf(definition: Body): BodyPlan {
  let plan = plans.get(definition)
  if (!plan) {
    const members = Object.entries(definition.members)
    plan = {
      readers: new Map(members.map(([name, member]) => [name, { ...member, read: readerOf(name, member.field) }])),
      requiredCount: members.filter(([, { isRequired }]) => isRequired).length,
      Dto: dtoOf(definition.members),
    }
    plans.set(definition, plan)
  }
  return plan
}

function readerOf(name: string, { fault, wire, isJson, element }: Field): MemberReader['read'] {
  if (isJson) {
    return (given, source) => {
      const text = jsonText(name, given, source)
      return text !== null && fault(text) === null ? text : undefined
    }
  }
  if (wire) return (given) => wire.read(given)
  if (element && 'members' in element) {
    const plan = planOf(element)
    return (given, source) => (fault(given) === null ? readList(plan, name, given as unknown[], source) : undefined)
  }
  const elementFault = element?.fault
  return (given) => {
    if (fault(given) !== null) return undefined
    return elementFault && (given as unknown[]).some((one) => elementFault(one) !== null) ? undefined : given
  }
}

function readList(
  plan: BodyPlan,
  name: string,
  given: readonly unknown[],
  source: JsonSource,
): JsonObject[] | undefined {
  const sourceAt = elementSources(name, source)
  const read: JsonObject[] = []
  for (let i = 0; i < given.length; i++) {
    const one = readSurely(plan, given[i], sourceAt(i))
    if (one === null) return undefined
    read.push(one)
  }
  return read
}

/** The object that a value surely is; null where it isn't sure. */
function readSurely({ readers, requiredCount }: BodyPlan, value: unknown, source: JsonSource): JsonObject | null {
  if (!isObject(value)) return null
  const read: JsonObject = {}
  let missing = requiredCount
  for (const name of Object.keys(value)) {
    const reader = readers.get(name)
    if (reader === undefined) return null
    const given = value[name]
    if (given === undefined) continue
    if (given === null && reader.null !== 'value') {
      if (reader.null === 'refused') return null
      if (reader.null === 'kept') read[name] = null
      continue
    }
    const one = reader.read(given, source)
    if (one === undefined) return null
    read[name] = one
    if (reader.isRequired) missing--
  }
  return missing === 0 ? read : null
}

function dtoOf(members: Members): new () => object {
  const Dto = class {}
  for (const [propertyName, member] of Object.entries(members)) {
    const faultOf = (value: unknown) => wireFault(member, value)
    const validator = {
      validate: (value: unknown) => faultOf(value) === null,
      defaultMessage: (failed?: { value: unknown }) => faultOf(failed?.value) ?? '',
    }
    registerDecorator({ name: 'isDefined', target: Dto, propertyName, validator })
  }
  return Dto
}

function wireFault(member: Member, value: unknown): string | null {
  if (value === undefined || value === null) {
    if (member.isRequired) return 'is required'
    return value === null && member.null === 'refused' ? member.field.fault(null) : null
  }
  const { wire, fault } = member.field
  return (wire?.fault ?? fault)(value)
}

/** The text of a member, whose value is `given`, of the object at `source`; null where JSON has no form for it. */
function jsonText(name: string, given: unknown, source: JsonSource): JsonText | null {
  if (jsonFault(given, source !== null) !== null) return null
  if (source === null) return new JsonText(JSON.stringify(given))
  return new JsonText(valueSource(source.text, memberStart(source.text, source.start, name)))
}

function elementSources(name: string, source: JsonSource): (index: number) => JsonSource {
  if (source === null) return () => null
  const { text } = source
  const starts = elementStarts(text, memberStart(text, source.start, name))
  return (index) => ({ text, start: starts[index] ?? 0 })
}

/** Adds what is wrong with a value at `pointer`, by the DTO of its definition. */
export function addFaults(
  definition: Body,
  value: unknown,
  pointer: string,
  faults: FaultSink,
  source: JsonSource,
): void {
  if (!isObject(value)) {
    faults.push({ pointer, detail: 'must be an object' })
    return
  }
  const { readers, Dto } = planOf(definition)
  const dto = new Dto() as JsonObject
  for (const name of Object.keys(value)) {
    const member = readers.get(name)
    // What is not known is not given to class-validator, which takes long over thousands of fields.
    if (member === undefined) addUnknown(faults, pointer, name, readers.keys())
    else dto[name] = judged(member, name, value[name], source)
  }
  // class-validator calls an object without rules unknown.
  const errors = readers.size === 0 ? [] : validateSync(dto, { validationError: { target: false, value: false } })
  for (const { property, constraints = {} } of errors) {
    for (const detail of Object.values(constraints)) faults.push({ pointer: `${pointer}/${property}`, detail })
  }
  for (const [name, { field }] of readers) addElementFaults(field, name, dto[name], pointer, faults, source)
}

/** What the rule of a member judges: JSON by its text. What has none stays as it is, for the rule to name its fault. */
function judged({ field, null: meaning }: Member, name: string, given: unknown, source: JsonSource): unknown {
  if (!field.isJson || given === undefined || (given === null && meaning !== 'value')) return given
  return jsonText(name, given, source) ?? given
}

/** Adds what is wrong with the elements of a member that is a valid list. */
function addElementFaults(
  { element, fault }: Field,
  name: string,
  given: unknown,
  pointer: string,
  faults: FaultSink,
  source: JsonSource,
): void {
  if (given === undefined || given === null || element === undefined || fault(given) !== null) return
  const at = `${pointer}/${name}`
  const sourceAt = elementSources(name, source)
  for (const [i, one] of (given as unknown[]).entries()) {
    if ('members' in element) addFaults(element, one, `${at}/${i}`, faults, sourceAt(i))
    else {
      const detail = element.fault(one)
      if (detail !== null) faults.push({ pointer: `${at}/${i}`, detail })
    }
  }
}

const UNKNOWN = 'is not a known field'
/** What no refusal lists is made once: a body has room for a hundred thousand such fields. */
const COUNTED: Fault = { detail: UNKNOWN }

function addUnknown(faults: FaultSink, pointer: string, name: string, known: Iterable<string>): void {
  const isListed = faults.length <= MAX_LISTED_FAULTS
  const said = () => ({ pointer: `${pointer}/${escaped(name)}`, detail: unknownDetail(UNKNOWN, name, known) })
  faults.push(isListed ? said() : COUNTED)
}

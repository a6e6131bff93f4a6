/**
 * Reading a JSON body as its DTO. Nearly every body is valid, and to see that takes far less than class-validator needs: one
 * pass reads a body that is surely valid, by the rule of each member. Where it isn't sure, class-validator judges the
 * members. `@Checked` judges them together.
 */
import { validateSync } from 'class-validator'
import { componentName, type DtoMember, isObject, membersOf, type Together, togetherOf } from '../../fields/dto'
import { type DtoClass, type Field, type Judged, unknownDetail } from '../../fields/field'
import { type Fault, type FaultSink, MAX_LISTED_FAULTS } from '../../shared/errors'
import { JsonText } from '../../shared/json'
import { jsonFault } from '../../shared/json-faults'
import { escaped } from '../../shared/recentn-error'
import type { BodyReader } from '../route'
import type { JsonBody } from './body'
import { elementStarts, type JsonSource, memberStart, valueSource, wholeSource } from './json-source'

type JsonObject = Record<string, unknown>

/** A body of a route's, as its DTO says. */
export function bodyOf<D extends Judged>(dto: DtoClass<D>, example: unknown): BodyReader<D> {
  return { schema: componentName(dto), example, dto, read: (body, faults) => readBody(dto, body, faults) }
}

/** The DTO of a body. Where there are faults, they are added, and what is read is not to be used. */
export function readBody<D extends Judged>(dto: DtoClass<D>, { value, text }: JsonBody, faults: FaultSink): D {
  const source = wholeSource({ text })
  const sure = readSurely(planOf(dto), value, source)
  if (sure !== null) return sure as D
  const count = faults.length
  addFaults(dto, value, '', faults, source)
  if (faults.length === count) throw new Error(`A body ${componentName(dto)} is neither valid nor has it a fault`)
  return new dto()
}

interface MemberReader extends DtoMember {
  /** The library's form of a value of the object at `source`; undefined where it isn't surely valid. */
  read(given: unknown, source: JsonSource): unknown
}

/** The parts that are made of a DTO once. */
interface BodyPlan {
  Dto: DtoClass
  readers: ReadonlyMap<string, MemberReader>
  requiredCount: number
  together: Together | undefined
}
const plans = new Map<DtoClass, BodyPlan>()

function planOf(dto: DtoClass): BodyPlan {
  let plan = plans.get(dto)
  if (!plan) {
    const members = [...membersOf(dto)]
    const readers = members.map(([name, member]) => [name, { ...member, read: readerOf(name, member.field) }] as const)
    const requiredCount = members.filter(([, { isRequired }]) => isRequired).length
    plan = { Dto: dto, readers: new Map(readers), requiredCount, together: togetherOf(dto) }
    plans.set(dto, plan)
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
  if (element?.dto) {
    const plan = planOf(element.dto)
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
function readSurely(plan: BodyPlan, value: unknown, source: JsonSource): JsonObject | null {
  const { Dto, readers, requiredCount, together } = plan
  if (!isObject(value)) return null
  const read = new Dto() as object as JsonObject
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
  return missing === 0 && !together?.(read).length ? read : null
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

/** Adds what is wrong with a value at `pointer`, by its DTO. */
export function addFaults(dto: DtoClass, value: unknown, pointer: string, faults: FaultSink, source: JsonSource): void {
  if (!isObject(value)) {
    faults.push({ pointer, detail: 'must be an object' })
    return
  }
  const { readers, together } = planOf(dto)
  const judged = new dto() as object as JsonObject
  for (const name of Object.keys(value)) {
    const member = readers.get(name)
    // Unknown members are not given to class-validator, which takes long over thousands of fields.
    if (member === undefined) addUnknown(faults, pointer, name, readers.keys())
    else if (value[name] !== null || member.null !== 'left out') {
      judged[name] = toJudge(member, name, value[name], source)
    }
  }
  // class-validator calls an object without rules unknown.
  const errors = readers.size === 0 ? [] : validateSync(judged, { validationError: { target: false, value: false } })
  const said = new Map(errors.map(({ property, constraints = {} }) => [property, Object.values(constraints)]))
  for (const [name, { field }] of readers) {
    if (isValidList(field, judged[name])) continue
    for (const detail of said.get(name) ?? []) faults.push({ pointer: `${pointer}/${name}`, detail })
  }
  for (const [name, { field }] of readers) addElementFaults(field, name, judged[name], pointer, faults, source)
  for (const fault of together?.(judged) ?? []) {
    const placed = { ...fault, pointer: `${pointer}${fault.pointer}` }
    faults.push(placed)
  }
}

/** The value that the rule of a member judges: JSON by its text. A value without one stays, for the rule to name its fault. */
function toJudge({ field, null: meaning }: DtoMember, name: string, given: unknown, source: JsonSource): unknown {
  if (!field.isJson || given === undefined || (given === null && meaning !== 'value')) return given
  return jsonText(name, given, source) ?? given
}

/** Whether a member is a list of a valid length: its elements are judged one by one, so that each fault has its place. */
function isValidList({ element, fault }: Field, given: unknown): boolean {
  return element !== undefined && given !== undefined && given !== null && fault(given) === null
}

function addElementFaults(
  field: Field,
  name: string,
  given: unknown,
  pointer: string,
  faults: FaultSink,
  source: JsonSource,
): void {
  const { element } = field
  if (element === undefined || !isValidList(field, given)) return
  const at = `${pointer}/${name}`
  const sourceAt = elementSources(name, source)
  for (const [i, one] of (given as unknown[]).entries()) {
    const detail = element.dto ? null : element.fault(one)
    if (element.dto) addFaults(element.dto, one, `${at}/${i}`, faults, sourceAt(i))
    else if (detail !== null) faults.push({ pointer: `${at}/${i}`, detail })
  }
}

const UNKNOWN = 'is not a known field'
/** A fault that no refusal lists is made once: a body has room for a hundred thousand such fields. */
const COUNTED: Fault = { detail: UNKNOWN }

function addUnknown(faults: FaultSink, pointer: string, name: string, known: Iterable<string>): void {
  const isListed = faults.length <= MAX_LISTED_FAULTS
  const said = () => ({ pointer: `${pointer}/${escaped(name)}`, detail: unknownDetail(UNKNOWN, name, known) })
  faults.push(isListed ? said() : COUNTED)
}

/** From a parsed body to a DTO that class-validator has checked, or to what it appends: with every fault as a JSON pointer. */
import { getMetadataStorage, validateSync } from 'class-validator'
import { type Fault, type FaultSink, MAX_LISTED_FAULTS } from '../../errors'
import { jsonFault } from '../../json'
import type { NewGroupItem, NewItem } from '../../repositories/recent/types'
import type { JsonBody } from './body'
import { batchFault } from './dto/decorators'
import { BatchDto, NewGroupItemDto, NewItemDto, newGroupItemOf, newItemOf } from './dto/items'
import { elementSources, type Source, wholeSource } from './json-source'
import { isObject, memberText, quickBatch, quickItem } from './quick-items'

export type Class<T> = new () => T

const UNKNOWN_FIELD = 'is not a known field'

/** A DTO with the fields of a JSON object; faults are added for `pointer` and below. */
export function toDto<T extends object>(Dto: Class<T>, value: unknown, pointer: string, faults: FaultSink): T {
  const dto = new Dto()
  if (!isObject(value)) {
    faults.push({ pointer, detail: 'must be an object' })
    return dto
  }
  const fields = fieldsOf(Dto)
  for (const key of Object.keys(value)) {
    // What is not known is not given to class-validator, which takes long over thousands of fields.
    if (fields.has(key)) (dto as Record<string, unknown>)[key] = value[key]
    else addUnknown(faults, pointer, key)
  }
  checkDto(dto, pointer, faults)
  return dto
}

/** What no refusal lists is made once: a body has room for a hundred thousand such fields. */
const COUNTED: Fault = { detail: UNKNOWN_FIELD }

export function addUnknown(faults: FaultSink, pointer: string, key: string): void {
  const isListed = faults.length <= MAX_LISTED_FAULTS
  faults.push(isListed ? { pointer: `${pointer}/${escaped(key)}`, detail: UNKNOWN_FIELD } : COUNTED)
}

function checkDto(dto: object, pointer: string, faults: FaultSink): void {
  for (const { property, constraints = {} } of validateSync(dto, {
    validationError: { target: false, value: false },
  })) {
    for (const detail of Object.values(constraints)) faults.push({ pointer: `${pointer}/${escaped(property)}`, detail })
  }
}

const knownFields = new Map<Class<object>, ReadonlySet<string>>()

/** The fields that a DTO has rules for. */
function fieldsOf(Dto: Class<object>): ReadonlySet<string> {
  let fields = knownFields.get(Dto)
  if (!fields) {
    const rules = getMetadataStorage().getTargetValidationMetadatas(Dto, '', false, false)
    fields = new Set(rules.map(({ propertyName }) => propertyName))
    knownFields.set(Dto, fields)
  }
  return fields
}

/** A reference token of RFC 6901. */
function escaped(key: string): string {
  return key.replaceAll('~', '~0').replaceAll('/', '~1')
}

/** The item that a body gives. */
export function toItem(body: JsonBody, faults: FaultSink): NewItem {
  return quickItem(body) ?? newItemOf(itemDto(body, faults))
}

/** The items of a batch: `{"items": […]}`. */
export function toBatch(body: JsonBody, faults: FaultSink): NewGroupItem[] {
  return quickBatch(body) ?? batchDto(body, faults).map(newGroupItemOf)
}

export function itemDto(body: JsonBody, faults: FaultSink): NewItemDto {
  return itemAt(NewItemDto, body.value, '', faults, wholeSource(body))
}

export function batchDto(body: JsonBody, faults: FaultSink): NewGroupItemDto[] {
  const { items } = listed(BatchDto, 'items', body, faults)
  const sourceAt = elementSources(body, 'items')
  return items.map((item, i) => itemAt(NewGroupItemDto, item, `/items/${i}`, faults, sourceAt(i)))
}

/** A DTO with a list, which is empty when it is not valid, so that its elements are not looked at. */
export function listed<K extends string, T extends { [key in K]: unknown[] }>(
  Dto: Class<T>,
  name: K,
  body: JsonBody,
  faults: FaultSink,
): T {
  const dto = toDto(Dto, body.value, '', faults)
  if (batchFault(dto[name]) !== null) dto[name] = [] as unknown as T[K]
  return dto
}

function itemAt<T extends NewItemDto>(
  Dto: Class<T>,
  value: unknown,
  pointer: string,
  faults: FaultSink,
  source: Source,
): T {
  // A payload of null is none.
  const given = isObject(value) && value.payload !== null ? withText('payload', value, source) : value
  return toDto(Dto, given, pointer, faults)
}

/** The object with the member as `JsonText`; one that is no valid JSON stays as it is, for the rule to find and name. */
export function withText(name: string, value: unknown, source: Source): unknown {
  if (!isObject(value) || !Object.hasOwn(value, name)) return value
  if (jsonFault(value[name], source !== null) !== null) return value
  // A spread defines its keys, so that `__proto__` stays an ordinary one.
  return { ...value, [name]: memberText(name, value[name], source) }
}

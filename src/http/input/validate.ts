/** From a parsed body to a DTO that class-validator has checked, or to what it appends: with every fault as a JSON pointer. */
import { type ValidationError, validateSync } from 'class-validator'
import type { Fault } from '../../errors'
import { jsonFault } from '../../json'
import type { NewGroupItem, NewItem } from '../../repositories/recent/types'
import type { JsonBody } from './body'
import { BatchDto, NewGroupItemDto, NewItemDto, newGroupItemOf, newItemOf } from './dto/items'
import { elementSources, type Source, wholeSource } from './json-source'
import { isObject, memberText, quickBatch, quickItem } from './quick-items'

export type Class<T> = new () => T

const UNKNOWN_FIELD = 'is not a known field'

/** A DTO with the fields of a JSON object; faults are added for `pointer` and below. */
export function toDto<T extends object>(Dto: Class<T>, value: unknown, pointer: string, faults: Fault[]): T {
  const dto = new Dto()
  if (!isObject(value)) {
    faults.push({ pointer, detail: 'must be an object' })
    return dto
  }
  for (const key of Object.keys(value)) {
    // Names such as `constructor` and `__proto__` are no field of any DTO, and class-validator stumbles over them.
    if (key in Object.prototype) faults.push(unknownField(pointer, key))
    else Object.defineProperty(dto, key, { value: value[key], writable: true, enumerable: true, configurable: true })
  }
  checkDto(dto, pointer, faults)
  return dto
}

export function unknownField(pointer: string, key: string): Fault {
  return { pointer: `${pointer}/${escaped(key)}`, detail: UNKNOWN_FIELD }
}

function checkDto(dto: object, pointer: string, faults: Fault[]): void {
  const errors = validateSync(dto, {
    whitelist: true,
    forbidNonWhitelisted: true,
    validationError: { target: false, value: false },
  })
  for (const error of errors) {
    for (const detail of detailsOf(error)) faults.push({ pointer: `${pointer}/${escaped(error.property)}`, detail })
  }
}

function detailsOf({ constraints = {} }: ValidationError): string[] {
  return Object.entries(constraints).map(([rule, detail]) => (rule === 'whitelistValidation' ? UNKNOWN_FIELD : detail))
}

/** A reference token of RFC 6901. */
function escaped(key: string): string {
  return key.replaceAll('~', '~0').replaceAll('/', '~1')
}

/** The item that a body gives. */
export function toItem(body: JsonBody, faults: Fault[]): NewItem {
  return quickItem(body) ?? newItemOf(itemDto(body, faults))
}

/** The items of a batch: `{"items": […]}`. */
export function toBatch(body: JsonBody, faults: Fault[]): NewGroupItem[] {
  return quickBatch(body) ?? batchDto(body, faults).map(newGroupItemOf)
}

export function itemDto(body: JsonBody, faults: Fault[]): NewItemDto {
  return itemAt(NewItemDto, body.value, '', faults, wholeSource(body))
}

export function batchDto(body: JsonBody, faults: Fault[]): NewGroupItemDto[] {
  const { items } = listed(BatchDto, 'items', body, faults)
  const sourceAt = elementSources(body, 'items')
  return items.map((item, i) => itemAt(NewGroupItemDto, item, `/items/${i}`, faults, sourceAt(i)))
}

/** A DTO with a list, which is empty when it is not valid, so that its elements are not looked at. */
export function listed<K extends string, T extends { [key in K]: unknown[] }>(
  Dto: Class<T>,
  name: K,
  body: JsonBody,
  faults: Fault[],
): T {
  const before = faults.length
  const dto = toDto(Dto, body.value, '', faults)
  const isValid = Array.isArray(dto[name]) && !faults.some(({ pointer }, i) => i >= before && pointer === `/${name}`)
  if (!isValid) dto[name] = [] as unknown as T[K]
  return dto
}

function itemAt<T extends NewItemDto>(
  Dto: Class<T>,
  value: unknown,
  pointer: string,
  faults: Fault[],
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

/** From a parsed body to a DTO that class-validator has checked, or to what it appends: with every fault as a JSON pointer. */
import { type ValidationError, validateSync } from 'class-validator'
import type { Fault } from '../errors'
import { jsonFault } from '../json'
import type { NewGroupItem, NewItem } from '../repositories/recent/types'
import type { JsonBody } from './body'
import { BatchDto, NewGroupItemDto, NewItemDto, newGroupItemOf, newItemOf } from './dto/items'
import { elementStarts, memberStart, sourceOf } from './json-source'
import { payloadText, quickBatch, quickItem } from './quick-items'

type Class<T> = new () => T

const UNKNOWN_FIELD = 'is not a known field'

/** A DTO with the fields of a JSON object; faults are added for `pointer` and below. */
export function toDto<T extends object>(Dto: Class<T>, value: unknown, pointer: string, faults: Fault[]): T {
  const dto = new Dto()
  if (!isJsonObject(value)) {
    faults.push({ pointer, detail: 'must be an object' })
    return dto
  }
  for (const key of Object.keys(value)) {
    // Names such as `constructor` and `__proto__` are no field of any DTO, and class-validator stumbles over them.
    if (key in Object.prototype) faults.push({ pointer: `${pointer}/${key}`, detail: UNKNOWN_FIELD })
    else Object.defineProperty(dto, key, { value: value[key], writable: true, enumerable: true, configurable: true })
  }
  checkDto(dto, pointer, faults)
  return dto
}

function isJsonObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
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
  return itemAt(NewItemDto, body.value, '', faults, sourceOf(body), 0)
}

export function batchDto(body: JsonBody, faults: Fault[]): NewGroupItemDto[] {
  const before = faults.length
  const { items } = toDto(BatchDto, body.value, '', faults)
  if (!Array.isArray(items) || faults.some(({ pointer }, i) => i >= before && pointer === '/items')) return []
  const source = sourceOf(body)
  const starts = source === null ? [] : elementStarts(source, memberStart(source, 0, 'items'))
  return items.map((item, i) => itemAt(NewGroupItemDto, item, `/items/${i}`, faults, source, starts[i] ?? 0))
}

function itemAt<T extends NewItemDto>(
  Dto: Class<T>,
  value: unknown,
  pointer: string,
  faults: Fault[],
  text: string | null,
  start: number,
): T {
  if (!isJsonObject(value) || !Object.hasOwn(value, 'payload')) return toDto(Dto, value, pointer, faults)
  const { payload } = value
  // One that is no valid payload stays as it is, for the rule to find and name.
  if (payload === null || jsonFault(payload, text !== null) !== null) return toDto(Dto, value, pointer, faults)
  const source = text === null ? null : { text, start }
  // A spread defines its keys, so that `__proto__` stays an ordinary one.
  return toDto(Dto, { ...value, payload: payloadText(payload, source) }, pointer, faults)
}

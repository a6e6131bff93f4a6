/** What callers give, checked: every fault at once, nothing reaches a statement before. */
import { type Fault, invalidInput } from '../../errors'
import { cursorFault, keyPrefixFault } from '../../fields/feed-rules'
import { bodyFault, MAX_WAIT_SECONDS } from '../../fields/queue-rules'
import { formFault, integerFault, MAX_BATCH, nameFault } from '../../fields/rules'
import { jsonTextOf } from '../../json'
import { addFaults, faultsOf, limitRule, named, optional, refuse, rulesOf } from '../checking'
import type { ChangesRequest } from './changes'
import type { ChangesOptions, NewEntry, PutConsumerOptions, RepublishSelection, ValueOptions } from './types'
import type { EntryText } from './write'

const ENTRY_RULES = rulesOf({ key: nameFault, value: bodyFault })

const values = optional(formFault)
const VALUE_RULES = rulesOf({ values })

const CHANGES_RULES = rulesOf({
  after: optional(cursorFault),
  consumer: optional(nameFault),
  limit: optional(limitRule(MAX_BATCH)),
  waitSeconds: optional((value) => integerFault(value, 0, MAX_WAIT_SECONDS)),
  signal: optional((value) => (value instanceof AbortSignal ? null : 'must be an AbortSignal')),
  maxBytes: optional((value) => integerFault(value, 1, Number.MAX_SAFE_INTEGER)),
  values,
})

const FORCE_RULES = rulesOf({
  force: optional((value) => (typeof value === 'boolean' ? null : 'must be true or false')),
  from: optional(cursorFault),
})

export function checkFeed(feed: unknown): void {
  refuse(named('feed', feed))
}

export function checkKey(feed: unknown, key: unknown, options: ValueOptions = {}): void {
  refuse([...named('feed', feed), ...named('key', key), ...faultsOf(options, VALUE_RULES)])
}

export function checkedEntry(feed: unknown, key: unknown, value: unknown): EntryText {
  const faults = [...named('feed', feed), ...named('key', key)]
  const detail = bodyFault(value)
  if (detail !== null) faults.push({ pointer: '/value', detail })
  refuse(faults)
  return { key: key as string, text: jsonTextOf(value) }
}

/** 1 to 1,000 of them; faults at `/3/value` and so on. */
export function checkedEntries(feed: unknown, entries: readonly NewEntry[]): EntryText[] {
  const faults: Fault[] = named('feed', feed)
  if (!Array.isArray(entries) || entries.length < 1 || entries.length > MAX_BATCH) {
    throw invalidInput([...faults, { pointer: '', detail: `must be a list of 1 to ${MAX_BATCH} entries` }])
  }
  for (const [index, entry] of entries.entries()) addFaults(faults, entry, ENTRY_RULES, `/${index}`)
  refuse(faults)
  return entries.map(({ key, value }) => ({ key, text: jsonTextOf(value) }))
}

/** Which entries: by key, or by prefix. */
export function checkedSelection(
  feed: unknown,
  selection: RepublishSelection,
): { keys: readonly string[] } | { prefix: string } {
  const faults: Fault[] = named('feed', feed)
  addFaults(faults, selection, rulesOf({ keys: optional(listFault), prefix: optional(keyPrefixFault) }), '')
  const { keys, prefix } = (selection ?? {}) as RepublishSelection
  if (Array.isArray(keys)) {
    for (const [index, key] of keys.entries()) {
      const detail = nameFault(key)
      if (detail !== null) faults.push({ pointer: `/keys/${index}`, detail })
    }
  }
  if ((keys === undefined) === (prefix === undefined)) {
    faults.push({ pointer: '', detail: 'must have exactly one of keys and prefix' })
  }
  refuse(faults)
  return keys === undefined ? { prefix: prefix as string } : { keys }
}

function listFault(value: unknown): string | null {
  const isList = Array.isArray(value) && value.length >= 1 && value.length <= MAX_BATCH
  return isList ? null : `must be a list of 1 to ${MAX_BATCH}`
}

export function checkedChanges(feed: unknown, options: ChangesOptions): ChangesRequest {
  const faults = [...named('feed', feed), ...faultsOf(options, CHANGES_RULES)]
  if (options?.after !== undefined && options.consumer !== undefined) {
    for (const name of ['after', 'consumer']) {
      faults.push({ pointer: `/${name}`, detail: 'must not stand beside the other of after and consumer' })
    }
  }
  refuse(faults)
  const { limit = 100, maxBytes = Number.POSITIVE_INFINITY, values } = options
  return { feed: feed as string, limit, maxBytes, values }
}

export function checkConsumer(feed: unknown, consumer: unknown): void {
  refuse([...named('feed', feed), ...named('consumer', consumer)])
}

export function checkCursor(feed: unknown, consumer: unknown, cursor: unknown, options: PutConsumerOptions): void {
  const faults = [...named('feed', feed), ...named('consumer', consumer), ...faultsOf(options, FORCE_RULES)]
  const detail = cursorFault(cursor)
  if (detail !== null) faults.push({ pointer: '/cursor', detail })
  refuse(faults)
}

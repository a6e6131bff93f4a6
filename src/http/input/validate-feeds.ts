/** From a parsed body to what it asks of a feed, with every fault as a JSON pointer. */
import type { FaultSink } from '../../errors'
import { MAX_BATCH, nameFault } from '../../fields/rules'
import type { NewEntry, RepublishSelection } from '../../repositories/feeds/types'
import type { JsonBody } from './body'
import { EntriesDto, NewEntryDto, RepublishDto, ValueDto } from './dto/feeds'
import { elementSources, wholeSource } from './json-source'
import { quickEntries, quickValue } from './quick-entries'
import { isObject } from './quick-items'
import { listed, toDto, withText } from './validate'

/** The value that a body gives: `{"value": …}`. */
export function toValue(body: JsonBody, faults: FaultSink): unknown {
  return quickValue(body) ?? givenValue(body, faults)
}

export function givenValue(body: JsonBody, faults: FaultSink): unknown {
  return toDto(ValueDto, withText('value', body.value, wholeSource(body)), '', faults).value
}

/** The entries of a batch: `{"entries": […]}`. */
export function toEntries(body: JsonBody, faults: FaultSink): NewEntry[] {
  return quickEntries(body) ?? entriesOf(body, faults)
}

export function entriesOf(body: JsonBody, faults: FaultSink): NewEntry[] {
  const { entries } = listed(EntriesDto, 'entries', body, faults)
  const sourceAt = elementSources(body, 'entries')
  return entries.map((entry, i) => {
    const { key, value } = toDto(NewEntryDto, withText('value', entry, sourceAt(i)), `/entries/${i}`, faults)
    return { key, value }
  })
}

/** What a body wants published again: `{"keys": […]}` or `{"prefix": "…"}`. */
export function toSelection(body: JsonBody, faults: FaultSink): RepublishSelection {
  const dto = toDto(RepublishDto, body.value, '', faults)
  if (!isObject(body.value)) return {}
  const [keys, prefix] = [dto.keys ?? undefined, dto.prefix ?? undefined]
  if (keys === undefined && prefix === undefined)
    faults.push({ pointer: '', detail: 'must have exactly one of keys and prefix' })
  if (keys === undefined) return { prefix }
  if (prefix !== undefined) {
    faults.push({ pointer: '/keys', detail: 'must not be given with prefix' })
    faults.push({ pointer: '/prefix', detail: 'must not be given with keys' })
  }
  // Of a list that is too long one fault is enough.
  const checked = Array.isArray(keys) && keys.length <= MAX_BATCH ? keys : []
  for (const [i, key] of checked.entries()) {
    const detail = nameFault(key)
    if (detail !== null) faults.push({ pointer: `/keys/${i}`, detail })
  }
  return { keys }
}

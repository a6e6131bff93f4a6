import fc from 'fast-check'
import type { JsonBody } from '../../src/http/input/body'
import { newGroupItemOf, newItemOf } from '../../src/http/input/dto/items'
import { quickBatch, quickItem } from '../../src/http/input/quick-items'
import { batchDto, itemDto, toBatch, toItem } from '../../src/http/input/validate'
import { agree, expectAgreeing, json, key, name, object, time } from './support/json-texts'

const usual = {
  group: name,
  member: fc.oneof(name, fc.constant('null')),
  payload: json,
  occurredAt: fc.oneof(time, fc.constant('null')),
  eventId: name,
}
const fieldsOf = (...names: (keyof typeof usual)[]) =>
  fc.oneof(...names.map((field) => usual[field].map((value) => `"${field}":${value}`)))
/** A field as it is usually given; now and then any key with anything. */
const field = (...names: (keyof typeof usual)[]) =>
  fc.oneof(
    { weight: 12, arbitrary: fieldsOf(...names) },
    {
      weight: 1,
      arbitrary: fc
        .tuple(fc.oneof(key, fc.constantFrom(...names.map((n) => `"${n}"`))), json)
        .map((kv) => kv.join(':')),
    },
  )
const item = fc.oneof(
  { weight: 9, arbitrary: fc.array(field('member', 'payload', 'occurredAt', 'eventId'), { maxLength: 4 }) },
  { weight: 1, arbitrary: fc.array(field('group'), { maxLength: 1 }) },
)
const itemText = fc.oneof(
  { weight: 20, arbitrary: item.map((fields) => `{${fields.join(',')}}`) },
  { weight: 1, arbitrary: json },
)
const groupItemText = fc.oneof(
  {
    weight: 20,
    arbitrary: fc.tuple(usual.group, item).map(([group, fields]) => `{${[`"group":${group}`, ...fields].join(' , ')}}`),
  },
  { weight: 1, arbitrary: itemText },
)
const batchText = fc.oneof(
  {
    weight: 12,
    arbitrary: fc.array(groupItemText, { maxLength: 5 }).map((texts) => `{ "items": [${texts.join(',')}] }`),
  },
  { weight: 1, arbitrary: fc.tuple(key, itemText).map(([k, v]) => `{"items":[{"group":"g"}],${k}:${v}}`) },
  { weight: 1, arbitrary: object(fc.constant('"items"'), json) },
  { weight: 1, arbitrary: json },
)

const itemAgrees = (body: JsonBody) =>
  agree(
    quickItem(body),
    (faults) => newItemOf(itemDto(body, faults)),
    (faults) => toItem(body, faults),
  )
const batchAgrees = (body: JsonBody) =>
  agree(
    quickBatch(body),
    (faults) => batchDto(body, faults).map(newGroupItemOf),
    (faults) => toBatch(body, faults),
  )

describe('the quick reading of a body and the DTOs agree', () => {
  test('on one item', () => {
    expectAgreeing(itemText, itemAgrees, { texts: 3000, valid: [1000, 5000] })
  })

  test('on a batch', () => {
    expectAgreeing(batchText, batchAgrees, { texts: 2000, valid: [500, 3500] })
  })

  test.each([0, 1, 2, 999, 1000, 1001])('on %i items', (count) => {
    const body = { value: { items: Array.from({ length: count }, () => ({ group: 'g' })) }, text: null }
    expect(batchAgrees(body)).toBe(count >= 1 && count <= 1000)
  })

  test('on what only a parser of the surrounding app can give', () => {
    const inherited = Object.create({ member: 7, payload: 'inherited', items: [] })
    const values = [
      inherited,
      Object.assign(Object.create(inherited), { member: 'm' }),
      Object.assign(Object.create(null), { member: 'm', payload: { a: 1 } }),
      { member: undefined, payload: undefined, occurredAt: undefined, eventId: undefined },
      { payload: { a: undefined, at: new Date(0) } },
      { payload: new Date(Number.NaN) },
      { payload: { toJSON: () => ({ a: 1 }) } },
      { payload: { toJSON: () => undefined } },
      { payload: () => 1 },
      { payload: Number.NaN },
      { payload: 1n },
      { occurredAt: new Date(0) },
      { group: 'g' },
      { items: { length: 1, 0: { group: 'g' } } },
      new Map([['member', 'm']]),
      () => ({}),
      Symbol('item'),
      undefined,
    ]
    for (const value of values) {
      itemAgrees({ value, text: null })
      batchAgrees({ value, text: null })
      batchAgrees({ value: { items: [value] }, text: null })
      batchAgrees({ value: { items: [typeof value === 'object' ? { ...value, group: 'g' } : value] }, text: null })
    }
    expect(quickItem({ value: inherited, text: null })).toMatchObject({ member: null, payload: null })
  })
})

import fc from 'fast-check'
import type { Fault } from '../../src/errors'
import type { JsonBody } from '../../src/http/body'
import { newGroupItemOf, newItemOf } from '../../src/http/dto/items'
import { quickBatch, quickItem } from '../../src/http/quick-items'
import { batchDto, itemDto, toBatch, toItem } from '../../src/http/validate'

/** JSON texts, among them what JSON.parse rounds, what it keeps from no prototype, and what a rule refuses. */
const number = fc.oneof(
  fc.constantFrom(
    '0',
    '-0',
    '1.0',
    '1.50',
    '1e2',
    '1E-7',
    '1e400',
    '-1e400',
    '12345678901234567890',
    '0.1234567890123456',
  ),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => JSON.stringify(value)),
  fc.integer().map(String),
)
/** Any UTF-16 units, lone surrogates and control characters among them. */
const units = fc.array(fc.oneof(fc.integer({ min: 0, max: 0xffff }), fc.constantFrom(0xd800, 0xdfff, 0x1f, 0x41)))
const anyString = fc.oneof(
  units.map((codes) => JSON.stringify(String.fromCharCode(...codes))),
  fc.constantFrom('""', '"."', '".."', '"\\ud800"', '"\\u0000"', '"\\u0085"', '" a"', `"${'é'.repeat(40_000)}"`),
  fc.integer({ min: 189, max: 193 }).chain((n) => fc.constantFrom(`"${'a'.repeat(n)}"`, `"${'😀'.repeat(n)}"`)),
)
const time = fc.oneof(
  fc.date({ noInvalidDate: true }).map((date) => JSON.stringify(date)),
  fc.constantFrom(
    '"1970-01-01T00:00:00Z"',
    '"1969-12-31T23:59:59.9Z"',
    '"2026-02-29T00:00:00Z"',
    '"9999-12-31T23:59:59.999-01:00"',
  ),
  fc.constantFrom(
    '"2026-11-21t10:00:00.1239999+05:30"',
    '"2026-11-21"',
    '"2026-11-21T24:00:00Z"',
    '"2026-11-21T10:00:00.120Z"',
  ),
)
const nested = fc.integer({ min: 62, max: 66 }).map((depth) => '['.repeat(depth) + ']'.repeat(depth))
const space = fc.constantFrom('', '', '', ' ', '\n\t ')
const key = fc.oneof(
  fc.constantFrom('"__proto__"', '"constructor"', '"toString"', '"toJSON"', '"payload"', '"member"', '"\\udc00"'),
  fc.string().map((text) => JSON.stringify(text)),
)
const list = (element: fc.Arbitrary<string>) =>
  fc.tuple(fc.array(element, { maxLength: 4 }), space).map(([texts, gap]) => `[${gap}${texts.join(`,${gap}`)}${gap}]`)
const object = (keyText: fc.Arbitrary<string>, value: fc.Arbitrary<string>) =>
  fc
    .tuple(fc.array(fc.tuple(keyText, value), { maxLength: 5 }), space)
    .map(([members, gap]) => `{${gap}${members.map(([k, v]) => `${k}${gap}:${gap}${v}`).join(`,${gap}`)}${gap}}`)
const { json } = fc.letrec<{ json: string }>((tie) => ({
  json: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom('null', 'true', 'false'),
    number,
    anyString,
    nested,
    list(tie('json')),
    object(key, tie('json')),
  ),
}))

const name = fc.oneof(
  { weight: 4, arbitrary: fc.stringMatching(/^[a-z:é😀]{1,12}$/u).map((s) => JSON.stringify(s)) },
  {
    weight: 1,
    arbitrary: anyString,
  },
)
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

/** A body as it is read from the wire, and as a parser of the surrounding app leaves it. */
function bodiesOf(text: string): JsonBody[] {
  return [
    { value: JSON.parse(text), text },
    { value: JSON.parse(text), text: null },
  ]
}

/** Both ways to read a body agree: the quick one is sure exactly where the DTO finds no fault, and reads the same. */
function agree<T>(quick: T | null, slow: (faults: Fault[]) => T, read: (faults: Fault[]) => T): boolean {
  const faults: Fault[] = []
  const expected = slow(faults)
  if (faults.length === 0) expect(quick).toStrictEqual(expected)
  else expect(quick).toBeNull()
  const told: Fault[] = []
  const given = read(told)
  expect(told).toEqual(faults)
  if (faults.length === 0) expect(given).toStrictEqual(expected)
  return faults.length === 0
}

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
    let valid = 0
    const property = fc.property(itemText, (text) => {
      for (const body of bodiesOf(text)) if (itemAgrees(body)) valid++
    })
    fc.assert(property, { numRuns: 3000 })
    // Neither verdict is rare, or the property says little.
    expect(valid).toBeGreaterThan(1000)
    expect(valid).toBeLessThan(5000)
  })

  test('on a batch', () => {
    let valid = 0
    const property = fc.property(batchText, (text) => {
      for (const body of bodiesOf(text)) if (batchAgrees(body)) valid++
    })
    fc.assert(property, { numRuns: 2000 })
    expect(valid).toBeGreaterThan(500)
    expect(valid).toBeLessThan(3500)
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

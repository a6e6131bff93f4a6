import fc from 'fast-check'
import type { Fault } from '../../src/errors'
import type { JsonBody } from '../../src/http/input/body'
import { quickEntries, quickValue } from '../../src/http/input/quick-entries'
import { entriesOf, givenValue, toEntries, toValue } from '../../src/http/input/validate-feeds'
import { agree, expectAgreeing, json, key, name, object } from './support/json-texts'

const value = fc.oneof(
  { weight: 12, arbitrary: json },
  { weight: 1, arbitrary: fc.constant(`"${'é'.repeat(140_000)}"`) },
)
/** Any key with anything, and the known ones a second time. */
const stray = fc
  .tuple(fc.oneof(key, fc.constantFrom('"key"', '"value"', '"version"')), json)
  .map((member) => member.join(':'))
const membersOf = (...usual: fc.Arbitrary<string>[]) =>
  fc.oneof(
    { weight: 14, arbitrary: fc.tuple(...usual).map((members) => `{${members.join(' , ')}}`) },
    { weight: 1, arbitrary: fc.tuple(...usual, stray).map((members) => `{${members.join(',')}}`) },
    {
      weight: 1,
      arbitrary: fc
        .subarray(usual.map((_, i) => i))
        .chain((kept) =>
          fc.tuple(...kept.map((i) => usual[i] as fc.Arbitrary<string>)).map((members) => `{${members.join(',')}}`),
        ),
    },
    { weight: 1, arbitrary: json },
  )
const valueMember = value.map((text) => `"value": ${text}`)
const keyMember = name.map((text) => `"key":${text}`)
const entry = fc.oneof(membersOf(keyMember, valueMember), membersOf(valueMember, keyMember))
const entries = fc.oneof(
  { weight: 12, arbitrary: fc.array(entry, { maxLength: 4 }).map((texts) => `{ "entries": [${texts.join(',')}] }`) },
  { weight: 1, arbitrary: stray.map((member) => `{"entries":[{"key":"a","value":1}],${member}}`) },
  { weight: 1, arbitrary: object(fc.constant('"entries"'), json) },
)

const valueAgrees = (body: JsonBody) =>
  agree<unknown>(
    quickValue(body),
    (faults: Fault[]) => givenValue(body, faults),
    (faults) => toValue(body, faults),
  )
const entriesAgree = (body: JsonBody) =>
  agree(
    quickEntries(body),
    (faults) => entriesOf(body, faults),
    (faults) => toEntries(body, faults),
  )

describe('the quick reading of a body and the DTOs agree', () => {
  test.each([
    ['on one value', membersOf(valueMember), valueAgrees],
    ['on many entries', entries, entriesAgree],
  ] as const)('%s', (_what, texts, agrees) => {
    expectAgreeing(texts, agrees, { texts: 2000, valid: [300, 3700] })
  })

  test.each([0, 1, 2, 999, 1000, 1001])('on %i entries', (count) => {
    const body = { value: { entries: Array.from({ length: count }, () => ({ key: 'k', value: null })) }, text: null }
    expect(entriesAgree(body)).toBe(count >= 1 && count <= 1000)
  })

  test('on what only a parser of the surrounding app can give', () => {
    const values = [
      Object.assign(Object.create({ value: 'inherited' }), { key: 'm' }),
      Object.assign(Object.create(null), { key: 'k', value: { a: 1 } }),
      Object.assign(Object.create(null), { value: 1 }),
      { value: undefined },
      { key: undefined, value: 1 },
      { key: 'k', value: undefined },
      { value: { a: undefined, at: new Date(0) } },
      { value: new Date(Number.NaN) },
      { value: { toJSON: () => undefined } },
      { value: () => 1 },
      { key: 'k', value: Number.NaN },
      { key: 'k', value: 1n },
      new Map([['value', 'm']]),
      Symbol('value'),
      undefined,
    ]
    for (const given of values) {
      valueAgrees({ value: given, text: null })
      entriesAgree({ value: { entries: [given] }, text: null })
    }
    expect(quickEntries({ value: { entries: [values[0]] }, text: null })).toBeNull()
  })
})

/** A body is read without class-validator exactly where class-validator finds no fault in its DTO, and as it was written. */
import fc from 'fast-check'
import type { Fault } from '../../src/errors'
import * as feeds from '../../src/fields/feeds'
import type { Body } from '../../src/fields/field'
import * as groups from '../../src/fields/groups'
import * as queues from '../../src/fields/queues'
import type { JsonBody } from '../../src/http/input/body'
import { wholeSource } from '../../src/http/input/json-source'
import { addFaults, isObject, readBody } from '../../src/http/input/read'
import { JsonText } from '../../src/json'
import { json, key, name, time } from './support/json-texts'

const whole = (min: number, max: number) =>
  fc.oneof(
    { weight: 12, arbitrary: fc.integer({ min, max }).map(String) },
    {
      weight: 1,
      arbitrary: fc.constantFrom(`${min - 1}`, `${max + 1}`, '1.5', '1e2', '-0', `${min}`, `${max}`, 'null'),
    },
  )
const value = fc.oneof(
  { weight: 12, arbitrary: json },
  { weight: 1, arbitrary: fc.constant(`"${'é'.repeat(140_000)}"`) },
)
const orNull = (text: fc.Arbitrary<string>) => fc.oneof({ weight: 8, arbitrary: text }, fc.constant('null'))
const words = (...all: string[]) => orNull(fc.constantFrom(...all.map((word) => `"${word}"`), '"other"'))
/** How each member is usually given. */
const USUAL: Readonly<Record<string, fc.Arbitrary<string>>> = {
  group: name,
  member: orNull(name),
  payload: json,
  occurredAt: orNull(time),
  eventId: name,
  capacity: whole(1, 10_000),
  mode: words('history', 'distinct'),
  ttlSeconds: whole(1, 315_360_000_000),
  forgetEmptySeconds: whole(1, 315_360_000_000),
  body: value,
  delaySeconds: whole(0, 315_360_000),
  visibilityTimeoutSeconds: whole(0, 43_200),
  maxReceives: whole(1, 1_000_000),
  dedupId: orNull(name),
  priority: whole(-1000, 1000),
  messageGroup: name,
  attributes: orNull(
    fc.oneof(
      fc.constantFrom('{}', '{"a":"b"}', '{"a":1}', '{"a b":""}', '[]'),
      fc.dictionary(fc.string({ maxLength: 3 }), fc.string()).map((all) => JSON.stringify(all)),
    ),
  ),
  deadLetterQueue: orNull(name),
  onDelete: words('remove', 'archive'),
  retentionSeconds: whole(1, 315_360_000_000),
  paused: fc.constantFrom('true', 'null'),
  limit: whole(1, 1000),
  waitSeconds: whole(0, 20),
  cursor: orNull(
    fc.oneof(
      name,
      fc.nat().map((id) => `"${id}"`),
    ),
  ),
  receiptHandle: name,
  receiptHandles: fc.array(fc.oneof({ weight: 9, arbitrary: name }, json), { maxLength: 3 }).map((all) => `[${all}]`),
  ids: fc
    .array(fc.oneof({ weight: 9, arbitrary: fc.nat().map((id) => `"${id}"`) }, json), { minLength: 1, maxLength: 3 })
    .map((all) => `[${all}]`),
  error: orNull(fc.string().map((text) => JSON.stringify(text))),
  dead: words('true'),
  key: name,
  value,
  force: fc.constantFrom('true', 'false', 'null'),
}

/** A body by its definition: the members that it must have and some others; now and then any member with anything. */
function textOf({ members }: Body): fc.Arbitrary<string> {
  const needed = Object.keys(members).filter((each) => members[each]?.isRequired)
  const memberText = (each: string) => (memberOf(each) ?? json).map((text) => `"${each}": ${text}`)
  const memberOf = (each: string) => {
    const element = members[each]?.field.element
    return element && 'members' in element ? listOf(element) : USUAL[each]
  }
  const any = Object.keys(members).length === 0 ? fc.constant('') : fc.constantFrom(...Object.keys(members))
  const stray = fc
    .tuple(
      fc.oneof(
        key,
        any.map((each) => JSON.stringify(each)),
      ),
      json,
    )
    .map((member) => member.join(':'))
  const further = fc.oneof({ weight: 14, arbitrary: any.chain(memberText) }, { weight: 1, arbitrary: stray })
  const all = fc.tuple(fc.tuple(...needed.map(memberText)), fc.array(further, { maxLength: 3 }), fc.boolean())
  return fc.oneof(
    {
      weight: 14,
      arbitrary: all.map(([first, last, isTurned]) => {
        const texts = isTurned ? [...last, ...first] : [...first, ...last]
        return `{${texts.filter((text) => text !== '"": null').join(' , ')}}`
      }),
    },
    { weight: 1, arbitrary: fc.array(further, { maxLength: 2 }).map((texts) => `{${texts.join(',')}}`) },
    { weight: 1, arbitrary: json },
  )
}

function listOf(element: Body): fc.Arbitrary<string> {
  return fc.array(textOf(element), { minLength: 1, maxLength: 4 }).map((texts) => `[${texts.join(', ')}]`)
}

/** Whether the body is valid, on which both must agree. */
function agrees(definition: Body, body: JsonBody): boolean {
  const judged: Fault[] = []
  addFaults(definition, body.value, '', judged, wholeSource(body))
  const told: Fault[] = []
  const read = readBody(definition, body, told)
  expect(told).toEqual(judged)
  if (told.length === 0) expectRead(definition, read, body)
  return told.length === 0
}

/** What is read has the members that were given, JSON as its text. */
function expectRead({ members }: Body, read: Record<string, unknown>, { value: given, text }: JsonBody): void {
  for (const [each, one] of Object.entries(given as Record<string, unknown>)) {
    const { field, null: meaning } = members[each] ?? {}
    if (field?.isJson && one !== undefined && (one !== null || meaning === 'value')) {
      expect(read[each]).toBeInstanceOf(JsonText)
      // What only a parser of the app gives is written as JSON.stringify does.
      if (text !== null) expect((read[each] as JsonText).parse()).toEqual(one)
    } else if (field?.wire && one) expect(read[each]).toEqual(field.wire.read(one))
    else if (!field?.element && one !== null) expect(read[each]).toEqual(one)
    else if (meaning === 'left out' && one === null) expect(read).not.toHaveProperty(each)
    else if (meaning === 'kept' && one === null) expect(read[each]).toBeNull()
  }
}

const definitions = [...Object.values(groups), ...Object.values(queues), ...Object.values(feeds)].filter(
  (each): each is Body => isObject(each) && 'members' in each,
)

describe('the reading of a body and the DTO of class-validator agree', () => {
  test.each(definitions.map((each) => [each.name, each] as const))('on %s', (_name, definition) => {
    const valid = { count: 0 }
    const numRuns = definition.name === 'NoFields' ? 100 : 400
    const property = fc.property(textOf(definition), (text) => {
      const parsed = JSON.parse(text)
      for (const body of [
        { value: parsed, text },
        { value: parsed, text: null },
      ]) {
        if (agrees(definition, body)) valid.count++
      }
    })
    fc.assert(property, { numRuns })
    // Neither verdict is rare: else it says little.
    expect(valid.count).toBeGreaterThan(numRuns / 10)
    expect(valid.count).toBeLessThan(2 * numRuns - numRuns / 50)
  })

  test.each([
    [groups.BATCH, 'items', { group: 'g' }],
    [queues.MESSAGES, 'messages', { body: 1 }],
    [feeds.NEW_ENTRIES, 'entries', { key: 'k', value: null }],
    [queues.ACK, 'receiptHandles', 'handle'],
  ] as const)('on how many are in a list: %#', (definition, list, element) => {
    for (const length of [0, 1, 2, 999, 1000, 1001]) {
      const body = { value: { [list]: Array.from({ length }, () => element) }, text: null }
      expect(agrees(definition as Body, body)).toBe(length >= 1 && length <= 1000)
    }
    for (const given of [{ length: 1, 0: element }, 'list', 7, null]) {
      expect(agrees(definition as Body, { value: { [list]: given }, text: null })).toBe(false)
    }
  })

  test('on what only a parser of the surrounding app can give', () => {
    const inherited = Object.create({ member: 7, payload: 'inherited', items: [7], body: 1, value: 1, key: 'k' })
    const odd = [{ a: undefined, at: new Date(0) }, new Date(Number.NaN), () => 1, Number.NaN, 1n, undefined]
    const written = [{ toJSON: () => ({ a: 1 }) }, { toJSON: () => undefined }, new Date(0)]
    const members = ['member', 'payload', 'occurredAt', 'group', 'items', 'body', 'priority', 'key', 'value']
    const values: unknown[] = [
      inherited,
      Object.assign(Object.create(inherited), { member: 'm', body: 1 }),
      Object.assign(Object.create(null), { member: 'm', payload: { a: 1 } }),
      Object.assign(Object.create(null), { key: 'k', value: { a: 1 } }),
      new Map([['member', 'm']]),
      () => ({}),
      Symbol('item'),
      undefined,
      ...[...odd, ...written].flatMap((one) => members.map((each) => ({ [each]: one }))),
      ...[...odd, ...written].map((one) => ({ key: 'k', value: one })),
      ...[...odd, ...written].map((one) => ({ body: 1, priority: one })),
    ]
    for (const definition of definitions) {
      const lists = Object.keys(definition.members).filter((each) => definition.members[each]?.field.element)
      for (const value of values) {
        agrees(definition, { value, text: null })
        for (const list of lists) agrees(definition, { value: { [list]: [value] }, text: null })
      }
    }
    expect(readBody(groups.NEW_ITEM, { value: inherited, text: null }, [])).toEqual({})
  })
})

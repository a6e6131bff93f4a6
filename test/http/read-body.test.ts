/** A body is read without class-validator exactly where class-validator finds no fault in its DTO, and as it was written. */
import { validateSync } from 'class-validator'
import fc from 'fast-check'
import { componentName, membersOf } from '../../src/fields/dto'
import * as feeds from '../../src/fields/feeds'
import { type DtoClass, Judged } from '../../src/fields/field'
import * as groups from '../../src/fields/groups'
import * as messages from '../../src/fields/messages'
import * as queues from '../../src/fields/queues'
import * as schedules from '../../src/fields/schedules'
import type { JsonBody } from '../../src/http/input/body'
import { wholeSource } from '../../src/http/input/json-source'
import { addFaults, readBody } from '../../src/http/input/read'
import type { Fault } from '../../src/shared/errors'
import { JsonText } from '../../src/shared/json'
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
const rate = fc.oneof(
  fc.constantFrom('{}', '[]', '{"messages":1,"perSeconds":0}', '{"messages":1,"perSeconds":1,"more":1}'),
  fc
    .tuple(whole(1, 100_000), whole(1, 86_400))
    .map(([messages, seconds]) => `{"messages":${messages},"perSeconds":${seconds}}`),
)

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
  onKey: words('keep', 'replace', 'postpone'),
  maxDelaySeconds: whole(0, 315_360_000),
  attributes: orNull(
    fc.oneof(
      fc.constantFrom('{}', '{"a":"b"}', '{"a":1}', '{"a b":""}', '[]'),
      fc.dictionary(fc.string({ maxLength: 3 }), fc.string()).map((all) => JSON.stringify(all)),
    ),
  ),
  deadLetterQueue: orNull(name),
  onAck: words('remove', 'archive'),
  retentionSeconds: whole(1, 315_360_000_000),
  rateLimit: orNull(rate),
  groupRateLimit: orNull(rate),
  seconds: whole(0, 43_200),
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
  from: name,
  key: name,
  ifVersion: whole(0, 9),
  keys: fc.array(name, { minLength: 1, maxLength: 3 }).map((all) => `[${all}]`),
  prefix: name,
  value,
  force: fc.constantFrom('true', 'false', 'null'),
  queue: name,
  cron: orNull(fc.constantFrom('"30 2 * * *"', '"never"')),
  everySeconds: whole(1, 315_360_000),
  timeZone: orNull(fc.constantFrom('"UTC"', '"Europe/Berlin"', '"Mars/North"')),
  missed: words('send-once', 'skip'),
}

/** A body by its DTO: the members that it must have and some others; now and then any member with anything. */
function textOf(dto: DtoClass): fc.Arbitrary<string> {
  const members = membersOf(dto)
  const names = [...members.keys()]
  const needed = names.filter((each) => members.get(each)?.isRequired)
  if (dto === schedules.NewScheduleDto) needed.push('everySeconds')
  const memberText = (each: string) => (memberOf(each) ?? json).map((text) => `"${each}": ${text}`)
  const memberOf = (each: string) => {
    const element = members.get(each)?.field.element
    return element?.dto ? listOf(element.dto) : USUAL[each]
  }
  const any = names.length === 0 ? fc.constant('') : fc.constantFrom(...names)
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

function listOf(element: DtoClass): fc.Arbitrary<string> {
  return fc.array(textOf(element), { minLength: 1, maxLength: 4 }).map((texts) => `[${texts.join(', ')}]`)
}

/** Whether the body is valid, on which both must agree. */
function agrees(dto: DtoClass, body: JsonBody): boolean {
  const judged: Fault[] = []
  addFaults(dto, body.value, '', judged, wholeSource(body))
  const told: Fault[] = []
  const read = readBody(dto, body, told)
  expect(told).toEqual(judged)
  expect(read).toBeInstanceOf(dto)
  if (told.length === 0) expectRead(dto, read as object as Record<string, unknown>, body)
  return told.length === 0
}

/** A body that is read has the members that were given, JSON as its text. */
function expectRead(dto: DtoClass, read: Record<string, unknown>, { value: given, text }: JsonBody): void {
  const members = membersOf(dto)
  for (const [each, one] of Object.entries(given as Record<string, unknown>)) {
    const { field, null: meaning } = members.get(each) ?? {}
    if (field?.isJson && one !== undefined && (one !== null || meaning === 'value')) {
      expect(read[each]).toBeInstanceOf(JsonText)
      // A value that only an app's parser gives is written as JSON.stringify does.
      if (text !== null) expect((read[each] as JsonText).parse()).toEqual(one)
    } else if (field?.wire && one) expect(read[each]).toEqual(field.wire.read(one))
    else if (!field?.element && one !== null) expect(read[each]).toEqual(one)
    else if (meaning === 'left out' && one === null) expect(read).not.toHaveProperty(each)
    else if (meaning === 'kept' && one === null) expect(read[each]).toBeNull()
  }
}

const dtos = [groups, queues, messages, feeds, schedules]
  .flatMap((each): unknown[] => Object.values(each))
  .filter((each): each is DtoClass => typeof each === 'function' && each.prototype instanceof Judged)

describe('the reading of a body and the DTO of class-validator agree', () => {
  test.each(dtos.map((each) => [componentName(each), each] as const))('on %s', (name, dto) => {
    const valid = { count: 0 }
    const numRuns = name === 'NoFields' ? 100 : 400
    const property = fc.property(textOf(dto), (text) => {
      const parsed = JSON.parse(text)
      for (const body of [
        { value: parsed, text },
        { value: parsed, text: null },
      ]) {
        if (agrees(dto, body)) valid.count++
      }
    })
    fc.assert(property, { numRuns })
    // Neither verdict is rare: else it says little.
    expect(valid.count).toBeGreaterThan(numRuns / 10)
    expect(valid.count).toBeLessThan(2 * numRuns - numRuns / 50)
  })

  test.each([
    [groups.BatchDto, 'items', { group: 'g' }],
    [messages.MessagesDto, 'messages', { body: 1 }],
    [feeds.NewEntriesDto, 'entries', { key: 'k', value: null }],
    [messages.AckDto, 'receiptHandles', 'handle'],
  ] as const)('on how many are in a list: %#', (dto, list, element) => {
    for (const length of [0, 1, 2, 999, 1000, 1001]) {
      const body = { value: { [list]: Array.from({ length }, () => element) }, text: null }
      expect(agrees(dto, body)).toBe(length >= 1 && length <= 1000)
    }
    for (const given of [{ length: 1, 0: element }, 'list', 7, null]) {
      expect(agrees(dto, { value: { [list]: given }, text: null })).toBe(false)
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
    for (const dto of dtos) {
      const lists = [...membersOf(dto)].filter(([, { field }]) => field.element).map(([each]) => each)
      for (const value of values) {
        agrees(dto, { value, text: null })
        for (const list of lists) agrees(dto, { value: { [list]: [value] }, text: null })
      }
    }
    expect(readBody(groups.NewItemDto, { value: inherited, text: null }, [])).toEqual({})
  })
})

test.each([
  [new groups.NewItemDto(), { member: '', payload: 1 }, 'must not be empty'],
  [new queues.QueueChangesDto(), { onAck: null }, 'must be one of remove, archive'],
  [new queues.QueueSettingsDto(), { onAck: null, maxReceives: 1, paused: true }, expect.any(String)],
  [new messages.MessagesDto(), { messages: [] }, 'must be a list of 1 to 1000'],
  [new messages.MessagesDto(), { messages: [{ body: 1 }, {}] }, '/1/body: is required'],
  [new messages.AckDto(), { receiptHandles: ['a', 7] }, '/1: must be a string'],
  [new groups.PolicySettingsDto(), { capacity: 0, mode: 'history' }, 'must be a whole number from 1 to 10000'],
  [new groups.PolicyChangesDto(), { capacity: null }, 'must be a whole number from 1 to 10000'],
])('class-validator alone judges a DTO: %p', (dto, given, valid) => {
  expect(validateSync(Object.assign(dto, given)).map((error) => error.constraints)).toEqual([{ valid }])
})

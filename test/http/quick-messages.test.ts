import fc from 'fast-check'
import type { Fault } from '../../src/errors'
import type { JsonBody } from '../../src/http/input/body'
import { quickMessage, quickMessages } from '../../src/http/input/quick-messages'
import { messageOf, messagesOf, toSending } from '../../src/http/input/validate-messages'
import { agree, expectAgreeing, json, key, name, object } from './support/json-texts'

const whole = (min: number, max: number) =>
  fc.oneof(
    { weight: 12, arbitrary: fc.integer({ min, max }).map(String) },
    {
      weight: 1,
      arbitrary: fc.constantFrom(`${min - 1}`, `${max + 1}`, '1.5', '1e2', '-0', `${min}`, `${max}`, 'null'),
    },
  )
const usual = {
  body: fc.oneof({ weight: 12, arbitrary: json }, { weight: 1, arbitrary: fc.constant(`"${'é'.repeat(140_000)}"`) }),
  delaySeconds: whole(0, 315_360_000),
  visibilityTimeoutSeconds: whole(0, 43_200),
  maxReceives: whole(1, 1_000_000),
  dedupId: fc.oneof(name, fc.constant('null')),
  priority: whole(-1000, 1000),
  messageGroup: name,
}
const names = Object.keys(usual) as (keyof typeof usual)[]
/** A field as it is usually given; now and then any key with anything. */
const field = fc.oneof(
  {
    weight: 14,
    arbitrary: fc.oneof(...names.slice(1).map((field) => usual[field].map((value) => `"${field}":${value}`))),
  },
  {
    weight: 1,
    arbitrary: fc.tuple(fc.oneof(key, fc.constantFrom(...names.map((n) => `"${n}"`))), json).map((kv) => kv.join(':')),
  },
)
const messageText = fc.oneof(
  {
    weight: 20,
    arbitrary: fc
      .tuple(usual.body, fc.array(field, { maxLength: 3 }), fc.nat(3))
      .map(([body, fields, at]) => `{${fields.toSpliced(at, 0, `"body": ${body}`).join(' , ')}}`),
  },
  { weight: 1, arbitrary: fc.array(field, { maxLength: 2 }).map((fields) => `{${fields.join(',')}}`) },
  { weight: 1, arbitrary: json },
)
const messagesText = fc.oneof(
  {
    weight: 12,
    arbitrary: fc.array(messageText, { maxLength: 5 }).map((texts) => `{ "messages": [${texts.join(',')}] }`),
  },
  { weight: 1, arbitrary: fc.tuple(key, json).map(([k, v]) => `{"messages":[{"body":1}],${k}:${v}}`) },
  { weight: 1, arbitrary: object(fc.constant('"messages"'), json) },
)

/** What the route reads, where it takes the body for one message or for a list, as the test does. */
const readAs = <T>(body: JsonBody, kind: 'message' | 'messages', other: (faults: Fault[]) => T) => {
  return (faults: Fault[]): T => {
    const sending = toSending(body, [])
    if (!(kind in sending)) return other(faults)
    return (toSending(body, faults) as unknown as Record<string, T>)[kind] as T
  }
}
const messageAgrees = (body: JsonBody) => {
  const slow = (faults: Fault[]) => messageOf(body, faults)
  return agree(quickMessage(body), slow, readAs(body, 'message', slow))
}
const messagesAgree = (body: JsonBody) => {
  const slow = (faults: Fault[]) => messagesOf(body, faults)
  return agree(quickMessages(body), slow, readAs(body, 'messages', slow))
}

describe('the quick reading of a body and the DTOs agree', () => {
  test('on one message', () => {
    expectAgreeing(messageText, messageAgrees, { texts: 3000, valid: [1000, 5000] })
  })

  test('on many', () => {
    expectAgreeing(messagesText, messagesAgree, { texts: 2000, valid: [300, 3500] })
  })

  test.each([0, 1, 2, 999, 1000, 1001])('on %i messages', (count) => {
    const body = { value: { messages: Array.from({ length: count }, () => ({ body: 1 })) }, text: null }
    expect(messagesAgree(body)).toBe(count >= 1 && count <= 1000)
  })

  test('on what only a parser of the surrounding app can give', () => {
    const values = [
      Object.assign(Object.create({ body: 'inherited', priority: 7 }), { dedupId: 'm' }),
      Object.assign(Object.create(null), { body: { a: 1 } }),
      { body: undefined },
      { body: 1, priority: undefined, dedupId: undefined },
      { body: { a: undefined, at: new Date(0) } },
      { body: new Date(Number.NaN) },
      { body: { toJSON: () => undefined } },
      { body: () => 1 },
      { body: Number.NaN },
      { body: 1n },
      { body: 1, priority: 1n },
      new Map([['body', 'm']]),
      Symbol('message'),
      undefined,
    ]
    for (const value of values) {
      messageAgrees({ value, text: null })
      messagesAgree({ value: { messages: [value] }, text: null })
    }
    expect(quickMessage({ value: values[0], text: null })).toBeNull()
  })
})

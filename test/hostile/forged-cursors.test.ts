/** Forged cursors, with numbers beyond what a column or a driver takes: answered or refused, never a 500. */
import fc from 'fast-check'
import type { Client } from '../http/support/client'
import { served, useGuarded } from '../http/support/keys'

const NUMBERS = [
  '0',
  '-0',
  '-1',
  '9007199254740993',
  '9223372036854775807',
  '9223372036854775808',
  '-9223372036854775808',
  '-9223372036854775809',
  '9999999999999999999',
  '-9999999999999999999',
  '18446744073709551616',
  `${2n ** 126n - 1n}`,
  `${2n ** 126n}`,
  '9'.repeat(38),
  '9'.repeat(400),
  '1e400',
  'NaN',
]

const number = fc.oneof(fc.constantFrom(...NUMBERS), fc.bigInt({ min: -(2n ** 128n), max: 2n ** 128n }).map(String))
const base64 = (text: string) => Buffer.from(text, 'utf8').toString('base64url')
const triple = fc.tuple(number, number, number)
const cursor = fc.oneof(
  number,
  number.map(base64),
  triple.map((numbers) => base64(numbers.join('.'))),
  triple.map(([time, group, id]) => base64(`[${time},"${group}","${id}"]`)),
  triple.map((numbers) => base64(`[${numbers.join(',')}]`)),
  fc.string().map(base64),
  fc.string({ unit: 'binary' }),
)

const RECEIPT_CALLS = ['ack', 'nack', 'extend']

describe.each(served)('on %s', (engine) => {
  const guarded = useGuarded(engine)
  let client: Client
  beforeAll(async () => {
    const { groups, queues, feeds } = guarded.store
    await groups.append('g', { member: 'm' })
    await queues.put('q', { onAck: 'archive' })
    await queues.send('q', 1)
    await feeds.put('f', 'k', 1)
    await feeds.publish('f')
    client = await guarded.client({ scopes: ['admin'] })
  })

  const pages = [
    ...['groups', 'policies', 'queues', 'feeds', 'feeds/f/changes'].map((path) => `/v1/${path}?after=`),
    ...['ready', 'in-flight', 'delayed', 'dead', 'archived'].map(
      (state) => `/v1/queues/q/messages?state=${state}&after=`,
    ),
    '/v1/groups/g/items?before=',
    '/v1/members/m/items?before=',
  ]

  test.each(pages)('%s…', async (path) => {
    // This one was answered with 500 on SQLite.
    const known = base64('0.9223372036854775808.0')
    await fc.assert(
      fc.asyncProperty(cursor, async (text) => {
        const { status } = await client.get(path + encodeURIComponent(text))
        expect([200, 400, 410]).toContain(status)
      }),
      { numRuns: 60, examples: [[known], ...NUMBERS.map((each): [string] => [base64(`0.${each}.0`)])] },
    )
  })

  test('ids, stored cursors and receipt handles', async () => {
    const handle = (id: bigint) => {
      const bytes = Buffer.alloc(28)
      bytes.writeBigUInt64BE(BigInt.asUintN(64, id), 0)
      return bytes.toString('base64url')
    }
    for (const text of NUMBERS) {
      const id = encodeURIComponent(text)
      const json = { receiptHandles: [text, base64(text), handle(2n ** 64n - 1n), handle(2n ** 63n)] }
      const answers = [
        await client.delete(`/v1/groups/g/items/${id}`),
        await client.get(`/v1/queues/q/messages/${id}`),
        await client.put('/v1/feeds/f/consumers/c', { cursor: text }),
        await client.put('/v1/feeds/f/consumers/c', { cursor: text, force: true }),
      ]
      for (const what of RECEIPT_CALLS) {
        const more = what === 'extend' ? { visibilityTimeoutSeconds: 1 } : {}
        answers.push(await client.post(`/v1/queues/q/${what}`, { ...json, ...more }))
      }
      for (const { status } of answers) expect([200, 204, 400, 404]).toContain(status)
    }
  })
})

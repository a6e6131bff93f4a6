/** Bytes that were requests until something happened to them: whatever they are, no 5xx, no harm, and others are served. */
import { once } from 'node:events'
import fc from 'fast-check'
import { rawExchange, send } from '../http/support/client'
import { pause } from '../support/timing'
import { type Attacked, expectUnharmed, startAttacked } from './support/attacked'

const SEED = Number(process.env.RECENTN_FUZZ_SEED ?? 18)
const CASES = Number(process.env.RECENTN_FUZZ_ROUNDS ?? 8) * 60
const AT_ONCE = 40
/** For an answer that may never come. Answers that come are judged; on a slow machine fewer come. */
const PATIENCE_MS = 200

const HEAD = 'HTTP/1.1\r\nHost: localhost\r\n'
const JSON_TYPE = 'Content-Type: application/json\r\n'
const REQUESTS = [
  `GET /v1/groups?limit=1 ${HEAD}\r\n`,
  `GET /v1/groups/g/items ${HEAD}If-None-Match: "a"\r\nAccept: */*\r\n\r\n`,
  `POST /v1/groups/g/items ${HEAD}${JSON_TYPE}Content-Length: 14\r\n\r\n{"member":"m"}`,
  `POST /v1/queues/q/messages ${HEAD}${JSON_TYPE}Transfer-Encoding: chunked\r\n\r\n5\r\n{"bod\r\n6;x=y\r\ny": 1}\r\n0\r\nTrailer: t\r\n\r\n`,
  `PUT /v1/feeds/f/entries/k ${HEAD}${JSON_TYPE}Content-Length: 11\r\nExpect: 100-continue\r\n\r\n{"value":1}`,
  `DELETE /v1/groups/g/items/7 ${HEAD}Connection: close\r\n\r\n`,
  `OPTIONS * ${HEAD}\r\n`,
]

const SNIPPETS = [
  '\r\n',
  '\n',
  '\r',
  '\0',
  ' ',
  '\t',
  ':',
  ',',
  '\xff\xfe',
  '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03',
  'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
  'Content-Length: 5\r\n',
  'Content-Length: -1\r\n',
  'Content-Length: 99999999999999999999\r\n',
  'Content-Length: 1e2\r\n',
  'Transfer-Encoding: chunked\r\n',
  'Transfer-Encoding: chunked, identity\r\n',
  'Transfer-Encoding : chunked\r\n',
  'Transfer-Encoding: \x0bchunked\r\n',
  'Host: other.example.org\r\n',
  'Upgrade: websocket\r\nConnection: Upgrade\r\n',
  'Connection: close, keep-alive, Transfer-Encoding\r\n',
  'Expect: 100-continue\r\n',
  ' folded: line\r\n',
  'ffffffffffffffff\r\n',
  '0\r\n\r\n',
  'HTTP/1.0',
  'HTTP/9.9',
  'http://other.example.org',
  '/../%2e%2e/',
  '%00',
  '__proto__: a\r\n',
  'x'.repeat(40_000),
  'a: b\r\n'.repeat(1001),
]

const change = fc.record({
  at: fc.nat(),
  cut: fc.oneof({ weight: 3, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.integer({ min: 1, max: 30 }) }),
  put: fc.oneof({ weight: 1, arbitrary: fc.constant('') }, { weight: 4, arbitrary: fc.constantFrom(...SNIPPETS) }),
})
const requests = fc.array(fc.constantFrom(...REQUESTS), { minLength: 1, maxLength: 3 }).map((all) => all.join(''))
const broken = fc.tuple(requests, fc.array(change, { minLength: 1, maxLength: 3 })).map(([text, changes]) => {
  let bytes = text
  for (const { at, cut, put } of changes) {
    const from = at % bytes.length
    bytes = bytes.slice(0, from) + put + bytes.slice(from + cut)
  }
  return Buffer.from(bytes, 'latin1')
})

/** The server's answer to the bytes. */
async function exchange(attacked: Attacked, bytes: Buffer): Promise<string> {
  const socket = await attacked.connection()
  let text = ''
  socket.on('data', (data) => {
    text += data.toString('latin1')
  })
  const closed = once(socket, 'close')
  socket.write(bytes)
  await Promise.race([closed, pause(PATIENCE_MS)])
  socket.destroy()
  return text
}

test('the same requests unbroken are answered', async () => {
  const { url } = await startAttacked()
  await send(url, 'PUT', '/v1/queues/q', { json: {} })
  const last = `GET /livez ${HEAD}Connection: close\r\n\r\n`
  for (const request of REQUESTS) {
    const isLast = request.includes('Connection: close')
    const text = await rawExchange(url, isLast ? request : request + last, 60_000)
    const statuses = [...text.matchAll(/HTTP\/1\.1 (\d+) /g)].map(([, status]) => Number(status))
    expect([request, statuses.filter((status) => status > 100)]).toEqual([
      request,
      [expect.any(Number), ...(isLast ? [] : [200])],
    ])
    expect([200, 201, 204, 404]).toContain(statuses.at(isLast ? 0 : -2))
  }
})

test(`${CASES} broken requests of seed ${SEED}`, async () => {
  const attacked = await startAttacked()
  const cases = fc.sample(broken, { seed: SEED, numRuns: CASES })
  const harm = await attacked.harmOf(async () => {
    for (let from = 0; from < CASES; from += AT_ONCE) {
      const some = cases.slice(from, from + AT_ONCE)
      const answers = await Promise.all(some.map((bytes) => exchange(attacked, bytes)))
      for (const [n, answer] of answers.entries()) {
        const sent = some[n]?.toString('latin1').slice(0, 2000)
        expect({ sent, answer }).toEqual({ sent, answer: expect.stringMatching(/^(HTTP\/1\.1 [1-4]\d\d [\s\S]*)?$/) })
        expect({ sent, answer }).toEqual({ sent, answer: expect.not.stringMatching(/^HTTP\/1\.1 5|"status":5/m) })
      }
    }
  })
  expectUnharmed(harm)
  expect(attacked.server.output()).not.toContain('"level":50')
}, 3_600_000)

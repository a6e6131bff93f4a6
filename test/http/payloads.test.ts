import { JSON_TEXTS } from '../support/json-values'
import { type Client, fresh, startApp } from './support/client'

let server: Client
beforeAll(async () => {
  server = await startApp()
})

/** Sends the text of a payload in both ways, and gives the texts that come back. */
async function roundTrips(payload: string): Promise<string[]> {
  const [a, b] = [fresh(), fresh()]
  const body = `{"payload":${payload},"eventId":"e"}`
  const single = await server.request('POST', `/v1/groups/${a}/items`, { body })
  const again = await server.request('POST', `/v1/groups/${a}/items`, { body })
  expect([single.status, again.status]).toEqual([201, 200])
  const batch = `{ "items" : [ {"group":"${b}"}, { "payload" : ${payload} , "group":"${b}" } ] }`
  expect((await server.request('POST', '/v1/items', { body: batch })).status).toBe(201)
  const answers = [
    single.text,
    again.text,
    (await server.get(`/v1/groups/${a}/items`)).text,
    (await server.get(`/v1/groups/${b}/items?limit=1`)).text,
    (await server.get(`/v1/items?group=${b}&limit=1`)).text,
  ]
  return answers.map((text) => /"payload":(.*),"occurredAt"/.exec(text)?.[1] ?? text)
}

describe('a payload comes back as it went in', () => {
  test.each([...JSON_TEXTS, '{"t":"2026-01-01T00:00:00.000Z","deep":{"payload":1.10}}'])('%s', async (payload) => {
    expect(await roundTrips(payload)).toEqual(Array(5).fill(payload))
  })

  test('without the white space around its tokens', async () => {
    expect(await roundTrips('{ "a" : [ 1.0 , " x " ] }')).toEqual(Array(5).fill('{"a":[1.0," x "]}'))
    expect(await roundTrips('{ "a" : [ 1 , " x " ] }')).toEqual(Array(5).fill('{"a":[1," x "]}'))
  })

  test('64 levels deep, and no deeper', async () => {
    const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth)
    expect(await roundTrips(nested(64))).toEqual(Array(5).fill(nested(64)))
    for (const depth of [65, 10_000, 400_000]) {
      const body = `{"payload":${nested(depth)}}`
      const answer = await server.request('POST', `/v1/groups/${fresh()}/items`, { body })
      expect([answer.status, answer.json.errors]).toEqual([
        400,
        [{ pointer: '/payload', detail: 'is nested more than 64 levels deep' }],
      ])
    }
  })

  test('up to 64 KiB in UTF-8, and no longer', async () => {
    const group = fresh()
    const of = (bytes: number) => 'é'.repeat((bytes - 2) / 2)
    expect((await server.post(`/v1/groups/${group}/items`, { payload: of(65_536) })).status).toBe(201)
    const over = await server.post(`/v1/groups/${group}/items`, { payload: of(65_538) })
    expect([over.status, over.json.errors]).toEqual([
      400,
      [{ pointer: '/payload', detail: 'must have at most 64 KiB as JSON' }],
    ])
    expect((await server.get(`/v1/groups/${group}`)).json.totalAppended).toBe('1')
  })

  test.each(['"\\ud800"', '{"\\udfff":1}', '["a",{"b":"\\ud83d"}]'])('but %s has no form in UTF-8', async (payload) => {
    const body = `{"payload":${payload}}`
    const answer = await server.request('POST', `/v1/groups/${fresh()}/items`, { body })
    expect([answer.status, answer.json.errors]).toEqual([
      400,
      [{ pointer: '/payload', detail: expect.stringContaining('lone surrogate') }],
    ])
  })
})

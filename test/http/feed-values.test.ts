/** Values of entries: what goes in comes out, by every route. */
import { type Client, fresh, startApp } from './support/client'
import { describeRoundTrips } from './support/round-trips'

let server: Client
beforeAll(async () => {
  server = await startApp()
})

const some = () => `/v1/feeds/${fresh('feed')}`

/** Sends the text of a value in both ways, and gives the texts that come back. */
async function roundTrips(value: string): Promise<string[]> {
  const path = some()
  const put = await server.request('PUT', `${path}/entries/k`, { body: `{"value":${value}}` })
  expect(put.status).toBe(200)
  const texts = [
    put.text,
    (await server.get(`${path}/entries/k`)).text,
    (await server.get(`${path}/changes?waitSeconds=10`)).text,
  ]
  const many = some()
  const list = `{ "entries" : [ {"key":"other","value":"another"}, { "key":"k" , "value" : ${value} } ] }`
  const written = await server.request('POST', `${many}/entries`, { body: list })
  expect(written.status).toBe(200)
  texts.push((await server.get(`${many}/entries/k`)).text)
  return texts.map((text) => /"value":(.*),"version"/.exec(text)?.[1] ?? text)
}

describe('a value comes back as it went in', () => {
  describeRoundTrips(roundTrips, {
    copies: 4,
    like: '{"value":1.10,"entries":[1.0],"__proto__":1e2}',
    pointer: '/value',
    send: (value) => server.request('PUT', `${some()}/entries/k`, { body: `{"value":${value}}` }),
  })

  test('up to 256 KiB in UTF-8, and no longer', async () => {
    const path = some()
    const of = (bytes: number) => 'é'.repeat((bytes - 2) / 2)
    expect((await server.put(`${path}/entries/k`, { value: of(262_144) })).status).toBe(200)
    const entries = [
      { key: 'a', value: 1 },
      { key: 'b', value: of(262_146) },
    ]
    const over = await server.post(`${path}/entries`, { entries })
    expect([over.status, over.json.errors]).toEqual([
      400,
      [{ pointer: '/entries/1/value', detail: 'must have at most 256 KiB as JSON' }],
    ])
    expect((await server.get(`${path}/entries/a`)).status).toBe(404)
  })

  test.each(['"\\ud800"', '{"\\udfff":1}', '["a",{"b":"\\ud83d"}]'])('but %s has no form in UTF-8', async (value) => {
    const path = some()
    const answer = await server.request('PUT', `${path}/entries/k`, { body: `{"value":${value}}` })
    expect([answer.status, answer.json.errors]).toEqual([
      400,
      [{ pointer: '/value', detail: expect.stringContaining('lone surrogate') }],
    ])
    expect((await server.get(path)).status).toBe(404)
  })
})

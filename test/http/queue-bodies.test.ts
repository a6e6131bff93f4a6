import { type Client, fresh, startApp } from './support/client'
import { describeRoundTrips } from './support/round-trips'

let server: Client
beforeAll(async () => {
  server = await startApp()
})

async function made(): Promise<string> {
  const path = `/v1/queues/${fresh('queue')}`
  expect((await server.put(path, { visibilityTimeoutSeconds: 0 })).status).toBe(201)
  return path
}

/** Sends the text of a body in both ways, and gives the texts that come back. */
async function roundTrips(body: string): Promise<string[]> {
  const path = await made()
  const one = await server.request('POST', `${path}/messages`, { body: `{"body":${body},"messageGroup":null}` })
  expect(one.status).toBe(201)
  const texts = [
    (await server.get(`${path}/messages`)).text,
    (await server.get(`${path}/messages/${one.json.id}`)).text,
    (await server.post(`${path}/receive`, {})).text,
    (await server.post(`${path}/cycle`, {})).text,
  ]
  const many = await made()
  const list = `{ "messages" : [ {"body":"another"}, { "messageGroup":null , "body" : ${body} } ] }`
  const sent = await server.request('POST', `${many}/messages`, { body: list })
  expect(sent.status).toBe(201)
  const [first, second] = JSON.parse(sent.text).messages.map(({ id }: { id: string }) => id)
  await server.delete(`${many}/messages/${first}`)
  texts.push((await server.get(`${many}/messages/${second}`)).text, (await server.post(`${many}/receive`, {})).text)
  return texts.map((text) => /"body":(.*),"receiveCount"/.exec(text)?.[1] ?? text)
}

describe('a body comes back as it went in', () => {
  describeRoundTrips(roundTrips, {
    copies: 6,
    like: '{"body":1.10,"messages":[1.0],"__proto__":1e2}',
    pointer: '/body',
    send: async (body) => server.request('POST', `${await made()}/messages`, { body: `{"body":${body}}` }),
  })

  test('up to 256 KiB in UTF-8, and no longer', async () => {
    const path = await made()
    const of = (bytes: number) => 'é'.repeat((bytes - 2) / 2)
    expect((await server.post(`${path}/messages`, { body: of(262_144) })).status).toBe(201)
    const over = await server.post(`${path}/messages`, { messages: [{ body: 1 }, { body: of(262_146) }] })
    expect([over.status, over.json.errors]).toEqual([
      400,
      [{ pointer: '/messages/1/body', detail: 'must have at most 256 KiB as JSON' }],
    ])
    expect(JSON.parse((await server.get(`${path}/messages`)).text).messages).toHaveLength(1)
  })

  test.each(['"\\ud800"', '{"\\udfff":1}', '["a",{"b":"\\ud83d"}]'])('but %s has no form in UTF-8', async (body) => {
    const path = await made()
    const answer = await server.request('POST', `${path}/messages`, { body: `{"body":${body}}` })
    expect([answer.status, answer.json.errors]).toEqual([
      400,
      [{ pointer: '/body', detail: expect.stringContaining('lone surrogate') }],
    ])
    expect((await server.get(`${path}/messages`)).json).toEqual({ messages: [], nextAfter: null })
  })
})

test('a request has at most 1 MiB, whatever is in it', async () => {
  const path = await made()
  const messages = Array.from({ length: 5 }, () => ({ body: 'x'.repeat(250_000) }))
  const answer = await server.post(`${path}/messages`, { messages })
  expect([answer.status, answer.json.type]).toEqual([413, 'about:blank'])
  expect((await server.post(`${path}/messages`, { messages: messages.slice(1) })).status).toBe(201)
})

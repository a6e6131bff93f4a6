import { once } from 'node:events'
import { connect } from 'node:net'
import { type Client, expectUntouched, fresh, rawExchange, startApp, UNTOUCHED_ITEMS } from './support/client'

let server: Client
beforeAll(async () => {
  server = await startApp()
})

const ITEMS = UNTOUCHED_ITEMS
expectUntouched(() => server)

describe('a body', () => {
  test.each([
    ['{', 400, 'malformed_json'],
    ['', 400, 'invalid_input'],
    ['{"member":"a"}}', 400, 'malformed_json'],
    ["{'a':1}", 400, 'malformed_json'],
    ['[]', 400, 'invalid_input'],
    ['null', 400, 'invalid_input'],
    ['"{}"', 400, 'invalid_input'],
    [Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]), 400, 'malformed_json'],
    [Buffer.from('{"member":"\ud7ff"}', 'utf16le'), 400, 'malformed_json'],
    ['['.repeat(500_000), 400, 'malformed_json'],
  ])('number %# is refused', async (body, status, code) => {
    const answer = await server.request('POST', ITEMS, { body })
    expect([answer.status, answer.json.code]).toEqual([status, code])
    expect(answer.json.errors).toEqual([{ pointer: '', detail: expect.any(String) }])
  })

  test.each([
    'text/plain',
    'application/x-www-form-urlencoded',
    'application/json; charset=latin1',
    'application/jsonx',
    '',
  ])('of type %j is 415', async (type) => {
    const answer = await server.request('POST', ITEMS, { body: '{}', headers: { 'Content-Type': type } })
    expect([answer.status, answer.json.type]).toEqual([415, 'about:blank'])
  })

  test.each([
    'application/json',
    'APPLICATION/JSON',
    'application/json; charset=utf-8',
    'application/json;charset="UTF-8"',
  ])('of type %j is taken', async (type) => {
    const path = `/v1/groups/${fresh()}/items`
    expect((await server.request('POST', path, { body: '{}', headers: { 'Content-Type': type } })).status).toBe(201)
  })

  test('that is compressed is 415', async () => {
    const answer = await server.request('POST', ITEMS, { body: '{}', headers: { 'Content-Encoding': 'gzip' } })
    expect(answer.status).toBe(415)
  })

  test('that has a transfer coding but chunked is 415', async () => {
    const head = `POST ${ITEMS} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nConnection: close\r\n`
    const sent = `${head}Transfer-Encoding: gzip, chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n`
    expect(await rawExchange(server.url, sent)).toMatch(/^HTTP\/1\.1 415 /)
  })

  test('[], which is the empty object of PHP, is {} where every field has a default', async () => {
    const path = `/v1/queues/${fresh()}`
    const calls = [
      ['PUT', path, 201],
      ['POST', `${path}/receive`, 200],
      ['POST', `${path}/purge`, 200],
      ['PATCH', path, 400],
    ] as const
    for (const [method, target, status] of calls) {
      expect([target, (await server.request(method, target, { body: '[]' })).status]).toEqual([target, status])
    }
  })

  test('whose object has a field twice has the last one', async () => {
    const path = `/v1/groups/${fresh()}/items`
    const { json } = await server.request('POST', path, {
      body: '{"payload":1.50,"payload":2.50,"member":"a","member":"b"}',
    })
    expect(json).toMatchObject({ payload: 2.5, member: 'b' })
  })

  test('may be 1 MiB long and no longer; this comes before all other faults', async () => {
    const path = `/v1/groups/${fresh()}/items`
    const padded = (length: number) => `{${' '.repeat(length - 2)}}`
    expect((await server.request('POST', path, { body: padded(1024 ** 2) })).status).toBe(201)
    const headers = { 'Content-Type': 'text/plain' }
    const answer = await server.request('POST', `${ITEMS}?x=1`, { body: padded(1024 ** 2 + 1), headers })
    expect([answer.status, answer.json.type]).toEqual([413, 'about:blank'])
  })

  test.each([
    ['declared', 'Content-Length: 104857600', ['', '', '']],
    ['in chunks', 'Transfer-Encoding: chunked', ['100000\r\n', '\r\n', '0\r\n\r\n']],
  ] as const)('of 100 MB, %s, is 413 and grows no memory; the connection stays open', async (_how, header, frame) => {
    const before = process.memoryUsage().rss
    const { hostname, port } = new URL(server.url)
    const socket = connect(Number(port), hostname)
    let text = ''
    socket.on('data', (data) => {
      text += data.toString('latin1')
    })
    const write = async (bytes: string | Buffer) => {
      if (!socket.write(bytes)) await once(socket, 'drain')
    }
    await write(`POST ${ITEMS} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n${header}\r\n\r\n`)
    const chunk = Buffer.alloc(1024 ** 2, 0x20)
    for (let i = 0; i < 100; i++) {
      await write(frame[0])
      await write(chunk)
      await write(frame[1])
    }
    await write(`${frame[2]}GET /livez HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`)
    await once(socket, 'close')
    expect(text.match(/HTTP\/1.1 \d+/g)).toEqual(['HTTP/1.1 413', 'HTTP/1.1 200'])
    expect(text).toContain('"type":"about:blank"')
    expect(process.memoryUsage().rss - before).toBeLessThan(60 * 1024 ** 2)
  })

  test('that is far too long is answered before it is sent to the end', async () => {
    const body = new ReadableStream({ pull: (controller) => controller.enqueue(Buffer.alloc(65_536, 0x20)) })
    const headers = { 'Content-Type': 'application/json' }
    const answer = await fetch(`${server.url}${ITEMS}`, { method: 'POST', body, headers, duplex: 'half' })
    expect([answer.status, await answer.json()]).toMatchObject([413, { type: 'about:blank' }])
  })

  test('that ends early stores nothing', async () => {
    const head = `POST ${ITEMS} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 20\r\n\r\n`
    expect(await rawExchange(server.url, `${head}{"member":"a"}`, 100)).toBe('')
  })
})

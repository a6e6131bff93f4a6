/** Requests that are sent one behind the other: all that are requests are answered, in order, whatever comes after. */
import { once } from 'node:events'
import { connect } from 'node:net'
import { type Client, fresh, rawExchange, startApp } from './support/client'

let server: Client
beforeAll(async () => {
  server = await startApp()
})

const LOCAL = 'HTTP/1.1\r\nHost: localhost\r\n'

const append = (group: string, member: string, more = '') => {
  const body = JSON.stringify({ member })
  const head = `POST /v1/groups/${group}/items ${LOCAL}Content-Type: application/json\r\n${more}`
  return `${head}Content-Length: ${body.length}\r\n\r\n${body}`
}

const statusesIn = (text: string) => [...text.matchAll(/HTTP\/1.1 (\d+) /g)].map(([, status]) => Number(status))

async function membersOf(group: string): Promise<unknown[]> {
  const { json } = await server.get(`/v1/groups/${group}/items?limit=500`)
  return (json.items as unknown as { member: string }[]).map(({ member }) => member).reverse()
}

test('3,000 requests on one connection are answered in order', async () => {
  const { hostname, port } = new URL(server.url)
  const socket = connect(Number(port), hostname)
  const requests = Array.from({ length: 3000 }, (_, i) => `GET /livez ${LOCAL}X-Request-Id: n${i}\r\n\r\n`)
  socket.write(`${requests.join('')}GET /livez ${LOCAL}Connection: close\r\n\r\n`)
  let text = ''
  socket.on('data', (data) => {
    text += data
  })
  await once(socket, 'close')
  expect(statusesIn(text)).toEqual(Array(3001).fill(200))
  const ids = [...text.matchAll(/X-Request-Id: n(\d+)/g)].map(([, id]) => Number(id))
  expect(ids).toEqual(requests.map((_, i) => i))
})

test('200 appends of one connection, each with a body, are all stored', async () => {
  const group = fresh()
  await server.put(`/v1/groups/${group}`, { capacity: 500 })
  const members = Array.from({ length: 200 }, (_, i) => `m${i}`)
  const last = `GET /livez ${LOCAL}Connection: close\r\n\r\n`
  const text = await rawExchange(server.url, members.map((member) => append(group, member)).join('') + last, 20_000)
  expect(statusesIn(text)).toEqual([...Array(200).fill(201), 200])
  expect((await membersOf(group)).sort()).toEqual([...members].sort())
})

describe('what was begun is answered first, then what is no request is refused, and the connection closed:', () => {
  test.each([
    ['nonsense', 'hello\r\n\r\n', [400]],
    ['a bad header', `GET / ${LOCAL}bad header\r\n\r\n`, [400]],
    ['CONNECT', `CONNECT localhost:1 ${LOCAL}\r\n`, [405]],
    ['a head that is too long', `GET / ${LOCAL}X: ${'x'.repeat(100_000)}`, [431]],
    [
      'a bad chunk',
      `POST /v1/groups/g/items ${LOCAL}Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nxyz`,
      [400],
    ],
    ['a bad chunk of what reads no body', `GET /livez ${LOCAL}Transfer-Encoding: chunked\r\n\r\nxyz`, [200]],
  ])('%s behind three requests in one piece', async (_name, bytes, refusal) => {
    const group = fresh()
    const members = ['a', 'b', 'c']
    const text = await rawExchange(server.url, members.map((member) => append(group, member)).join('') + bytes, 20_000)
    expect(statusesIn(text)).toEqual([201, 201, 201, ...refusal])
    expect(await membersOf(group)).toEqual(members)
    expect(text.slice(text.lastIndexOf('HTTP/1.1'))).toContain('Connection: close')
  })

  test('garbage behind a body', async () => {
    const group = fresh()
    expect(statusesIn(await rawExchange(server.url, `${append(group, 'a')}garbage`, 20_000))).toEqual([201, 400])
    expect(await membersOf(group)).toEqual(['a'])
  })

  test('garbage behind the last request of a connection gets no answer', async () => {
    const group = fresh()
    const text = await rawExchange(server.url, `${append(group, 'a', 'Connection: close\r\n')}garbage`, 20_000)
    expect(statusesIn(text)).toEqual([201])
  })

  test('garbage behind 100 requests', async () => {
    const group = fresh()
    await server.put(`/v1/groups/${group}`, { capacity: 500 })
    const text = await rawExchange(server.url, `${append(group, 'a').repeat(100)}garbage\r\n\r\n`, 20_000)
    expect(statusesIn(text)).toEqual([...Array(100).fill(201), 400])
    expect(await membersOf(group)).toHaveLength(100)
  })

  test.each([
    ['in one piece', 0],
    ['once it is open', 1],
  ])('within a stream nothing is written: garbage behind the request of one, %s', async (_name, isLater) => {
    const { hostname, port } = new URL(server.url)
    const socket = connect(Number(port), hostname)
    const group = fresh()
    let text = ''
    socket.on('data', (data) => {
      text += data
    })
    socket.write(`${append(group, 'a')}GET /v1/groups/${group}/stream ${LOCAL}\r\n${isLater ? '' : 'garbage\r\n\r\n'}`)
    if (isLater) {
      while (!text.includes(': connected')) await once(socket, 'data')
      socket.write('garbage\r\n\r\n')
    }
    await once(socket, 'close')
    // It may be closed before it is open.
    expect([[201], [201, 200]]).toContainEqual(statusesIn(text))
    expect(text).not.toContain('problem')
  })
})

/** How a replay treats the answers of a server. The server is scripted, because a real one does not give these on demand. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { RefusedItems, type ReplayTarget, serverTarget } from '../../src/cli/targets'
import type { NewGroupItem } from '../../src/repositories/recent/types'

type Answer = [status: number, body?: unknown, headers?: Record<string, string>] | 'hang up'

interface Asked {
  method: string
  url: string
  body: string
  at: number
}

let server: Server
let base: string
let answers: Answer[]
let asked: Asked[]
let retries: string[]

beforeEach(async () => {
  answers = []
  asked = []
  retries = []
  server = createServer(reply)
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterEach(async () => {
  server.closeAllConnections()
  await new Promise((done) => server.close(done))
})

async function reply(request: IncomingMessage, response: ServerResponse): Promise<void> {
  let body = ''
  for await (const chunk of request) body += chunk
  asked.push({ method: request.method as string, url: request.url as string, body, at: performance.now() })
  const answer = answers.shift() ?? stored(body)
  if (answer === 'hang up') return void request.socket.destroy()
  const [status, content = '', headers = {}] = answer
  const isProblem = status >= 400 && typeof content === 'object'
  response.writeHead(status, { 'content-type': `application/${isProblem ? 'problem+json' : 'json'}`, ...headers })
  response.end(typeof content === 'string' ? content : JSON.stringify(content))
}

function stored(body: string): Answer {
  const { items = [] } = JSON.parse(body) as { items?: NewGroupItem[] }
  return [201, { items: items.map(({ group }, n) => ({ group, id: String(n), slot: n })) }]
}

const ITEMS: NewGroupItem[] = [
  { group: '/a', member: 'x', occurredAt: new Date('2024-01-01T00:00:00Z') },
  { group: '/b', member: 'y', occurredAt: new Date('2024-01-01T00:00:01Z') },
]

function target(part: { repeatable?: boolean; signal?: AbortSignal; url?: string } = {}): ReplayTarget {
  return serverTarget(part.url ?? base, {
    repeatable: part.repeatable ?? false,
    signal: part.signal ?? new AbortController().signal,
    onRetry: (text) => retries.push(text),
  })
}

describe('a replay to a server', () => {
  it('sends a batch as one request', async () => {
    await target().append(ITEMS)
    expect(asked).toMatchObject([{ method: 'POST', url: '/v1/items' }])
    expect(JSON.parse(asked[0]?.body as string)).toEqual({
      items: [
        { group: '/a', member: 'x', occurredAt: '2024-01-01T00:00:00.000Z' },
        { group: '/b', member: 'y', occurredAt: '2024-01-01T00:00:01.000Z' },
      ],
    })
  })

  it('finds a server that is mounted under a path, and encodes names in paths', async () => {
    await target({ url: `${base}/activity` }).applySettings(['/a/b?c', 'é%'], { capacity: 3 })
    const urls = asked.map(({ method, url, body }) => `${method} ${url} ${body}`).sort()
    expect(urls).toEqual([
      'PUT /activity/v1/groups/%2Fa%2Fb%3Fc {"capacity":3}',
      'PUT /activity/v1/groups/%C3%A9%25 {"capacity":3}',
    ])
  })

  it.each([429, 503])('tries again after %d, when Retry-After says', async (status) => {
    answers = [[status, { code: 'overloaded', detail: 'wait' }, { 'retry-after': '1' }]]
    await target().append(ITEMS)
    expect(asked).toHaveLength(2)
    expect((asked[1] as Asked).at - (asked[0] as Asked).at).toBeGreaterThan(950)
    expect(asked[1]?.body).toBe(asked[0]?.body)
    expect(retries).toEqual([expect.stringContaining(`answered ${status} (overloaded): wait: trying again in 1 s`)])
  })

  it('tries again after a date in Retry-After, and without one', async () => {
    const past = new Date(Date.now() - 1000).toUTCString()
    answers = [[503, '', { 'retry-after': past }], [503], [429, 'busy']]
    await target().append(ITEMS)
    expect(asked).toHaveLength(4)
  })

  it('gives up in the end', async () => {
    answers = Array.from(
      { length: 8 },
      () => [503, { code: 'draining', detail: 'it stops' }, { 'retry-after': '0' }] as Answer,
    )
    await expect(target().append(ITEMS)).rejects.toThrow('was answered 503 (draining): it stops')
    expect(asked).toHaveLength(8)
  })

  it('stops waiting at a signal', async () => {
    answers = [[503, '', { 'retry-after': '30' }]]
    const stop = new AbortController()
    setTimeout(() => stop.abort(), 50)
    await expect(target({ signal: stop.signal }).append(ITEMS)).rejects.toMatchObject({ name: 'AbortError' })
  })

  it.each<Answer>(['hang up', [503, { code: 'outcome_unknown', detail: 'lost' }, { 'retry-after': '0' }]])(
    'sends again what may have arrived only when it is safe (%j)',
    async (answer) => {
      answers = [answer]
      await expect(target().append(ITEMS)).rejects.toThrow(/Whether the last batch arrived is not known/)
      expect(asked).toHaveLength(1)
      answers = [answer]
      await target({ repeatable: true }).append(ITEMS)
      expect(asked).toHaveLength(3)
    },
  )

  it('waits for a server that is being started again', async () => {
    const { port } = server.address() as AddressInfo
    await new Promise((done) => server.close(done))
    setTimeout(() => server.listen(port, '127.0.0.1'), 300)
    await target().append(ITEMS)
    expect(asked).toHaveLength(1)
    expect(retries[0]).toMatch(/can't be reached .*ECONNREFUSED/)
  })

  it('tells which items were refused', async () => {
    const errors = [
      { pointer: '/items/1/member', detail: 'is required' },
      { pointer: '/items/1/payload', detail: 'is too big' },
    ]
    answers = [[400, { code: 'invalid_input', detail: 'bad', errors }]]
    const refused = await target()
      .append(ITEMS)
      .catch((error: unknown) => error)
    expect(refused).toBeInstanceOf(RefusedItems)
    expect([...(refused as RefusedItems).reasons]).toEqual([[1, 'member is required; payload is too big']])
  })

  it.each<[string, Answer, RegExp]>([
    [
      'a refusal as a whole',
      [400, { code: 'invalid_input', detail: 'bad', errors: [{ pointer: '', detail: 'no' }] }],
      /400 \(invalid_input\): bad: : no/,
    ],
    ['a limit', [413, { code: 'body_too_large', detail: 'over 1 kB' }], /answered 413 \(body_too_large\): over 1 kB/],
    [
      'another kind of server',
      [404, '<html>not here</html>'],
      /v1\/items: The answer \(404\) is not recentn's: <html>not here/,
    ],
    [
      'a redirect',
      [301, '', { location: 'http://elsewhere.example/' }],
      /v1\/items: The answer \(301\) is not recentn's/,
    ],
    ['an answer that is not ours', [200, { ok: true }], /does not answer as a recentn server does/],
    ['an answer that is not JSON', [200, 'ok'], /does not answer as a recentn server does/],
  ])('says clearly what was answered: %s', async (_, answer, said) => {
    answers = [answer]
    await expect(target().append(ITEMS)).rejects.toThrow(said)
    expect(asked).toHaveLength(1)
  })

  it.each(['ftp://x', 'nonsense', 'http://user:pw@localhost', 'http://localhost/?a=b'])(
    'refuses the address %s',
    (url) => {
      expect(() => target({ url })).toThrow('must be an address such as http://127.0.0.1:3000')
    },
  )
})

/**
 * Every operation of the OpenAPI document with requests that are drawn from the document itself, valid and invalid ones,
 * by a key that is confined to a prefix. Whatever is sent: the answer is one that the document has, never a 500; what the
 * document's schema of a body refuses is refused; nothing of what begins otherwise is shown or changed.
 *
 * `npm test` sends the same requests each time; `npm run fuzz` sends more of them, by a new seed. A failure names its seed:
 * `RECENTN_FUZZ_SEED=… npm run fuzz` draws the same ones again.
 */
import http from 'node:http'
import fc from 'fast-check'
import { SCOPES } from '../../src/fields/keys'
import { createApp, messagesOf } from '../../src/http/process/app'
import type { Scope } from '../../src/shared/key-types'
import { openStore } from '../../src/store/open'
import type { Store } from '../../src/store/types'
import { memoryStore, serving } from '../http/support/client'
import { document, mustBeDocumented, type Seen, schemaFault } from '../http/support/documented'
import { served } from '../http/support/keys'
import { seed as fill, ids, worldOf } from '../http/support/named-routes'
import { type Database, type EngineName, freshDatabase } from '../support/engines'
import { type Drawn, type FuzzedOperation, fuzzedOperations, type OpenApi, RAW_QUERIES } from './support/requests'

const SEED = Number(process.env.RECENTN_FUZZ_SEED ?? 18)
/** In every other round so many requests go side by side. */
const AT_ONCE = 24
/** In each, every operation is asked `PER_ROUND` times, by names that are new. */
const ROUNDS = process.env.RECENTN_FUZZ_ROUNDS === undefined ? null : Number(process.env.RECENTN_FUZZ_ROUNDS)
const PER_ROUND = 2

/** In every row that the key must not see. */
const MARK = 'not-for-you-5e1f'

const operations = fuzzedOperations(document as unknown as OpenApi)

/** Values that answers have shown, by the name of its field; the newest first. */
type Shown = Record<string, string[]>
const KEPT = ['id', 'receiptHandle', 'cursor', 'nextAfter', 'nextBefore']

interface Request {
  method: string
  path: string
  headers: Record<string, string>
  body: string | undefined
}

const agent = new http.Agent({ keepAlive: true })
afterAll(() => agent.destroy())

/** Sends it as it is; a stream is left once it has begun. */
function exchange(url: string, { method, path, headers, body }: Request): Promise<Seen> {
  const { hostname: host, port } = new URL(url)
  return new Promise((resolve, reject) => {
    const request = http.request({ agent, host, port, method, path, headers }, (response) => {
      const { statusCode: status = 0, headers: seen } = response
      const chunks: Buffer[] = []
      const done = () => {
        resolve({ method, path, status, headers: seen, text: Buffer.concat(chunks).toString() })
      }
      if (seen['content-type'] === 'text/event-stream') {
        response.destroy()
        done()
        return
      }
      response.on('data', (chunk) => chunks.push(chunk))
      response.on('error', reject)
      response.on('end', done)
    })
    request.on('error', reject)
    request.end(body)
  })
}

/** The request of a drawn one: with names and with what was shown in place. */
function requestOf(operation: FuzzedOperation, drawn: Drawn, side: string, shown: Shown, key: string): Request {
  const fill = (text: string) =>
    text
      .replaceAll('§in§', side)
      .replaceAll('§out§', 'out:')
      .replaceAll('§foreignHandle§', ids['out:held'] as string)
      .replaceAll(/§(\w+):(\d+)§/g, (_, kind, at) => shown[kind]?.[Number(at)] ?? '7')
  const encode = (text: string) => encodeURIComponent(fill(text).toWellFormed())
  const path = operation.template.replaceAll(/\{(\w+)\}/g, (_, name) => encode(drawn.path[name] ?? ''))
  const query = drawn.query.map(([name, value]) => `${name}=${encode(value)}`)
  const all = [...query, drawn.rawQuery].filter((each) => each !== '').join('&')
  const body = drawn.body === undefined ? undefined : fill(drawn.body)
  const headers: Record<string, string> = {
    Authorization: `Bearer ${key}`,
    ...(body !== undefined && { 'Content-Type': 'application/json' }),
  }
  for (const [name, value] of Object.entries(drawn.headers)) headers[name] = fill(value)
  if (body !== undefined && !headers['Transfer-Encoding']) headers['Content-Length'] = `${Buffer.byteLength(body)}`
  return { method: operation.method, path: all === '' ? path : `${path}?${all}`, headers, body }
}

function remember(shown: Shown, value: unknown): void {
  if (typeof value !== 'object' || value === null) return
  for (const [name, each] of Object.entries(value)) {
    if (typeof each === 'string' && KEPT.includes(name)) shown[name] = [each, ...(shown[name] ?? []).slice(0, 5)]
    else remember(shown, each)
  }
}

/** Throws where the answer is not what may be answered. */
function judge(operation: FuzzedOperation, request: Request, answer: Seen, { scope, isConfined }: NewKey): void {
  mustBeDocumented(answer)
  expect(answer.status).toBeLessThan(500)
  if (isConfined) expect(answer.text).not.toContain(MARK)
  if (answer.status >= 400) return
  expect([undefined, scope, scope === 'admin' && operation.scope]).toContain(operation.scope)
  // An empty body is none, which some operations take.
  if (operation.bodySchema === undefined || !request.body) return
  expect(schemaFault(operation.bodySchema, JSON.parse(request.body.replace(/^\ufeff/, '')))).toBeNull()
}

/** A name that begins with `out:`, with the mark in all facts of a row. */
async function fillForeign({ groups, policies, queues, schedules, feeds }: Store): Promise<void> {
  for (const member of ['m', 'n', MARK]) await groups.append('out:g', { member, payload: MARK, eventId: MARK })
  await queues.send('out:q', MARK, { messageGroup: MARK, dedupId: MARK, attributes: { mark: MARK } })
  await schedules.put('out:s', { queue: 'out:letters', everySeconds: 86_400, body: MARK })
  await feeds.put('out:f', MARK, MARK)
  await feeds.publish('out:f')
  await feeds.moveCursor('out:f', MARK, 0n)
  const name = `out:${MARK}`
  await groups.append(name)
  await policies.put(name, { capacity: 1, mode: 'history' })
  await queues.put(name)
  await schedules.put(name, { queue: name, everySeconds: 86_400, body: MARK })
  await feeds.put(name, 'k', 1)
  await feeds.publish(name)
}

interface NewKey {
  key: string
  scope: Scope
  isConfined: boolean
}

interface Fuzzed {
  store: Store
  url: string
  confined: NewKey[]
  free: NewKey[]
  errors: unknown[]
}

async function fuzzedServer({ url: databaseUrl }: Database): Promise<Fuzzed> {
  const store = await openStore({ url: databaseUrl, sweep: false, publish: false, tick: false })
  const errors: unknown[] = []
  const app = createApp(store, { allowAnonymous: false, onError: (error) => errors.push(error) })
  const keyOf = async (scope: Scope, prefix?: string): Promise<NewKey> => {
    const { key } = await store.keys.create({ label: 'fuzz', scopes: [scope], prefix })
    return { key, scope, isConfined: prefix !== undefined }
  }
  const admin = await keyOf('admin', 'in:')
  const confined = [...Array(20).fill(admin), ...(await Promise.all(SCOPES.map((scope) => keyOf(scope, 'in:'))))]
  return { store, url: await serving(app, messagesOf(app)), confined, free: [await keyOf('admin')], errors }
}

type Draw = [FuzzedOperation, Drawn]

/** Sends the requests of one round, with these keys by turns, `atOnce` of them side by side. */
async function askAll(fuzzed: Fuzzed, keys: readonly NewKey[], drawn: readonly Draw[], side: string, atOnce: number) {
  await fill(fuzzed.store, side)
  const shown: Shown = {}
  for (let from = 0; from < drawn.length; from += atOnce) {
    const some = drawn.slice(from, from + atOnce)
    await Promise.all(some.map((each, n) => ask(fuzzed, keys[(from + n) % keys.length] as NewKey, each, side, shown)))
  }
}

async function ask({ url, errors }: Fuzzed, key: NewKey, [operation, drawn]: Draw, side: string, shown: Shown) {
  const request = requestOf(operation, drawn, side, shown, key.key)
  const answer = await exchange(url, request)
  try {
    judge(operation, request, answer, key)
    expect(errors).toEqual([])
  } catch (error) {
    const what = JSON.stringify({ seed: SEED, side, operation: operation.id, status: answer.status, request })
    throw new Error(`${what.slice(0, 4000)}\n${(error as Error).message}`, { cause: errors[0] ?? error })
  }
  const { etag, 'content-type': type } = answer.headers as Record<string, string>
  if (etag !== undefined) shown.etag = [etag]
  if (answer.status < 300 && type === 'application/json') remember(shown, JSON.parse(answer.text))
}

/** The requests of all rounds, each time in another order. */
function drawAll(rounds: number): Draw[][] {
  const all = operations.map((operation, at) => {
    const drawn = fc.sample(operation.requests, { seed: SEED * 1000 + at, numRuns: rounds * PER_ROUND })
    return drawn.map((each): Draw => [operation, each])
  })
  return Array.from({ length: rounds }, (_, n) => {
    const own = all.flatMap((drawn) => drawn.slice(n * PER_ROUND, (n + 1) * PER_ROUND))
    return fc.sample(fc.shuffledSubarray(own, { minLength: own.length }), { seed: SEED + n, numRuns: 1 })[0] ?? []
  })
}

const roundsOn = (engine: EngineName) => ROUNDS ?? (engine === 'sqlite' ? 8 : 4)

describe.each(served)('on %s', (engine) => {
  let database: Database
  let fuzzed: Fuzzed
  beforeAll(async () => {
    database = await freshDatabase(engine)
    fuzzed = await fuzzedServer(database)
    await fill(fuzzed.store, 'out:')
    await fillForeign(fuzzed.store)
  })
  afterAll(async () => {
    await fuzzed.store.close()
    await database.drop()
  })

  const title = `every operation of the document, ${roundsOn(engine)} rounds of seed ${SEED}`
  test(title, async () => {
    const rounds = drawAll(roundsOn(engine))
    for (const drawn of rounds) expect(new Set(drawn.map(([{ id }]) => id)).size).toBe(operations.length)
    const foreign = await worldOf(fuzzed.store, 'out:')
    expect(foreign).toContain(MARK)
    const most = Math.ceil((rounds.length * 3) / 4)
    for (const [n, drawn] of rounds.entries()) {
      if (n === most) expect(await worldOf(fuzzed.store, 'out:')).toBe(foreign)
      // Names that only a key without a prefix reaches come last. It may see and change everything.
      const keys = n < most ? fuzzed.confined : fuzzed.free
      await askAll(fuzzed, keys, drawn, `in:${n}:`, n % 2 === 0 ? 1 : AT_ONCE)
    }
  }, 3_600_000)
})

test('targets that no operation has', async () => {
  const store = await memoryStore()
  const errors: unknown[] = []
  const app = createApp(store, { allowAnonymous: false, onError: (error) => errors.push(error) })
  const url = await serving(app, messagesOf(app))
  const parts = [
    'v1',
    'V1',
    'groups',
    'queues',
    'docs',
    'errors',
    'dashboard',
    'assets',
    'openapi.json',
    'metrics',
    'g',
    '',
  ]
  const odd = [
    '..',
    '.',
    '%2e%2e',
    '%2f',
    '%5c',
    '%00',
    '%',
    '%ff',
    ';a=b',
    ':group',
    '*',
    '__proto__',
    'x'.repeat(300),
  ]
  const part = fc.oneof({ weight: 3, arbitrary: fc.constantFrom(...parts) }, fc.constantFrom(...odd))
  const path = fc
    .tuple(fc.array(part, { maxLength: 6 }), RAW_QUERIES)
    .map(([all, query]) => `/${all.join('/')}?${query}`)
  const method = fc.constantFrom('GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND')
  const property = fc.asyncProperty(method, path, async (verb, target) => {
    const answer = await exchange(url, { method: verb, path: target, headers: {}, body: undefined })
    if (verb !== 'HEAD') mustBeDocumented(answer)
    expect(answer.status).toBeLessThan(500)
    expect(errors).toEqual([])
  })
  await fc.assert(property, { seed: SEED, numRuns: ROUNDS === null ? 300 : ROUNDS * 100 })
}, 3_600_000)

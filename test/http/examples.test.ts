/**
 * Tries every operation of the document with the document's examples of its parameters and its body, once for each good
 * status, on a server in a state in which they make sense. The answer must be what the document says, and
 * of the shape of its example. An operation or a status without a state fails.
 */
import { createApp } from '../../src/http/process/app'
import type { Store } from '../../src/store/types'
import { blocked, recorded } from '../contract/queues/recorded'
import { type Answer, type Client, clientOf, memoryStore, send, serving } from './support/client'
import { document, schemaFault } from './support/documented'

interface Case {
  /** Brings the store into the state. Gives the values of examples that only the store can make: ids and handles. */
  given?(store: Store): Promise<Record<string, unknown> | undefined>
  /** Optional parameters that can't be given together with the others. */
  without?: string[]
}

const nothing: Case = {}

const example = {
  member: 'user-7',
  payload: { action: 'view', from: 'newsletter' },
  occurredAt: new Date('2026-11-21T10:00:00Z'),
}
const items = async (store: Store, count: number) => {
  const many = Array.from({ length: count }, (_, i) => ({ ...example, group: 'article:42', eventId: `view-${i}` }))
  await store.groups.appendMany(many)
}
const lastItem = async (store: Store, more = {}) => {
  await items(store, 41)
  await store.groups.append('article:42', { ...example, ...more, eventId: 'view-8f14e45f' })
}
const larger = async (store: Store) => {
  await store.groups.put('article:42', { capacity: 50 })
  await lastItem(store)
}
const ranked = (store: Store) =>
  lastItem(store, { score: 110 }).then(() => store.groups.put('article:42', { mode: 'top' }))
const policy = async (store: Store) => void (await store.policies.put('article:', { capacity: 50, mode: 'distinct' }))
const deadLetters = async (store: Store) => void (await store.queues.put('mail-dead'))
const queue = async (store: Store) => {
  await deadLetters(store)
  await store.queues.put('mail', { visibilityTimeoutSeconds: 60, maxReceives: 5, deadLetterQueue: 'mail-dead' })
}
const history = async (store: Store) => void (await message(store).then(() => recorded(store)))
const schedule = async (store: Store) => {
  await queue(store)
  const definition = { queue: 'mail', cron: '30 2 * * *', timeZone: 'Europe/Berlin', body: { report: 'daily' } }
  await store.schedules.put('nightly-report', definition)
}
const message = async (store: Store) => {
  await queue(store)
  const options = { messageGroup: 'tenant-3', dedupId: 'welcome-7', key: 'index-7', attributes: { source: 'sign-up' } }
  return { id: String((await store.queues.send('mail', { to: 'a@example.org' }, options)).id) }
}
const claimed = async (store: Store) => {
  const { id } = await message(store)
  const [{ receiptHandle } = { receiptHandle: '' }] = await store.queues.receive('mail')
  return { id, receiptHandle }
}
/** The example is of one handle. */
const claimedMany = async (store: Store) => ({ '': { receiptHandles: [(await claimed(store)).receiptHandle] } })
const deadMessage = async (store: Store) => {
  await store.queues.put('mail')
  await store.queues.send('mail', 1)
  await store.queues.nackMany('mail', await store.queues.receive('mail'), { dead: true })
}
const entries = async (store: Store) => {
  const value = { name: 'Fred', city: 'Oslo' }
  await store.feeds.putMany('users', [
    { key: 'fred', value },
    { key: 'jim', value: null },
    { key: 'bob', value: null },
  ])
  await store.feeds.delete('users', 'bob')
  return store.feeds.publish('users').then(() => ({ after: '0' }))
}
const consumer = async (store: Store) => {
  await entries(store)
  const { cursor } = await store.feeds.changes('users')
  await store.feeds.moveCursor('users', 'search', cursor)
  return { cursor: String(cursor) }
}

const given = (work: (store: Store) => Promise<unknown>): Case => ({
  given: async (store) => ((await work(store)) ?? undefined) as Record<string, unknown> | undefined,
})

const CASES: Readonly<Record<string, Readonly<Record<number, Case>>>> = {
  appendItem: { 201: nothing, 200: given(lastItem) },
  recentItems: { 200: { ...given(larger), without: ['before', 'exclude'] } },
  ...{ clearGroup: { 200: given(lastItem) }, changeScore: { 200: given(ranked) } },
  ...{ getItem: { 200: given(lastItem) }, removeItem: { 204: given(lastItem) } },
  appendItems: {
    201: given(lastItem),
    // The items of the example have no event ids.
    200: given(async (store) => {
      await lastItem(store)
      return { '': { items: [{ group: 'article:42', eventId: 'view-8f14e45f' }] } }
    }),
  },
  recentItemsOfMany: { 200: { ...given(lastItem), without: ['exclude'] } },
  listGroups: { 200: { ...given(lastItem), without: ['after'] } },
  getGroup: { 200: given(lastItem) },
  ...{ putGroup: { 201: nothing, 200: given(lastItem) }, groupLosses: { 200: given(lastItem) } },
  ...{ updateGroup: { 200: given(larger) }, dropGroup: { 204: given(lastItem) } },
  streamGroup: { 200: nothing },
  memberItems: { 200: { ...given(lastItem), without: ['before'] } },
  eraseMember: { 200: given(lastItem) },
  listPolicies: { 200: { ...given(policy), without: ['after'] } },
  getPolicy: { 200: given(policy) },
  putPolicy: { 201: nothing, 200: given(policy) },
  ...{ updatePolicy: { 200: given(policy) }, policyLosses: { 200: given(policy) } },
  dropPolicy: { 204: given(policy) },
  listQueues: { 200: { ...given(message), without: ['after', 'state', 'deadLetterQueue'] } },
  getQueue: { 200: given(message) },
  putQueue: { 201: given(deadLetters), 200: given(queue) },
  updateQueue: { 200: given(queue) },
  ...{ pauseQueue: { 200: given(queue) }, resumeQueue: { 200: given(queue) }, holdQueue: { 200: given(queue) } },
  ...{ dropQueue: { 204: given(queue) }, queueHistory: { 200: given(history) } },
  listSchedules: { 200: { ...given(schedule), without: ['after'] } },
  ...{ getSchedule: { 200: given(schedule) }, dropSchedule: { 204: given(schedule) } },
  putSchedule: { 201: given(queue), 200: given(schedule) },
  updateSchedule: { 200: given(schedule) },
  ...{ getOverview: { 200: given(deadMessage) }, redriveQueue: { 200: given(deadMessage) } },
  ...{ queueErrors: { 200: { ...given(deadMessage), without: ['from'] } }, queueReceivers: { 200: given(blocked) } },
  ...{ promoteMessages: { 200: given(message) }, purgeQueue: { 200: given(message) } },
  sendMessages: {
    201: given(queue),
    // Of one message: the example is of many.
    200: given(async (store) => {
      await message(store)
      return { '': { body: { to: 'a@example.org' }, dedupId: 'welcome-7' } }
    }),
  },
  peekMessages: { 200: { ...given(message), without: ['after', 'error', 'from'] } },
  getMessage: { 200: given(claimed) },
  ...{ removeMessage: { 204: given(message) }, cancelMessage: { 204: given(message) } },
  receiveMessages: { 200: given(message) },
  cycleMessages: { 200: given(message) },
  ackMessages: { 200: given(claimedMany), 204: given(claimed) },
  nackMessages: { 200: given(claimedMany), 204: given(claimed) },
  extendMessages: {
    200: given(async (store) => {
      const { receiptHandle } = await claimed(store)
      await store.queues.ack('mail', receiptHandle)
      return { receiptHandles: [receiptHandle] }
    }),
    204: given(async (store) => {
      const { receiptHandle } = await claimed(store)
      return { '': { receiptHandle, visibilityTimeoutSeconds: 60 } }
    }),
  },
  listFeeds: { 200: { ...given(consumer), without: ['after'] } },
  getFeedStatus: { 200: given(consumer) },
  dropFeed: { 204: given(entries) },
  republishEntries: { 200: given(entries) },
  getEntry: { 200: given(entries) },
  putEntry: { 200: nothing },
  deleteEntry: { 200: given((store) => store.feeds.put('users', 'fred', 1).then(() => undefined)) },
  putEntries: { 200: nothing },
  getChanges: { 200: { ...given(entries), without: ['after', 'consumer'] } },
  getCursor: { 200: given(consumer) },
  moveCursor: { 200: given(consumer) },
  dropCursor: { 204: given(consumer) },
  ...{ getAccess: { 200: nothing }, livez: { 200: nothing }, readyz: { 200: nothing }, metrics: { 200: nothing } },
}

interface Parameter {
  name: string
  in: string
  required: boolean
  schema: { default?: unknown; examples?: unknown[] }
  /** The values that a page prefills. */
  example?: unknown
}
interface Operation {
  operationId: string
  parameters?: Parameter[]
  requestBody?: { content: { 'application/json': { example: unknown } } }
  responses: Record<string, { content?: Record<string, { example: unknown; schema: { $ref: string } }> }>
}

const operations = Object.entries(document.paths as object).flatMap(([path, methods]) =>
  Object.entries(methods as Record<string, Operation>).map(([method, operation]) => ({ path, method, operation })),
)
const rows = operations.flatMap(({ path, method, operation }) =>
  Object.keys(operation.responses)
    .filter((status) => status < '300')
    .map((status) => ({ id: operation.operationId, status: Number(status), path, method, operation })),
)

async function startServer(): Promise<{ client: Client; store: Store }> {
  const store = await memoryStore()
  return { store, client: clientOf(await serving(createApp(store, { allowAnonymous: false }))) }
}

const encode = encodeURIComponent

const exampleOf = ({ example, schema }: Parameter) => example ?? schema.examples?.[0]

function queryPart(parameter: Parameter, own: Record<string, unknown>): string {
  const { name } = parameter
  const value = own[name] ?? exampleOf(parameter)
  return (Array.isArray(value) ? value : [value]).map((each) => `${name}=${encode(String(each))}`).join('&')
}

/** The path of the examples, with these of the optional query parameters. */
function targetOf(path: string, parameters: Parameter[], own: Record<string, unknown>): string {
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name) => {
    const parameter = parameters.find((each) => each.name === name && each.in === 'path')
    return encode(String(own[name] ?? parameter?.example))
  })
  const query = parameters.filter((each) => each.in === 'query').map((each) => queryPart(each, own))
  return query.length === 0 ? filled : `${filled}?${query.join('&')}`
}

/** The body of the example, with what only the store can make in its place. */
function bodyOf(example: unknown, own: Record<string, unknown>): unknown {
  if (example === undefined) return undefined
  if ('' in own) return own['']
  const made = Object.entries(own).filter(([name]) => Object.hasOwn(example as object, name))
  return { ...(example as object), ...Object.fromEntries(made) }
}

/** The parts of a value that must be as in the example: its fields, and the type of each. */
function shapeOf(value: unknown): unknown {
  if (Array.isArray(value)) return [...new Set(value.map((each) => JSON.stringify(shapeOf(each))))].sort()
  if (typeof value !== 'object' || value === null) return value === null ? 'null' : typeof value
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, shapeOf(each)]))
}

function mustFit(answer: Answer, status: number, { responses }: Operation): void {
  expect([answer.status, answer.text.slice(0, 300)]).toEqual([status, expect.any(String)])
  const type = String(answer.headers['content-type'])
  const content = responses[status]?.content?.[type]
  if (!content) {
    expect([answer.text, responses[status]?.content]).toEqual(['', undefined])
    return
  }
  const value = answer.json ?? answer.text
  expect(schemaFault(content.schema.$ref.split('/').at(-1) as string, value)).toBeNull()
  const isList = (shape: unknown) => JSON.stringify(shape)
  expect(Object.keys(Object(value))).toEqual(
    typeof value === 'string' ? expect.anything() : Object.keys(content.example as object),
  )
  expect(isList(shapeOf(value))).toBe(isList(shapeOf(content.example)))
}

test('each operation of the document has a state for each good status, and no other one has', () => {
  const documented = rows.map(({ id, status }) => `${id} ${status}`)
  const known = Object.entries(CASES).flatMap(([id, states]) => Object.keys(states).map((status) => `${id} ${status}`))
  expect(known.sort()).toEqual(documented.sort())
})

test('each body and each parameter has an example', () => {
  for (const { operation } of operations) {
    for (const parameter of operation.parameters ?? []) {
      const { name, in: place } = parameter
      if (place !== 'header') expect([operation.operationId, name, exampleOf(parameter)]).not.toContain(undefined)
    }
    if (operation.requestBody) expect(operation.requestBody.content['application/json'].example).toBeDefined()
  }
})

test('what may be left out is not prefilled with what would narrow the answer: with its default, or not at all', () => {
  const prefilled = operations.flatMap(({ operation }) =>
    (operation.parameters ?? [])
      .filter(({ required, example, schema }) => !required && example !== undefined && example !== schema.default)
      .map(({ name }) => `${operation.operationId} ${name}`),
  )
  expect(prefilled).toEqual([])
})

const isStream = ({ operation }: (typeof rows)[number]) => operation.operationId === 'streamGroup'

test.each(rows.filter((row) => !isStream(row)))('$id: $status', async ({ id, status, path, method, operation }) => {
  const { client, store } = await startServer()
  const { given, without = [] } = CASES[id]?.[status] ?? {}
  const own = (await given?.(store)) ?? {}
  const parameters = operation.parameters ?? []
  const json = bodyOf(operation.requestBody?.content['application/json'].example, own)
  const sent = json === undefined ? {} : { json }
  // A route that changes nothing is asked with each of the optional parameters alone as well.
  if (method === 'get') {
    for (const { name } of parameters.filter((each) => each.in === 'query' && !each.required)) {
      const alone = parameters.filter((each) => each.required || each.name === name)
      const answer = await client.request('GET', targetOf(path, alone, own))
      expect([name, answer.status, answer.text]).toEqual([name, 200, expect.any(String)])
    }
  }
  const together = parameters.filter(({ name }) => !without.includes(name))
  mustFit(await client.request(method.toUpperCase(), targetOf(path, together, own), sent), status, operation)
})

test('streamGroup: 200', async () => {
  const { client, store } = await startServer()
  await lastItem(store)
  const { operation, path } = rows.find(isStream) as (typeof rows)[number]
  const documented = String(operation.responses[200]?.content?.['text/event-stream']?.example)
  const wanted = kindsOf(documented)
  expect(wanted.sort()).toEqual(['comment', 'item', 'removed', 'reset'])
  const ending = new AbortController()
  const target = targetOf(path, operation.parameters ?? [], {}).replace('after=41', 'after=40')
  const answer = await fetch(client.url + target, { signal: ending.signal })
  expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/event-stream'])
  let text = ''
  const decoder = new TextDecoder()
  for await (const bytes of answer.body as unknown as AsyncIterable<Uint8Array>) {
    text += decoder.decode(bytes, { stream: true })
    if (kindsOf(text).includes('item') && !kindsOf(text).includes('removed'))
      await store.groups.remove('article:42', 40n)
    if (kindsOf(text).includes('removed')) await store.groups.put('article:42', { capacity: 50, mode: 'distinct' })
    if (wanted.every((kind) => kindsOf(text).includes(kind))) break
  }
  ending.abort()
  expect(dataOf(text, 'item')).toEqual(dataOf(documented, 'item'))
  expect(dataOf(text, 'removed')).toEqual(dataOf(documented, 'removed'))
  expect(dataOf(text, 'reset')).toEqual(dataOf(documented, 'reset'))
})

function kindsOf(text: string): string[] {
  const events = [...text.matchAll(/^event: (\w+)$/gm)].map(([, kind]) => kind as string)
  return [...new Set(/^:/m.test(text) ? [...events, 'comment'] : events)]
}

/** The fields of an event's data, and their types. */
function dataOf(text: string, kind: string): unknown {
  const data = new RegExp(`event: ${kind}\ndata: (.*)\n`).exec(text)?.[1] ?? 'null'
  return shapeOf(JSON.parse(data))
}

test('a parameter or a body that does not fit is not let through by this test', async () => {
  const { client } = await startServer()
  const answer = await send(client.url, 'GET', '/v1/groups/a', {})
  const operation = operations.find((each) => each.operation.operationId === 'getGroup')?.operation as Operation
  expect(() => mustFit(answer, 200, operation)).toThrow()
})

/** Queues in the app of a user: below a prefix, behind its body parsers and its `access`. */
import { createRouter, type RouterOptions } from '../../src/http/router'
import type { Store } from '../../src/store/types'
import { soonMs } from '../support/timing'
import { fresh, memoryStore } from './support/client'
import { BEFORE, expectAsked, expectGuarded, type GuardedCall, mounted } from './support/mounting'

let store: Store
beforeAll(async () => {
  store = await memoryStore()
})

test.each(BEFORE)('sends, receives and settles, %s', async (_name, prepare) => {
  const client = await mounted(store, { access: 'anonymous' }, { prepare })
  const path = `/v1/queues/${fresh('queue')}`
  expect((await client.put(path, { maxReceives: 3 })).status).toBe(201)
  const body = JSON.parse('{"__proto__":{"a":"\\u0000"},"n":[1.5,null]}')
  expect((await client.post(`${path}/messages`, { body })).status).toBe(201)
  expect((await client.post(`${path}/messages`, { messages: [{ body }, { body: null }] })).status).toBe(201)
  const one = await client.request('POST', `${path}/receive`)
  expect(one.text).toContain('"body":{"__proto__":{"a":"\\u0000"},"n":[1.5,null]}')
  const rest = JSON.parse((await client.post(`${path}/receive`, { limit: 10, waitSeconds: 5 })).text).messages
  expect(rest).toHaveLength(2)
  const receiptHandles = [...JSON.parse(one.text).messages, ...rest].map(({ receiptHandle }) => receiptHandle)
  expect((await client.post(`${path}/ack`, { receiptHandles })).json).toEqual({
    acked: receiptHandles,
    failed: [],
  })
  expect((await client.request('POST', `${path}/purge`)).json).toEqual({ deleted: 0 })
  const refused = await client.post(`${path}/messages`, { messages: [{ body, priority: 'high' }] })
  expect(refused.json.errors).toMatchObject([{ pointer: '/messages/0/priority' }])
})

describe('access', () => {
  const receiptHandles = ['x']
  const callsOf = (queue: string): GuardedCall[] => [
    ['read', 'GET', '/v1/queues'],
    ['read', 'GET', queue],
    ['read', 'GET', `${queue}/messages`],
    ['read', 'GET', `${queue}/receivers`],
    ['read', 'GET', `${queue}/messages/1`],
    ['queue', 'POST', `${queue}/messages`, { body: 1 }],
    ['queue', 'POST', `${queue}/messages`, { messages: [{ body: 1 }] }],
    ['queue', 'POST', `${queue}/receive`, {}],
    ['queue', 'POST', `${queue}/ack`, { receiptHandles }],
    ['queue', 'POST', `${queue}/nack`, { receiptHandles }],
    ['queue', 'POST', `${queue}/extend`, { receiptHandles, visibilityTimeoutSeconds: 1 }],
    ['admin', 'POST', `${queue}/redrive`, {}],
    ['admin', 'POST', `${queue}/promote`, { ids: ['1'] }],
    ['admin', 'POST', `${queue}/purge`],
    ['admin', 'DELETE', `${queue}/messages/1`],
    ['admin', 'PUT', queue, {}],
    ['admin', 'PATCH', queue, {}],
    ['admin', 'POST', `${queue}/pause`],
    ['admin', 'POST', `${queue}/resume`],
    ['admin', 'DELETE', queue],
  ]

  test('is asked with what the request is about to do', async () => {
    await expectAsked(store, callsOf('/v1/queues/q'))
  })

  test('that is refused is 403, whatever the body; nothing is done, without a wait', async () => {
    const name = fresh('guarded')
    await store.queues.put(name)
    const { nobody, holder: worker } = await expectGuarded(store, callsOf(`/v1/queues/${name}`), 'queue')
    const start = Date.now()
    expect((await nobody.post(`/v1/queues/${name}/receive`, { waitSeconds: 20 })).status).toBe(403)
    expect(Date.now() - start).toBeLessThan(soonMs())
    expect((await worker.post(`/v1/queues/${name}/messages`, { body: 1 })).status).toBe(201)
    expect((await worker.post(`/v1/queues/${name}/receive`, {})).json).toMatchObject({ messages: [{ body: 1 }] })
  })
})

test('`stopping` answers who waits, and must be an AbortSignal', async () => {
  const stopping = new AbortController()
  const client = await mounted(store, { access: 'anonymous', stopping: stopping.signal })
  const name = fresh('queue')
  await store.queues.put(name)
  const waiting = client.post(`/v1/queues/${name}/receive`, { waitSeconds: 20 })
  setTimeout(() => stopping.abort(), 200)
  const start = Date.now()
  expect((await waiting).json).toEqual({ messages: [] })
  expect(Date.now() - start).toBeLessThan(soonMs())
  const make = () => createRouter(store, { access: 'anonymous', stopping: 'now' } as unknown as RouterOptions)
  expect(make).toThrow(/stopping: must be an AbortSignal/)
})

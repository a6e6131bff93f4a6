/** Messages that died and are in a dead-letter queue, by the routes and the metrics. */
import { createMetrics } from '../../src/index'
import { fresh, memoryStore, startApp } from './support/client'
import { amountOf, parsedMetrics } from './support/exposition'
import { served, useGuarded } from './support/keys'

test('a dead letter says where it died and why, as its queue says what it is', async () => {
  const server = await startApp()
  const [queue, letters] = [fresh('queue'), fresh('letters')]
  const [path, there] = [`/v1/queues/${queue}`, `/v1/queues/${letters}`]
  await server.put(there, {})
  await server.put(path, { maxReceives: 1, deadLetterQueue: letters })
  const { id } = (await server.post(`${path}/messages`, { body: 1 })).json
  await server.post(`${path}/receive`, { visibilityTimeoutSeconds: 0 })
  expect((await server.get(`${path}/messages/${id}`)).status).toBe(404)
  const lastError = 'The visibility timeout ran out after 1 receive.'
  const letter = { id, state: 'ready', receiveCount: 0, deadReceiveCount: 1, deadLetterFrom: queue, lastError }
  expect((await server.get(`${there}/messages`)).json).toMatchObject({ messages: [letter], nextAfter: null })
  expect((await server.get(`${there}/messages/${id}`)).json).toMatchObject(letter)
  const { deadAt, visibleAt } = (await server.get(`${there}/messages/${id}`)).json
  expect(deadAt).toBe(visibleAt)
  const told = { deadAt, deadReceiveCount: 1, firstReceivedAt: expect.any(String) }
  const claim = { visibilityTimeoutSeconds: 0 }
  expect((await server.post(`${there}/receive`, claim)).json).toMatchObject({ messages: [told] })
  expect((await server.get(there)).json).toMatchObject({ isDeadLetterQueue: true, counts: { ready: 1, dead: 0 } })
  expect((await server.get(path)).json.isDeadLetterQueue).toBe(false)
  const listed = await server.get(`/v1/queues?prefix=${letters}`)
  expect(listed.json).toMatchObject({ queues: [{ queue: letters, isDeadLetterQueue: true }] })
})

test('the metrics count dead letters as dead, and not as what waits', async () => {
  let offsetMs = 0
  const store = await memoryStore({ publish: false, clockOffsetMs: () => offsetMs })
  const { queues } = store
  await queues.put('mail-dead')
  await queues.put('mail', { maxReceives: 1, deadLetterQueue: 'mail-dead' })
  await queues.sendMany('mail', [{ body: 1 }, { body: 2 }])
  await queues.receive('mail', { limit: 2 })
  offsetMs = 90_000
  await queues.send('mail', 'waits')
  await queues.peek('mail')
  const samples = parsedMetrics(await createMetrics(store).text())
  const states = ['ready', 'in_flight', 'delayed', 'dead', 'archived'] as const
  expect(states.map((state) => amountOf(samples, 'recentn_queue_messages', { state }))).toEqual([1, 0, 0, 2, 0])
  expect(amountOf(samples, 'recentn_queue_oldest_age_seconds')).toBeLessThan(10)
})

describe.each(served)('keys on %s', (engine) => {
  const guarded = useGuarded(engine)

  test('with a prefix see where a dead letter died only when that is within', async () => {
    const { queues } = guarded.store
    await queues.put('in:letters')
    const ids: bigint[] = []
    for (const queue of ['in:mail', 'out:mail']) {
      await queues.put(queue, { deadLetterQueue: 'in:letters' })
      ids.push((await queues.send(queue, 1)).id)
      const messages = await queues.receive(queue)
      const handles = messages.map(({ receiptHandle }) => receiptHandle)
      await queues.nackMany(queue, handles, { dead: true })
    }
    const path = '/v1/queues/in:letters'
    for (const [prefix, outside] of [
      [undefined, 'out:mail'],
      ['in', null],
      ['in:', null],
    ] as const) {
      const client = await guarded.client({ scopes: ['read'], ...(prefix !== undefined && { prefix }) })
      const told = [{ deadLetterFrom: 'in:mail' }, { deadLetterFrom: outside }]
      const [page, queue] = [await client.get(`${path}/messages`), await client.get(path)]
      expect([page.json.messages, queue.json.isDeadLetterQueue]).toMatchObject([told, true])
      for (const [at, id] of ids.entries()) {
        expect((await client.get(`${path}/messages/${id}`)).json).toMatchObject(told[at] ?? {})
      }
    }
  })
})

/** More appends at once than the process takes: 429 for those beyond the bound, and never a hang or a 500. */

import { createApp, messagesOf } from '../../src/http/process/app'
import { performance as storeClock } from '../../src/shared/platform'
import { innerOf } from '../../src/store/inner'
import type { Store } from '../../src/store/types'
import { type Answer, type Client, clientOf, fresh, memoryStore, serving } from './support/client'

const BOUND = 20
const errors: unknown[] = []

async function started(batching: object): Promise<Client & { store: Store }> {
  const store = await memoryStore({ batching, connectionTimeoutSeconds: 60 })
  const onError = (error: unknown) => void errors.push(error)
  const app = createApp(store, { allowAnonymous: false, onError })
  return { ...clientOf(await serving(app, messagesOf(app))), store }
}

/**
 * Runs `work` while a transaction keeps the database to itself. Requests go by whether there are keys, which is known for
 * 3 seconds; then they would wait for the transaction. So no time passes for the store until then.
 */
async function keptBusy(store: Store, work: () => Promise<void>): Promise<void> {
  await innerOf(store).keys.exist()
  const clock = jest.spyOn(storeClock, 'now').mockReturnValue(storeClock.now())
  try {
    await store.transaction(work)
  } finally {
    clock.mockRestore()
  }
}

/** Answers to what was sent while a transaction kept the database to itself, until so many were refused. */
async function whileBusy(store: Store, refused: number, send: () => Promise<Answer>[]): Promise<Answer[]> {
  let answers: Promise<Answer>[] = []
  await keptBusy(store, async () => {
    answers = send()
    // None is answered with 201 before the transaction ends; who is refused need not wait for that.
    let answered = 0
    for (const answer of answers) answer.finally(() => answered++)
    while (answered < refused) await new Promise((resolve) => setTimeout(resolve, 5))
  })
  return Promise.all(answers)
}

function expectOverloaded(answer: Answer): void {
  expect(answer.status).toBe(429)
  expect(answer.headers['content-type']).toBe('application/problem+json')
  expect(answer.headers['retry-after']).toBe('1')
  expect(answer.json).toMatchObject({ code: 'overloaded', status: 429, type: '/docs/errors#overloaded' })
}

test('a burst beyond the bound of items: as many are stored as answered with 201, the others get 429', async () => {
  const client = await started({ maxPendingItems: BOUND })
  const group = fresh()
  const path = `/v1/groups/${group}/items`
  const answers = await whileBusy(client.store, 100 - BOUND, () =>
    Array.from({ length: 100 }, (_, n) => client.post(path, { member: `m${n}` })),
  )
  const stored = answers.filter(({ status }) => status === 201)
  expect(stored).toHaveLength(BOUND)
  for (const answer of answers) if (answer.status !== 201) expectOverloaded(answer)
  const ids = stored.map(({ json }) => Number(json.id)).sort((a, b) => a - b)
  expect(ids).toEqual(Array.from({ length: BOUND }, (_, n) => n))
  expect((await client.get(path)).json.totalAppended).toBe(String(BOUND))
  expect((await client.post(path, {})).status).toBe(201)
})

test('a batch counts with all of its items', async () => {
  const client = await started({ maxPendingItems: BOUND })
  const items = Array.from({ length: 15 }, () => ({ group: fresh('batch') }))
  const answers = await whileBusy(client.store, 2, () => [0, 1, 2].map(() => client.post('/v1/items', { items })))
  expect(answers.filter(({ status }) => status === 201)).toHaveLength(1)
  for (const answer of answers) if (answer.status !== 201) expectOverloaded(answer)
})

test('a burst beyond the bound of bytes', async () => {
  const client = await started({ maxPendingBytes: 100_000 })
  const path = `/v1/groups/${fresh()}/items`
  const payload = 'x'.repeat(30_000)
  const answers = await whileBusy(client.store, 9, () =>
    Array.from({ length: 12 }, () => client.post(path, { payload })),
  )
  expect(answers.filter(({ status }) => status === 201)).toHaveLength(3)
  for (const answer of answers) if (answer.status !== 201) expectOverloaded(answer)
  expect((await client.get(path)).json.totalAppended).toBe('3')
})

test('callers who come back after a 429 are all served in the end', async () => {
  const client = await started({ maxPendingItems: 3 })
  const path = `/v1/groups/${fresh()}/items`
  let refused = 0
  const caller = async (n: number) => {
    for (;;) {
      const answer = await client.post(path, { member: `m${n}` })
      if (answer.status === 201) return
      expectOverloaded(answer)
      refused++
      await new Promise((resolve) => setTimeout(resolve, 5 + (n % 7)))
    }
  }
  let callers: Promise<void>[] = []
  await keptBusy(client.store, async () => {
    callers = Array.from({ length: 40 }, (_, n) => caller(n))
    while (refused < 37) await new Promise((resolve) => setTimeout(resolve, 5))
  })
  await Promise.all(callers)
  expect((await client.get(path)).json.totalAppended).toBe('40')
})

// Internal errors, with a status from 500 on.
afterAll(() => expect(errors).toEqual([]))

test('a request that gets no database connection in time is answered 429, and says what the likely mistake is', async () => {
  const store = await memoryStore({ connectionTimeoutSeconds: 0.2 })
  const app = createApp(store, { allowAnonymous: false })
  const client = clientOf(await serving(app, messagesOf(app)))
  const path = `/v1/groups/${fresh()}/items`
  let end: () => void = () => {}
  const open = store.transaction(() => new Promise<void>((resolve) => (end = resolve)))
  const answers = await Promise.all([client.get(path), client.post(path, {}), client.get('/v1/queues')])
  end()
  await open
  for (const answer of answers) {
    expectOverloaded(answer)
    expect(answer.json.detail).toMatch(/did not become free within 0\.2 s.*store\.within\(manager\)/)
  }
  expect((await client.post(path, {})).status).toBe(201)
})

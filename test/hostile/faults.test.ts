/** Requests with a hundred thousand faults: they are answered soon, with the first faults and how many more there are. */
import { send } from '../http/support/client'
import { expectUnharmed, startAttacked } from './support/attacked'

const REQUESTS = 8

const object = (keys: number) => Object.fromEntries(Array.from({ length: keys }, (_, n) => [`f${n}`, 0]))

test.each([
  ['GET', '/livez', '%&'.repeat(100_000), 1],
  ['GET', '/livez', '%&'.repeat(127_000), 1],
  ['GET', '/v1/groups', '&'.repeat(250_000), 1],
  ['GET', '/v1/groups/g/items', 'exclude=%ff&'.repeat(20_000), 1],
  ['GET', '/v1/items', 'group=g&'.repeat(900), 1],
  ['GET', '/v1/groups', Array.from({ length: 999 }, (_, n) => `x${n}=%`).join('&'), 101],
])('%s %s with a query of many faults', async (method, path, query, listed) => {
  const attacked = await startAttacked()
  const { url } = attacked
  expectUnharmed(
    await attacked.harmOf(async () => {
      const answers = await Promise.all(
        Array.from({ length: REQUESTS }, () => send(url, method, `${path}?${query}`, {})),
      )
      for (const { status, json } of answers) {
        // A target may be refused for its length alone.
        expect([400, 414, 431]).toContain(status)
        if (status === 400) expect(json.errors).toHaveLength(listed)
      }
    }),
  )
})

test.each([
  ['POST', '/v1/groups/g/items', object(80_000), 79_900],
  ['POST', '/v1/queues/q/purge', object(80_000), 79_900],
  ['PUT', '/v1/groups/g', object(80_000), 79_900],
  ['POST', '/v1/items', { items: Array(1000).fill(object(80)) }, 80_900],
  ['POST', '/v1/feeds/f/republish', { keys: Array(1000).fill('') }, 900],
  ['POST', '/v1/queues/q/ack', { receiptHandles: Array(1000).fill(0) }, 900],
])('%s %s with a body of many faults', async (method, path, json, more) => {
  const attacked = await startAttacked()
  const { url } = attacked
  expectUnharmed(
    await attacked.harmOf(async () => {
      for (let n = 0; n < REQUESTS; n++) {
        const answer = await send(url, method, path, { json })
        const errors = answer.json.errors as unknown as { detail: string }[]
        expect([answer.status, errors.length]).toEqual([400, 101])
        expect(errors.at(-1)).toEqual({ pointer: '', detail: `has ${more} more faults` })
      }
    }),
  )
})

/** A little of everything that a store does, with answers that are known: what an odd setting of a server would change. */
import type { Store } from '../../src/index'
import { eventually } from '../contract/context'

let count = 0

/** Every kind of write and read, on its own names; a text has the characters that encodings and quotes stumble over. */
export async function exercise(store: Store): Promise<void> {
  const mark = `é😀'"\\\` ${++count}:`
  await groups(store, mark)
  await queues(store, mark)
  await feeds(store, mark)
}

async function groups(store: Store, mark: string): Promise<void> {
  await store.policies.put(`${mark}seen:`, { capacity: 3, mode: 'distinct', ttlSeconds: 3600 })
  await Promise.all(['a', 'b', 'a', 'A', 'a '].map((member) => store.groups.append(`${mark}seen:1`, { member })))
  const seen = await store.groups.recent(`${mark}seen:1`)
  expect(new Set(seen.items.map(({ member }) => member)).size).toBe(3)
  expect(seen.totalAppended).toBe(5n)

  const payload = { text: mark, zero: '\u0000', line: 'a\nb\\n', quotes: `'"` }
  const many = Array.from({ length: 12 }, (_, n) => ({
    group: `${mark}log`,
    payload: { ...payload, n },
    eventId: `${mark}${n}`,
  }))
  await store.groups.appendMany(many)
  const again = await store.groups.append(`${mark}log`, { eventId: `${mark}11`, payload: 'another' })
  expect([again.id, again.payload]).toEqual([11n, { ...payload, n: 11 }])
  const { items, totalAppended } = await store.groups.recent(`${mark}log`, { limit: 2 })
  expect([totalAppended, items.map(({ payload: found }) => found)]).toEqual([
    12n,
    [
      { ...payload, n: 11 },
      { ...payload, n: 10 },
    ],
  ])
  expect(Math.abs(Date.now() - (items[0]?.createdAt.getTime() ?? 0))).toBeLessThan(60_000)
  expect(await store.groups.eraseMember('A')).toEqual({ deleted: expect.any(Number) })
  expect(await store.groups.drop(`${mark}log`)).toBe(true)
}

async function queues(store: Store, mark: string): Promise<void> {
  await store.queues.put(`${mark}dead`)
  await store.queues.put(`${mark}mail`, { maxReceives: 1, deadLetterQueue: `${mark}dead` })
  const bodies = Array.from({ length: 25 }, (_, n) => ({ n, mark }))
  const letters = await store.queues.sendMany(
    `${mark}mail`,
    bodies.map((body) => ({ body })),
  )
  // The ids of the answer are those of the bodies, by whatever steps the server counts.
  for (const n of [0, 11, 24]) {
    expect((await store.queues.message(`${mark}mail`, letters[n]?.id as bigint))?.body).toEqual(bodies[n])
  }
  const [one, two] = await Promise.all([
    store.queues.receive(`${mark}mail`, { limit: 10 }),
    store.queues.receive(`${mark}mail`, { limit: 10 }),
  ])
  const got = [...one, ...two]
  expect(new Set(got.map(({ id }) => id)).size).toBe(20)
  const handles = got.map(({ receiptHandle }) => receiptHandle)
  const { acked: deleted } = await store.queues.ackMany(`${mark}mail`, handles.slice(1))
  expect(deleted).toHaveLength(19)
  await store.queues.nackMany(`${mark}mail`, handles.slice(0, 1), { error: mark })
  const dead = async () => (await store.queues.peek(`${mark}dead`)).messages
  await eventually(5000, 'the dead letter', async () => (await dead()).length === 1)
  expect((await dead())[0]?.lastError).toBe(mark)
  const sent = await store.queues.send(`${mark}mail`, mark, { dedupId: mark, delaySeconds: 60 })
  expect(await store.queues.send(`${mark}mail`, mark, { dedupId: mark })).toMatchObject({ id: sent.id })
}

async function feeds(store: Store, mark: string): Promise<void> {
  const feed = `${mark}users`
  for (const key of ['fred', 'Fred', 'anna']) await store.feeds.put(feed, key, { key, mark })
  await store.feeds.delete(feed, 'anna')
  const seen: string[] = []
  let after = 0n
  await eventually(10_000, 'three changes', async () => {
    const page = await store.feeds.changes(feed, { after })
    for (const change of page.changes) seen.push(`${change.key} ${change.deleted}`)
    after = page.cursor
    return new Set(seen).size >= 3 && seen.includes('anna true')
  })
  const first = await store.sequences.next(`${mark}invoice`, 10)
  expect(await store.sequences.next(`${mark}invoice`, 1)).toBe(first + 10n)
  const { key } = await store.keys.create({ label: mark, scopes: ['read'] })
  expect((await store.keys.verify(key))?.label).toBe(mark)
}

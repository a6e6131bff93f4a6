/** Results as JSON: what `JSON.stringify` makes of each is what the REST route of the same call answers. */

import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import express from 'express'
import { createRouter, JsonText } from '../../../src/index'
import { innerOf } from '../../../src/store/inner'
import { type Context, eventually } from '../context'

/** As `response.json(result)` sends it. */
const sent = (result: unknown): unknown => JSON.parse(JSON.stringify(result))

export function describeJson(context: Context): void {
  const { groups, queues, feeds } = {
    groups: () => context.store.groups,
    queues: () => context.store.queues,
    feeds: () => context.store.feeds,
  }
  let server: Server

  beforeAll(async () => {
    server = createServer(express().use(createRouter(context.store, { access: 'anonymous' })))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  })
  afterAll(() => new Promise((resolve) => server.close(resolve)))

  async function rest(method: string, path: string, body?: unknown): Promise<unknown> {
    const { port } = server.address() as AddressInfo
    const answer = await fetch(`http://127.0.0.1:${port}/v1${path}`, {
      method,
      ...(body !== undefined && { body: JSON.stringify(body), headers: { 'Content-Type': 'application/json' } }),
    })
    return answer.json()
  }
  const get = (path: string) => rest('GET', path)

  const NEW = { member: 'user-7', payload: { a: [1, null, 'é'] }, occurredAt: new Date(0), eventId: 'e' }

  describe('JSON of results', () => {
    it('is of groups, items, members and policies what REST answers', async () => {
      const group = context.unique()
      const path = `/groups/${group}`
      const appended = await groups().append(group, NEW)
      expect(sent(appended)).toEqual(await rest('POST', `${path}/items`, { ...NEW, occurredAt: NEW.occurredAt }))
      const page = await groups().recent(group)
      expect(sent(page)).toEqual(await get(`${path}/items`))
      expect(sent(page.items)).toEqual([sent(appended)])
      expect(sent((await groups().recentMany([group]))[0])).toMatchObject(
        ((await get(`/items?group=${group}`)) as { groups: object[] }).groups[0] as object,
      )
      expect(sent(await groups().recentIfChanged(group, 'none'))).toEqual(sent(page))
      const nobody = context.unique()
      expect(sent(await groups().recent(nobody))).toEqual(await get(`/groups/${nobody}/items`))
      expect(sent(await groups().get(group))).toEqual(await get(path))
      expect(sent(await groups().put(group, { capacity: 5 }))).toEqual(await rest('PUT', path, { capacity: 5 }))
      expect(sent(await groups().list({ prefix: group }))).toEqual(await get(`/groups?prefix=${group}`))
      expect(sent(await groups().memberItems('user-7', { prefix: group }))).toEqual(
        await get(`/members/user-7/items?prefix=${group}`),
      )
      const policy = { capacity: 3, mode: 'distinct' } as const
      expect(sent(await context.store.policies.put(group, policy))).toEqual(
        await rest('PUT', `/policies/${group}`, policy),
      )
      expect(sent(await context.store.policies.get(group))).toEqual(await get(`/policies/${group}`))
      expect(sent(await context.store.policies.list({ prefix: group }))).toEqual(await get(`/policies?prefix=${group}`))
      expect(sent(await groups().appendMany([{ group, member: 'm' }]))).toEqual([
        expect.objectContaining({ id: '1', slot: 1, createdAt: expect.stringMatching(/^\d{4}-.*Z$/) }),
      ])
      expect(sent(await groups().clear(group))).toEqual({ deleted: 2 })
      expect(await rest('DELETE', `${path}/items`)).toEqual({ deleted: 0 })
    })

    it('is of queues and messages what REST answers', async () => {
      const queue = context.unique('q')
      const path = `/queues/${queue}`
      const settings = { visibilityTimeoutSeconds: 600 }
      expect(sent(await queues().put(queue, settings))).toEqual(await rest('PUT', path, settings))
      const body = { a: 1 }
      const whole = await queues().send(queue, body, { dedupId: 'd' })
      expect(sent(await queues().send(queue, body, { dedupId: 'd' }))).toEqual({ id: String(whole.id), sent: false })
      expect(await rest('POST', `${path}/messages`, { body, dedupId: 'd' })).toEqual({
        id: String(whole.id),
        sent: false,
      })
      const many = await queues().sendMany(queue, [{ body }, { body }, { body, dedupId: 'd' }])
      expect(sent(many)).toEqual(many.map((each, n) => ({ id: String(each.id), sent: n < 2 })))
      expect(sent(await queues().get(queue))).toEqual(await get(path))
      expect(sent(await queues().list({ prefix: queue }))).toEqual(await get(`/queues?prefix=${queue}`))
      const [first, ...others] = await queues().receive(queue, { limit: 2 })
      const { messages } = (await rest('POST', `${path}/receive`, {})) as { messages: Record<string, unknown>[] }
      const own = sent(first) as Record<string, unknown>
      expect(Object.keys(own)).toEqual(Object.keys(messages[0] as object))
      expect(own).toMatchObject({ id: String(first?.id), body, sentAt: first?.sentAt.toISOString(), receiveCount: 1 })
      expect(sent(others)).toEqual(others.map(sent))
      const isReported = async () => (await queues().receivers(queue)).unknownInFlight === 0
      await eventually(60_000, 'the store has reported that it receives', isReported)
      expect(sent(await queues().message(queue, first?.id as bigint))).toEqual(
        await get(`${path}/messages/${first?.id}`),
      )
      expect(sent(await queues().peek(queue, { state: 'in-flight' }))).toEqual(
        await get(`${path}/messages?state=in-flight`),
      )
      const handles = [first?.receiptHandle as string]
      expect(sent(await queues().extendMany(queue, handles, settings))).toEqual(
        await rest('POST', `${path}/extend`, { receiptHandles: handles, ...settings }),
      )
      expect(sent(await queues().ackMany(queue, handles))).toEqual({ acked: handles, failed: [] })
    })

    it('is of feeds, entries, changes and consumers what REST answers', async () => {
      const feed = context.unique('f')
      const path = `/feeds/${feed}`
      expect(Object.keys(sent(await feeds().put(feed, 'k', { a: 1 })) as object)).toEqual(
        Object.keys((await rest('PUT', `${path}/entries/k`, { value: { a: 1 } })) as object),
      )
      await feeds().publish(feed)
      expect(sent(await feeds().get(feed, 'k'))).toEqual(await get(`${path}/entries/k`))
      const page = await feeds().changes(feed)
      expect(sent(page)).toEqual(await get(`${path}/changes`))
      expect(sent(page.changes)).toEqual([expect.objectContaining({ syncId: String(page.cursor), key: 'k' })])
      expect(sent(await feeds().changes(feed, { waitSeconds: 1 }))).toEqual(sent(page))
      const put = await feeds().moveCursor(feed, 'c', page.cursor)
      expect(sent(put)).toEqual(await rest('PUT', `${path}/consumers/c`, { cursor: String(page.cursor) }))
      expect(sent(await feeds().cursor(feed, 'c'))).toEqual(await get(`${path}/consumers/c`))
      expect(sent(await feeds().status(feed))).toEqual(await get(path))
      expect(sent(await feeds().list({ prefix: feed }))).toEqual(await get(`/feeds?prefix=${feed}`))
      expect(sent(await feeds().delete(feed, 'k'))).toMatchObject({ key: 'k', deleted: true, syncId: null })
      expect(sent((await feeds().putMany(feed, [{ key: 'l', value: 1 }])).entries)).toEqual([{ key: 'l', version: 1 }])
    })

    it('is there inside of transactions, of keys, counts, totals and events', async () => {
      const group = context.unique()
      const inside = await context.store.transaction(async (tx) => {
        await tx.groups.append(group, { member: 'm' })
        return [await tx.groups.recent(group), await tx.groups.get(group)]
      })
      expect(sent(inside)).toEqual([await get(`/groups/${group}/items`), await get(`/groups/${group}`)])
      const { key, ...shown } = await context.store.keys.create({ label: 'l', scopes: ['read'] })
      expect(sent(shown)).toMatchObject({ createdAt: shown.createdAt.toISOString(), revokedAt: null })
      expect(sent(await context.store.keys.verify(key))).toMatchObject({ id: shown.id })
      for (const result of [
        await context.store.keys.list(),
        innerOf(context.store).counts(),
        await innerOf(context.store).totals(),
      ]) {
        expect(sent(result)).toEqual(expect.any(Object))
      }
      const events = groups().watch(group, { after: -1n })
      expect(sent((await events.next()).value)).toEqual({
        type: 'item',
        item: ((await get(`/groups/${group}/items`)) as { items: unknown[] }).items[0],
      })
      await groups().remove(group, 0n)
      expect(sent((await events.next()).value)).toEqual({ type: 'removed', id: '0' })
      await groups().drop(group)
      await groups().append(group)
      expect(sent((await events.next()).value)).toMatchObject({
        type: 'reset',
        group,
        totalAppended: expect.any(String),
      })
      await events.return()
    })

    it('leaves results plain objects, with bigints and Dates in their fields', async () => {
      const group = context.unique()
      const item = await groups().append(group, { payload: new JsonText('{"a":1}'), member: 'm' })
      expect(item).toStrictEqual({
        ...{ group, id: 0n, slot: 0, member: 'm', score: null, payload: { a: 1 }, occurredAt: null, eventId: null },
        ...{ createdAt: expect.any(Date), appended: true },
      })
      const page = await groups().recent(group)
      expect(Object.keys(page)).toEqual(['group', 'capacity', 'mode', 'totalAppended', 'items', 'nextBefore', 'tag'])
      const inherited: string[] = []
      for (const name in page) inherited.push(name)
      expect(inherited).toEqual(Object.keys(page))
      expect(page.totalAppended).toBe(1n)
      // A result may be a payload itself.
      await groups().append(group, { payload: item })
      expect((await groups().recent(group, { limit: 1 })).items[0]?.payload).toEqual(sent(item))
    })
  })
}

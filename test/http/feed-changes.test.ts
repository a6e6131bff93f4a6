import { connect } from 'node:net'
import { createApp } from '../../src/http/process/app'
import { sweepFeeds } from '../support/opened'
import { pause, soonMs, timed } from '../support/timing'
import { clientOf, fresh, memoryStore, serving } from './support/client'
import { eventually } from './support/streams'
import { expectAnsweredAtClose, expectAnsweredAtStop, useWaitedOn } from './support/waiting'

const TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)

const at = useWaitedOn()
const NONE = { changes: [], cursor: '0', hasMore: false }

interface Page {
  changes: { syncId: string; key: string; value: unknown; version: number; deleted: boolean }[]
  cursor: string
  hasMore: boolean
}

async function pageOf(path: string, query = ''): Promise<Page> {
  const answer = await at.server.get(`${path}/changes${query}`)
  expect(answer.status).toBe(200)
  return JSON.parse(answer.text)
}

/** A feed with so many published entries: k0 has sync id 1, and so on. */
async function made(count: number): Promise<{ feed: string; path: string }> {
  const feed = fresh('feed')
  const entries = Array.from({ length: count }, (_, n) => ({ key: `k${String(n).padStart(4, '0')}`, value: n }))
  if (count > 0) await at.store.feeds.putMany(feed, entries)
  await at.store.feeds.publish(feed)
  return { feed, path: `/v1/feeds/${feed}` }
}

describe('GET …/changes', () => {
  test('gives what was published after the cursor, in order, and says whether there is more', async () => {
    const { path } = await made(5)
    const all = await pageOf(path)
    expect(all.changes.map(({ syncId }) => syncId)).toEqual(['1', '2', '3', '4', '5'])
    expect([all.cursor, all.hasMore]).toEqual(['5', false])
    for (const change of all.changes) expect(change).toMatchObject({ version: 1, deleted: false })
    expect(await pageOf(path, '?after=0&limit=2')).toEqual({
      changes: all.changes.slice(0, 2),
      cursor: '2',
      hasMore: true,
    })
    expect(await pageOf(path, '?after=3&limit=2')).toEqual({
      changes: all.changes.slice(3),
      cursor: '5',
      hasMore: false,
    })
    expect(await pageOf(path, '?after=5')).toEqual({ changes: [], cursor: '5', hasMore: false })
  })

  test('at most 100 unless more are asked for, up to 1,000', async () => {
    const { path } = await made(1000)
    expect((await pageOf(path)).changes).toHaveLength(100)
    const most = await pageOf(path, '?limit=1000')
    expect([most.changes.length, most.cursor, most.hasMore]).toEqual([1000, '1000', false])
  })

  test('of a feed that has not begun: none, and cursors of another copy of the database are expired', async () => {
    const path = `/v1/feeds/${fresh('feed')}`
    expect(await pageOf(path)).toEqual(NONE)
    const startedOver = String((5n << 63n) + 3n)
    for (const after of ['3', startedOver]) {
      const answer = await at.server.get(`${path}/changes?after=${after}`)
      expect([answer.status, answer.json.code]).toEqual([410, 'cursor_expired'])
    }
    expect((await at.server.get(path)).status).toBe(404)
  })

  test('stops at about 4 MiB, and continues from there', async () => {
    const { feed, path } = await made(0)
    const value = 'x'.repeat(250_000)
    for (let n = 0; n < 40; n += 10) {
      await at.store.feeds.putMany(
        feed,
        Array.from({ length: 10 }, (_, i) => ({ key: `k${n + i}`, value })),
      )
    }
    await at.store.feeds.publish(feed)
    const sizes: number[] = []
    let cursor = '0'
    for (let hasMore = true; hasMore; ) {
      const { text } = await at.server.get(`${path}/changes?after=${cursor}&limit=1000`)
      const page = JSON.parse(text) as Page
      expect(page.changes.map(({ syncId }) => Number(syncId))).toEqual(
        page.changes.map((_, i) => Number(cursor) + i + 1),
      )
      expect(text.length).toBeLessThan(4.8 * 1024 * 1024)
      sizes.push(page.changes.length)
      cursor = page.cursor
      hasMore = page.hasMore
    }
    expect(cursor).toBe('40')
    expect(sizes[0]).toBeGreaterThanOrEqual(15)
    expect(sizes.length).toBeGreaterThan(1)
  })

  test('410 once a tombstone after the cursor has been removed; starting over works', async () => {
    const offset = { ms: 0 }
    const expiring = await memoryStore({ feeds: { tombstoneSeconds: 1 }, clockOffsetMs: () => offset.ms })
    const client = clientOf(await serving(createApp(expiring, { allowAnonymous: false })))
    await expiring.feeds.putMany(
      'f',
      ['a', 'b', 'c'].map((key) => ({ key, value: key })),
    )
    await expiring.feeds.publish('f')
    await client.put('/v1/feeds/f/consumers/behind', { cursor: '1' })
    await expiring.feeds.delete('f', 'a')
    await expiring.feeds.publish('f')
    expect((await client.get('/v1/feeds/f/changes?after=1')).json).toMatchObject({ changes: [{}, {}, { key: 'a' }] })
    offset.ms = 10_000
    await sweepFeeds(expiring)
    for (const query of ['after=1', 'consumer=behind', 'after=1&waitSeconds=20']) {
      const answer = await client.get(`/v1/feeds/f/changes?${query}`)
      expect([query, answer.status, answer.json.code]).toEqual([query, 410, 'cursor_expired'])
    }
    // A consumer that keeps up does not notice.
    expect((await client.get('/v1/feeds/f/changes?after=4')).json).toEqual({ ...NONE, cursor: '4' })

    const again = JSON.parse((await client.get('/v1/feeds/f/changes?after=0&limit=1')).text) as Page
    expect(again).toMatchObject({ changes: [{ syncId: '2', key: 'b' }], hasMore: true })
    // The cursor of a consumer that has started over says so, and is taken in every place.
    expect(BigInt(again.cursor)).toBeGreaterThan(2n ** 63n)
    const rest = { changes: [{ syncId: '3', key: 'c' }], hasMore: false }
    expect((await client.get(`/v1/feeds/f/changes?after=${again.cursor}`)).json).toMatchObject(rest)
    const put = await client.put('/v1/feeds/f/consumers/behind', { cursor: again.cursor })
    expect([put.status, put.json]).toEqual([200, { consumer: 'behind', cursor: again.cursor, lag: 2, movedAt: TIME }])
    const last = (await client.get('/v1/feeds/f/changes?consumer=behind')).json
    expect(last).toMatchObject(rest)
    expect((await client.get(`/v1/feeds/f/changes?after=${last.cursor}`)).json).toMatchObject({ changes: [] })
  })
})

describe('/v1/feeds/{feed}/consumers/{consumer}', () => {
  test('PUT moves the cursor forward, backwards only by force; GET says how far it is behind', async () => {
    const { path } = await made(5)
    const consumer = 'a consumer / äöü'
    const target = `${path}/consumers/${encodeURIComponent(consumer)}`
    expect((await at.server.get(target)).json).toEqual({ consumer, cursor: '0', lag: 5, movedAt: null })
    for (const [body, cursor] of [
      [{ cursor: '3' }, '3'],
      [{ cursor: '1' }, '3'],
      [{ cursor: '1', force: false }, '3'],
      [{ cursor: '2', force: null }, '3'],
      [{ cursor: '5' }, '5'],
      [{ cursor: '2', force: true }, '2'],
      [{ cursor: '0', force: true }, '0'],
      [{ cursor: '4' }, '4'],
    ] as const) {
      const put = await at.server.put(target, body)
      expect([body, put.status, put.json]).toEqual([
        body,
        200,
        { consumer, cursor, lag: 5 - Number(cursor), movedAt: TIME },
      ])
      expect((await at.server.get(target)).json).toEqual(put.json)
    }
  })

  test('beyond the last sync id: 400, and it stays where it was', async () => {
    const { path } = await made(2)
    const target = `${path}/consumers/c`
    await at.server.put(target, { cursor: '1' })
    for (const [cursor, force] of [
      ['3', false],
      ['9223372036854775807', true],
      // The form of one that starts over, of which none was ever given out here.
      ['9223372036854775808', true],
      [String((5n << 63n) + 1n), true],
    ]) {
      const answer = await at.server.put(target, { cursor, force })
      expect([answer.status, answer.json.errors]).toEqual([400, [{ pointer: '/cursor', detail: expect.any(String) }]])
    }
    expect((await at.server.get(target)).json).toMatchObject({ cursor: '1', lag: 1 })
  })

  test('changes start at its cursor, and move it nowhere', async () => {
    const { path } = await made(3)
    await at.server.put(`${path}/consumers/c`, { cursor: '1' })
    for (const _ of [1, 2]) {
      expect(await pageOf(path, '?consumer=c')).toMatchObject({
        changes: [{ syncId: '2' }, { syncId: '3' }],
        cursor: '3',
      })
    }
    expect(await pageOf(path, '?consumer=nobody')).toMatchObject({ changes: [{}, {}, {}], cursor: '3' })
    await at.server.put(`${path}/consumers/c`, { cursor: '3' })
    expect(await pageOf(path, '?consumer=c')).toEqual({ changes: [], cursor: '3', hasMore: false })
  })

  test('DELETE forgets it: 204, then 404', async () => {
    const { path } = await made(2)
    await at.server.put(`${path}/consumers/c`, { cursor: '2' })
    const removed = await at.server.delete(`${path}/consumers/c`)
    expect([removed.status, removed.text]).toEqual([204, ''])
    expect((await at.server.get(`${path}/consumers/c`)).json).toEqual({
      consumer: 'c',
      cursor: '0',
      lag: 2,
      movedAt: null,
    })
    for (const target of [`${path}/consumers/c`, `/v1/feeds/${fresh('feed')}/consumers/c`]) {
      const answer = await at.server.delete(target)
      expect([answer.status, answer.json.code]).toEqual([404, 'consumer_not_found'])
    }
  })

  test('on a feed that has not begun there is none, until it is stored at "0"', async () => {
    const feed = fresh('feed')
    const target = `/v1/feeds/${feed}/consumers/c`
    expect((await at.server.get(target)).json).toMatchObject({ status: 404, code: 'feed_not_found' })
    expect((await at.server.put(target, { cursor: '0' })).json).toEqual({
      consumer: 'c',
      cursor: '0',
      lag: 0,
      movedAt: TIME,
    })
    expect((await at.server.get(`/v1/feeds/${feed}`)).json).toMatchObject({ lastSyncId: '0', entries: 0 })
  })
})

describe('changes with waitSeconds', () => {
  test('are answered at once when there are any', async () => {
    const { path } = await made(1)
    const { answer, ms } = await timed(pageOf(path, '?waitSeconds=20'))
    expect(answer.changes).toHaveLength(1)
    expect(ms).toBeLessThan(soonMs())
  })

  test('are answered without any when the time has passed', async () => {
    for (const { path } of [await made(1), await made(0)]) {
      const after = (await pageOf(path)).cursor
      const { answer, ms } = await timed(pageOf(path, `?after=${after}&waitSeconds=1`))
      expect(answer).toEqual({ changes: [], cursor: after, hasMore: false })
      expect([ms > 900, ms < 900 + soonMs()]).toEqual([true, true])
    }
  })

  test.each(['after=1', 'consumer=c'])('%s: soon after a write', async (query) => {
    const { path } = await made(1)
    await at.server.put(`${path}/consumers/c`, { cursor: '1' })
    const waiting = pageOf(path, `?${query}&waitSeconds=20`)
    await pause(300)
    await at.server.put(`${path}/entries/new`, { value: 'here' })
    const { answer, ms } = await timed(waiting)
    expect(answer).toMatchObject({ changes: [{ syncId: '2', key: 'new', value: 'here' }], cursor: '2' })
    expect(ms).toBeLessThan(soonMs())
  })

  test('of a feed that has not begun: soon after its first entry', async () => {
    const path = `/v1/feeds/${fresh('feed')}`
    const waiting = pageOf(path, '?waitSeconds=20')
    await pause(300)
    await at.server.post(`${path}/entries`, { entries: [{ key: 'first', value: 1 }] })
    const { answer, ms } = await timed(waiting)
    expect(answer).toMatchObject({ changes: [{ syncId: '1', key: 'first' }], cursor: '1' })
    expect(ms).toBeLessThan(soonMs())
  })

  test('many at once, of one feed and of others: each is answered by its own', async () => {
    const [a, b] = [await made(0), await made(0)]
    const waiting = Array.from({ length: 40 }, (_, n) => pageOf((n % 2 ? a : b).path, `?waitSeconds=${n % 2 ? 20 : 2}`))
    await pause(300)
    await at.server.put(`${a.path}/entries/k`, { value: 1 })
    const { answer: ofA, ms } = await timed(Promise.all(waiting.filter((_, n) => n % 2)))
    expect(ms).toBeLessThan(soonMs())
    for (const page of ofA) expect(page).toMatchObject({ changes: [{ key: 'k' }] })
    for (const page of await Promise.all(waiting.filter((_, n) => n % 2 === 0))) expect(page).toEqual(NONE)
  })
})

describe('who waits is answered', () => {
  test('by no process when the client is gone: the waiting ends', async () => {
    const { feed, path } = await made(0)
    const waits = jest.spyOn(at.store.feeds, 'changes')
    const socket = connect(Number(new URL(at.server.url).port), '127.0.0.1')
    socket.on('error', () => {})
    socket.write(`GET ${path}/changes?waitSeconds=20 HTTP/1.1\r\nHost: localhost\r\n\r\n`)
    await eventually('it is asked', () => waits.mock.calls.length === 1)
    const [waiting] = waits.mock.results
    expect(waits.mock.calls).toEqual([[feed, expect.objectContaining({ waitSeconds: 20 })]])
    waits.mockRestore()
    socket.destroy()
    const { answer, ms } = await timed(waiting?.value)
    expect(answer).toEqual({ changes: [], cursor: 0n, hasMore: false })
    expect(ms).toBeLessThan(soonMs())
  })

  test('when the server stops: at once, with no changes, as the last answer of the connection', async () => {
    const { path } = await made(1)
    await expectAnsweredAtStop(at.store, (client) => client.get(`${path}/changes?after=1&waitSeconds=20`), {
      ...NONE,
      cursor: '1',
    })
  })

  test('when the store is closed; who comes later gets 503', async () => {
    await expectAnsweredAtClose(await memoryStore(), ['GET', '/v1/feeds/f/changes?waitSeconds=20'], NONE)
  })
})

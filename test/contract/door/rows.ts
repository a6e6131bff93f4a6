import { diagnose } from '../../../src/cli/doctor'
import { createMetrics } from '../../../src/index'
import { type Context, membersOf } from '../context'
import { bodiesIn, doorTools, insert, insertSends, leftIn, move } from './tools'

/** The fate of rows that plain SQL has inserted. */
export function describeDoorRows(context: Context): void {
  const { madeQueue, emptied } = doorTools(context)

  describe('the door: rows', () => {
    beforeEach(emptied)

    it('become messages in their order, with all that a send has, and are gone', async () => {
      const { store } = context
      const queue = await madeQueue()
      await insertSends(store, queue, { n: 1 }, { n: 2 })
      const more = { priority: 5, message_group: 'a', attributes: '{"trace":"abc"}' }
      await insert(store, 'sends', { queue, body: ' {"n":  3}', ...more }, { queue, body: '4', delay_seconds: 60 })
      expect(await move(store)).toBe(4)
      expect(await leftIn(store, 'sends')).toEqual([])
      const messages = await store.queues.receive(queue, { limit: 10, bodies: 'text' })
      expect(messages.map(({ body }) => (body as { text: string }).text)).toEqual([' {"n":  3}', '{"n":1}', '{"n":2}'])
      expect(messages[0]).toMatchObject({ priority: 5, messageGroup: 'a', attributes: { trace: 'abc' } })
      expect((await store.queues.peek(queue, { state: 'delayed' })).messages).toMatchObject([{ body: 4 }])
    })

    it('become items in their order, once for each event id', async () => {
      const { store } = context
      const [group, other] = [context.unique(), context.unique()]
      const first = { group_key: group, member: 'ann', payload: '{"n":12345678901234567890}' }
      const dated = { group_key: group, member: 'bob', occurred_at_ms: 1_700_000_000_123, event_id: 'e' }
      await insert(store, 'appends', first, dated, { group_key: other }, { ...dated, member: 'again' })
      expect(await move(store)).toBe(4)
      expect(await leftIn(store, 'appends')).toEqual([])
      const recent = await store.groups.recent(group, { payloads: 'text' })
      expect(membersOf(recent)).toEqual(['bob', 'ann'])
      expect(recent.items).toMatchObject([
        { payload: null, eventId: 'e', occurredAt: new Date(1_700_000_000_123) },
        { payload: { text: '{"n":12345678901234567890}' } },
      ])
      expect((await store.groups.recent(other)).totalAppended).toBe(1n)
    })

    it('with a dedup id become one message', async () => {
      const { store } = context
      const queue = await madeQueue()
      await store.queues.send(queue, 'first', { dedupId: 'one' })
      const row = (dedup_id: string) => ({ queue, body: '"next"', dedup_id })
      await insert(store, 'sends', row('one'), row('two'), row('two'))
      expect(await move(store)).toBe(3)
      expect(await bodiesIn(store, queue)).toEqual(['first', 'next'])
    })

    it('that cannot be sent stay with their reason, hold up no other, and go once they are put right', async () => {
      const { store } = context
      const queue = await madeQueue()
      const wrong: [Record<string, unknown>, RegExp][] = [
        [{ body: 'no JSON' }, /^\/body: must be JSON$/],
        [{ body: JSON.stringify('x'.repeat(256 * 1024)) }, /^\/body: must have at most 256 KiB/],
        [{ body: '['.repeat(65) + ']'.repeat(65) }, /^\/body: is nested more than 64/],
        [{ body: '1', delay_seconds: -1 }, /delaySeconds: must be a whole number/],
        [{ body: '1', attributes: '[1]' }, /^\/attributes: must be an object of texts$/],
        [{ body: '1', attributes: '{' }, /^\/attributes: must be JSON$/],
        [{ body: '1', dedup_id: '' }, /dedupId: must not be empty/],
        [{ queue: 'a\u0000b', body: '1' }, /queue: must not have control characters/],
      ]
      for (const [row] of wrong) {
        await insert(store, 'sends', { queue, ...row })
        await insertSends(store, queue, 'good')
      }
      expect(await move(store)).toBe(wrong.length)
      const left = await leftIn(store, 'sends')
      expect(left.map(({ stuck, error }) => [stuck, error])).toEqual(
        wrong.map(([, reason]) => [2, expect.stringMatching(reason)]),
      )
      expect(await bodiesIn(store, queue)).toEqual(wrong.map(() => 'good'))
      expect(await move(store)).toBe(0)
      expect(await diagnose(context.url)).toContainEqual({
        check: 'door',
        state: 'warning',
        found: `0 sends and 0 appends wait, ${wrong.length} and 0 are stuck`,
        fix: expect.stringMatching(/column error of recentn_sends: .* set stuck = 0/),
      })
      const metrics = await createMetrics(await context.open()).text()
      expect(metrics).toContain(`recentn_door_rows{table="sends",state="stuck"} ${wrong.length}\n`)
      const mended = `UPDATE recentn_sends SET stuck = 0, body = '"mended"', delay_seconds = 0, attributes = NULL, dedup_id = NULL, queue = ?`
      await store.dataSource.query(mended, [queue])
      expect(await move(store)).toBe(wrong.length)
      expect(await bodiesIn(store, queue)).toEqual([...wrong.map(() => 'good'), ...wrong.map(() => 'mended')])
      expect(await leftIn(store, 'sends')).toEqual([])
    })

    it('that cannot be appended stay with their reason, too', async () => {
      const { store } = context
      const [group, distinct] = [context.unique(), context.unique()]
      await store.groups.put(distinct, { mode: 'distinct' })
      await insert(
        store,
        'appends',
        { group_key: distinct },
        { group_key: group, payload: '{' },
        { group_key: group, payload: JSON.stringify('x'.repeat(64 * 1024)) },
        { group_key: group, occurred_at_ms: -1 },
        { group_key: group, member: 'ann' },
        { group_key: distinct, member: 'ann' },
      )
      expect(await move(store)).toBe(2)
      expect((await leftIn(store, 'appends')).map(({ stuck, error }) => [stuck, error])).toEqual([
        [2, expect.stringMatching(/member: is required/)],
        [2, '/payload: must be JSON'],
        [2, expect.stringMatching(/^\/payload: must have at most 64 KiB/)],
        [2, expect.stringMatching(/occurredAt: must be a time/)],
      ])
      for (const name of [group, distinct]) expect(membersOf(await store.groups.recent(name))).toEqual(['ann'])
    })

    it('for a queue that is not there go when it is', async () => {
      const { store } = context
      const [missing, queue] = [context.unique('q'), await madeQueue()]
      await insertSends(store, missing, 1, 2)
      await insertSends(store, queue, 1)
      expect(await move(store)).toBe(1)
      const isStuck = { stuck: 1, error: expect.stringMatching(/no queue/i) }
      expect(await leftIn(store, 'sends')).toMatchObject([isStuck, isStuck])
      expect(await bodiesIn(store, queue)).toEqual([1])
      await store.queues.put(missing)
      // A store looks for such rows when it opens, and then every ten seconds.
      expect(await move(await context.open())).toBe(2)
      expect(await bodiesIn(store, missing)).toEqual([1, 2])
    })

    it('that make a statement fail stay, too, and are tried again', async () => {
      const { store } = context
      const { dataSource } = store
      const queue = await madeQueue()
      const when = "NEW.body LIKE '%boom%'"
      const body =
        context.engine === 'sqlite'
          ? `WHEN ${when} BEGIN SELECT RAISE(ABORT, 'no boom'); END`
          : `BEGIN IF ${when} THEN SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'no boom'; END IF; END`
      const trigger = `CREATE TRIGGER booms BEFORE INSERT ON recentn_queue_messages FOR EACH ROW ${body}`
      await dataSource.query(trigger)
      await insertSends(store, queue, 1, 'boom', 2, 3)
      try {
        expect(await move(store)).toBe(3)
        expect(await leftIn(store, 'sends')).toMatchObject([{ stuck: 1, error: expect.stringMatching(/no boom/) }])
        expect(await move(await context.open())).toBe(0)
      } finally {
        await dataSource.query('DROP TRIGGER booms')
      }
      expect(await move(await context.open())).toBe(1)
      expect(await bodiesIn(store, queue)).toEqual([1, 2, 3, 'boom'])
    })

    it('for a queue that is full wait for room, in their order, and hold up no other', async () => {
      const { store } = context
      const [full, queue] = [await madeQueue({ maxMessages: 2 }), await madeQueue()]
      await insertSends(store, full, 1, 2, 3, 4, 5)
      await insertSends(store, queue, 1)
      expect(await move(store)).toBe(3)
      const left = await leftIn(store, 'sends')
      expect(left.map(({ stuck }) => stuck)).toEqual([0, 0, 0])
      expect(left[0]?.error).toMatch(/as many messages as its maxMessages allows: 2/)
      const received: unknown[] = []
      for (let n = 0; n < 3; n++) {
        const messages = await store.queues.receive(full, { limit: 10 })
        await store.queues.ackMany(full, messages)
        for (const { body } of messages) received.push(body)
        await insertSends(store, queue, 'meanwhile')
        await move(store)
      }
      expect(received).toEqual([1, 2, 3, 4, 5])
      expect(await bodiesIn(store, queue)).toEqual([1, 'meanwhile', 'meanwhile', 'meanwhile'])
    })

    it('of many queues, and more than one transaction takes, all go in the order of each queue', async () => {
      const { store } = context
      const queues = [await madeQueue(), await madeQueue(), await madeQueue()]
      const rows = Array.from({ length: 1300 }, (_, n) => [queues[n % 7 === 0 ? 1 : n % 11 === 0 ? 2 : 0], n] as const)
      for (let from = 0; from < rows.length; from += 100) {
        const some = rows.slice(from, from + 100)
        const sql = `INSERT INTO recentn_sends (queue, body) VALUES ${some.map(() => '(?, ?)').join(', ')}`
        await store.dataSource.query(
          sql,
          some.flatMap(([queue, n]) => [queue, String(n)]),
        )
      }
      expect(await move(store)).toBe(1300)
      for (const queue of queues) {
        const expected = rows.filter(([each]) => each === queue).map(([, n]) => n)
        expect(await store.transaction((tx) => tx.queues.get(queue))).toMatchObject({
          counts: { ready: expected.length },
        })
        expect(await bodiesIn(store, queue)).toEqual(expected.slice(0, 1000))
      }
    })

    it('are moved within seconds by a store that sweeps, and wake who waits', async () => {
      const store = await context.open({ sweep: true })
      const queue = await madeQueue()
      const received = store.queues.receive(queue, { waitSeconds: 20 })
      await insertSends(store, queue, 'at last')
      expect((await received).map(({ body }) => body)).toEqual(['at last'])
    })
  })
}

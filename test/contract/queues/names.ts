import { type Context, eventually, refusal } from '../context'
import { bodiesOf, handlesOf, messageIds, queueTools, STATES } from './tools'

/** Names that some collation or padding rule takes for the same. */
const TRICKY = [
  ...['a', 'A', 'a ', 'a  ', ' a', 'ä', 'a\u0308', 'ß', 'ss', 'ﬁ', 'fi', '😀', '😁', '\ufeffa', 'a\u200b'],
  ...['/', '%2F', '\\', "'", '"', '`', '?', ';--', '0', '00', '__proto__', 'constructor', 'null', '\u{10ffff}'],
]

const BAD_NAMES = ['', 'x'.repeat(192), '😀'.repeat(192), 'a\u0000b', '\n', '\u0085', 'a\ud800', '.', '..']

export function describeQueueNames(context: Context): void {
  const queues = () => context.store.queues
  const { made, madeOf, filled, one, pass, idsIn } = queueTools(context)
  const rows = async (sql: string, parameters: unknown[]): Promise<{ n: number | string }> =>
    (await context.store.dataSource.query(sql, parameters))[0]

  /** Operations on a queue that must be there. */
  const onQueue = (name: string): Promise<unknown>[] => [
    queues().send(name, 1),
    queues().sendMany(name, [{ body: 1 }]),
    queues().receive(name),
    queues().ackMany(name, ['h']),
    queues().nackMany(name, ['h']),
    queues().extendMany(name, ['h'], { visibilityTimeoutSeconds: 1 }),
    queues().peek(name),
    queues().message(name, 1n),
    queues().remove(name, 1n),
    queues().redrive(name),
    queues().purge(name),
  ]

  describe('queues: names', () => {
    it('are the same only when they are the same bytes', async () => {
      const base = context.unique('n')
      const names = [...TRICKY.map((name) => base + name), base + '😀'.repeat(191 - base.length)]
      for (const [n, name] of names.entries()) {
        expect(await queues().put(name, { maxReceives: n + 1 })).toMatchObject({ queue: name, created: true })
        await queues().send(name, n)
      }
      for (const [n, name] of names.entries()) {
        expect(await queues().get(name)).toMatchObject({ queue: name, maxReceives: n + 1 })
        expect(await one(name)).toMatchObject({ body: n })
      }
      expect(await queues().drop(`${base}a`)).toBe(true)
      expect(await queues().get(`${base}a `)).not.toBeNull()
      expect(await queues().get(`${base}A`)).not.toBeNull()
    })

    it('of dedupIds and message groups too', async () => {
      const queue = await made()
      const sent = await queues().sendMany(
        queue,
        TRICKY.map((name) => ({ body: name, dedupId: name, messageGroup: name })),
      )
      const ids = messageIds(sent)
      expect(new Set(ids).size).toBe(TRICKY.length)
      for (const [n, name] of TRICKY.entries()) {
        if (n % 4 === 0) expect(await queues().send(queue, 0, { dedupId: name })).toEqual({ id: ids[n], sent: false })
      }
      const received = await queues().receive(queue, { limit: 1000 })
      expect(received.map(({ body, messageGroup }) => body === messageGroup)).toEqual(TRICKY.map(() => true))
    })

    it('of cursors too', async () => {
      const queue = await madeOf(2, { visibilityTimeoutSeconds: 0 })
      for (const cursor of ['c', 'C', 'c ', 'ç', '😀']) {
        expect(bodiesOf(await queues().cycle(queue, { cursor }))).toEqual([1])
      }
    })

    it.each(BAD_NAMES.map((name) => [JSON.stringify(name).slice(0, 20), name]))('refuse %s', async (_, name) => {
      const queue = await made()
      const calls = [
        queues().put(name),
        queues().get(name),
        queues().drop(name),
        queues().put(queue, { deadLetterQueue: name }),
        queues().send(queue, 1, { dedupId: name }),
        queues().send(queue, 1, { messageGroup: name }),
        queues().cycle(queue, { cursor: name }),
        ...onQueue(name),
      ]
      const codes = await Promise.all(calls.map(async (call) => (await refusal(call)).code))
      expect(codes).toEqual(calls.map(() => 'invalid_input'))
      expect(await idsIn(queue, 'ready')).toEqual([])
    })

    it('that no queue has are refused by every operation', async () => {
      const name = context.unique('nowhere')
      const calls = [queues().cycle(name), queues().receive(name, { waitSeconds: 5 }), ...onQueue(name)]
      const codes = await Promise.all(calls.map(async (call) => (await refusal(call)).code))
      expect(codes).toEqual(calls.map(() => 'queue_not_found'))
      expect(await queues().get(name)).toBeNull()
      expect(await queues().drop(name)).toBe(false)
    })
  })

  describe('queues: the list', () => {
    it('goes by name, in pages, for a prefix, with attributes and counts', async () => {
      const prefix = context.unique('l')
      const names = ['b', 'a', 'A', 'ä', 'aa', 'a ', '😀', 'z', '%', '_'].map((end) => prefix + end)
      for (const [n, name] of names.entries()) await queues().put(name, { maxReceives: n + 1 })
      const sorted = [...names].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
      const all = await queues().list({ prefix })
      expect([all.queues.map(({ queue }) => queue), all.nextAfter]).toEqual([sorted, null])
      for (const listed of all.queues) expect(listed).toEqual(await queues().get(listed.queue))
      const paged: string[] = []
      for (let after: string | null = null; ; ) {
        const page = await queues().list({ prefix, limit: 3, ...(after === null ? {} : { after }) })
        expect(page.queues.length).toBeLessThanOrEqual(3)
        paged.push(...page.queues.map(({ queue }) => queue))
        after = page.nextAfter
        if (after === null) break
      }
      expect(paged).toEqual(sorted)
      expect((await queues().list({ prefix: `${prefix}a` })).queues.map(({ queue }) => queue)).toEqual(
        sorted.filter((name) => name.startsWith(`${prefix}a`)),
      )
      expect((await queues().list({ prefix: `${prefix}%` })).queues).toHaveLength(1)
      expect(await queues().list({ prefix: context.unique('none') })).toEqual({
        queues: [],
        nextAfter: null,
        states: null,
      })
      expect((await queues().list({ limit: 1 })).queues).toHaveLength(1)
      for (const limit of [0, 1001, 1.5]) {
        expect((await refusal(queues().list({ limit }))).code).toBe('invalid_input')
      }
    })
  })

  describe('queues: dropQueue', () => {
    it('drops messages of all states, and a queue made later under the name has nothing of them', async () => {
      const queue = await made({ onAck: 'archive' })
      const options = { messageGroup: 'g', dedupId: 'd' }
      const ids = await filled(queue, 60, (body) => (body === 1 ? options : { messageGroup: 'g' }))
      const [dead, archived, ...held] = await queues().receive(queue, { limit: 5 })
      await queues().nack(queue, dead?.receiptHandle ?? '', { dead: true })
      await queues().ack(queue, archived?.receiptHandle ?? '')
      await queues().send(queue, 'later', { delaySeconds: 10 })
      await queues().cycle(queue, { limit: 3, cursor: 'c' })
      for (const state of STATES) expect(await idsIn(queue, state)).not.toEqual([])
      const { n: queueId } = await rows('SELECT id AS n FROM recentn_queues WHERE queue = ?', [queue])

      expect(await queues().drop(queue)).toBe(true)
      expect(await queues().get(queue)).toBeNull()
      expect((await refusal(queues().peek(queue))).code).toBe('queue_not_found')
      expect(await queues().put(queue)).toMatchObject({ created: true, onAck: 'remove' })
      expect((await queues().get(queue))?.counts.ready).toBe(0)
      for (const state of STATES) expect(await idsIn(queue, state)).toEqual([])
      expect(await queues().message(queue, ids[0] ?? 0n)).toBeNull()
      expect(await queues().remove(queue, ids[0] ?? 0n)).toBe(false)
      for (const settled of [
        (await queues().ackMany(queue, handlesOf(held))).acked,
        (await queues().nackMany(queue, handlesOf(held))).nacked,
        (await queues().extendMany(queue, handlesOf(held), { visibilityTimeoutSeconds: 5 })).extended,
      ]) {
        expect(settled).toEqual([])
      }
      pass(60)
      expect(await queues().receive(queue, { limit: 1000 })).toEqual([])
      expect(await queues().cycle(queue, { limit: 1000, cursor: 'c' })).toEqual([])
      expect(await queues().redrive(queue)).toEqual({ moved: 0 })

      expect(await queues().send(queue, 'anew', { dedupId: 'd' })).toMatchObject({ sent: true })
      expect((await queues().receive(queue)).map(({ body }) => body)).toEqual(['anew'])
      // Sixty turns of the old queue's group are forgotten: it is first here.
      const fair = ['g', 'h', 'g', 'h'].map((messageGroup, n) => ({ body: n, messageGroup }))
      await queues().sendMany(queue, fair)
      expect(bodiesOf(await queues().receive(queue, { limit: 4 }))).toEqual([0, 1, 2, 3])

      await context.open({ sweep: true })
      await eventually(10_000, 'nothing of the old queue is left', async () => {
        const tables = [
          'recentn_queue_messages',
          'recentn_queue_archive',
          'recentn_queue_flows',
          'recentn_queue_dedups',
          'recentn_queue_cursors',
        ]
        const counts = tables.map((table) => rows(`SELECT COUNT(*) AS n FROM ${table} WHERE queue_id = ?`, [queueId]))
        return (await Promise.all(counts)).every(({ n }) => Number(n) === 0)
      })
      expect(await idsIn(queue, 'in-flight')).toHaveLength(5)
    })
  })
}

import type { QueryRunner } from 'typeorm'
import { ownBehind } from '../../../src/database/mysql/mysql-connection'
import type { Store } from '../../../src/index'
import { CuttingProxy } from '../../support/cutting-proxy'
import { withoutReports } from '../../support/opened'
import { type Context, eventually, refusal } from '../context'

/** Our statement that waits for the next one. */
export const later = async (runner: QueryRunner, sql: string) => ownBehind(runner)?.later(sql)

/** Statements of a transaction that go to the server together, on connections that only the store uses. */
export function describeGathering(context: Context): void {
  if (context.engine === 'sqlite') return

  describe('round trips', () => {
    let store: Store
    let proxy: CuttingProxy

    beforeEach(async () => {
      proxy = await CuttingProxy.before(context.url)
      context.afterwards(() => proxy.close())
      store = withoutReports(await context.open({ url: proxy.through(context.url) }))
    })

    /** How often `work` waits for the server, once the store knows what it works on. */
    async function tripsOf(work: () => Promise<unknown>): Promise<number> {
      await work()
      const sent = proxy.record()
      await work()
      return sent.length
    }

    it('of an append are two', async () => {
      const group = context.unique()
      expect(await tripsOf(() => store.groups.append(group, { payload: 1 }))).toBe(2)
    })

    it('of the first append to a group are two, and it gets the policies of its commit', async () => {
      const prefix = context.unique()
      await store.groups.append(`${prefix}:1`)
      const sent = proxy.record()
      await store.groups.append(`${prefix}:2`)
      expect(sent).toHaveLength(2)
      const other = await context.open()
      const appended = await other.transaction(async (tx) => {
        await tx.policies.put(`${prefix}:`, { capacity: 3, mode: 'history' })
        const append = store.groups.append(`${prefix}:3`)
        // MariaDB waits where it reads the epoch, MySQL where it locks it.
        const waitsAt = context.engine === 'mysql' ? 4 : 3
        await eventually(10_000, 'the append waits', async () => sent.length === waitsAt)
        return { append }
      })
      expect(await appended.append).toMatchObject({ id: 0n })
      expect(await store.groups.get(`${prefix}:3`)).toMatchObject({ capacity: 3, totalAppended: 1n })
    })

    it.each<[number, string, (store: Store, queue: string) => Promise<unknown>]>([
      [2, 'a send', (store, queue) => store.queues.send(queue, 1)],
      [3, 'a bulk of 500', (store, queue) => store.queues.sendMany(queue, Array(500).fill({ body: 'x'.repeat(100) }))],
      [1, 'a receive', (store, queue) => store.queues.receive(queue)],
      [2, 'a put', (store, feed) => store.feeds.put(feed, 'k', 1)],
      [3, 'an append in a transaction', (store, group) => store.transaction((tx) => tx.groups.append(group))],
    ])('%i: %s', async (trips, _, work) => {
      const name = context.unique()
      await store.queues.put(name)
      await store.queues.sendMany(
        name,
        Array.from({ length: 100 }, (_, body) => ({ body })),
      )
      // A guess of the store that was wrong stops further ones for a moment, and some statements run only now and then.
      await eventually(10_000, `${trips} round trips`, async () => (await tripsOf(() => work(store, name))) === trips)
    })

    it.each<[number, string, (store: Store, queue: string, handle: string) => Promise<unknown>]>([
      [1, 'a delete', (store, queue, handle) => store.queues.ackMany(queue, [handle])],
      [
        2,
        'an extension',
        (store, queue, handle) => store.queues.extendMany(queue, [handle], { visibilityTimeoutSeconds: 60 }),
      ],
      [3, 'a release', (store, queue, handle) => store.queues.nackMany(queue, [handle])],
    ])('%i: %s', async (trips, _, settle) => {
      const queue = context.unique()
      await store.queues.put(queue)
      await store.queues.sendMany(queue, [{ body: 1 }, { body: 2 }])
      const handles = (await store.queues.receive(queue, { limit: 2 })).map(({ receiptHandle }) => receiptHandle)
      expect(await tripsOf(() => settle(store, queue, handles.pop() as string))).toBe(trips)
    })

    it('of a receive that finds nothing is one', async () => {
      const queue = context.unique()
      await store.queues.put(queue)
      expect(await tripsOf(() => store.queues.receive(queue))).toBe(1)
      const other = await context.open()
      await other.queues.send(queue, 1)
      expect(await store.queues.receive(queue)).toHaveLength(1)
    })

    it('of a transaction that does nothing are none, and of one statement two', async () => {
      expect(await tripsOf(() => store.transaction(async () => {}))).toBe(0)
      const failing = () => store.transaction(() => Promise.reject(new Error('mine'))).catch(() => {})
      expect(await tripsOf(failing)).toBe(0)
      expect(await tripsOf(() => store.transaction(({ manager }) => manager.query('SELECT 1')))).toBe(2)
    })

    it('are no more for operations within a transaction of the store’s DataSource', async () => {
      const group = context.unique()
      const append = () => store.dataSource.transaction((manager) => store.within(manager).groups.append(group))
      expect(await tripsOf(append)).toBe(3)
    })

    it('carry the mark of a batch never together with its COMMIT', async () => {
      const { groups, queues, feeds } = store
      const sent = proxy.record()
      const [group, queue, feed] = [context.unique('g'), context.unique('q'), context.unique('f')]
      await queues.put(queue)
      // The first of a name, one that is known, and many at once.
      for (const times of [1, 1, 30]) {
        const each = Array.from({ length: times }, (_, n) => n)
        await Promise.all(each.map((n) => groups.append(group, { payload: n, eventId: `${times} ${n}` })))
        await Promise.all(each.map((n) => queues.send(queue, n)))
        await Promise.all(each.map((n) => queues.send(queue, n, { messageGroup: `g${n}`, dedupId: `${n}` })))
        await Promise.all(each.map((n) => feeds.put(feed, `k${n}`, n)))
        await Promise.all([1, 2].map(() => queues.sendMany(queue, Array(500).fill({ body: 1 }))))
        await Promise.all([queue, feed, group].map((name) => queues.send(name, 1).catch(() => {})))
      }
      const marks = sent.filter((packet) => /INSERT INTO recentn_writers/.test(packet))
      expect(marks.length).toBeGreaterThan(12)
      expect(sent.filter((packet) => /COMMIT/.test(packet)).length).toBeGreaterThan(12)
      expect(marks.filter((packet) => /COMMIT/.test(packet))).toEqual([])
    })

    it('are one for a large packet, which stays below what every server takes', async () => {
      const group = context.unique()
      await store.groups.put(group, { capacity: 10_000 })
      const payload = "'".repeat(500)
      const sent = proxy.record()
      const thousand = Array.from({ length: 1000 }, () => ({ group, payload }))
      await Promise.all([1, 2, 3, 4].map(() => store.groups.appendMany(thousand)))
      expect(Math.max(...sent.map(({ length }) => length))).toBeLessThan(1024 * 1024)
      expect((await store.groups.recent(group, { limit: 1 })).totalAppended).toBe(4000n)
    })
  })

  describe('no text ends a statement', () => {
    const TEXTS = [
      "'; DROP TABLE recentn_items; -- ",
      "\\'; DROP TABLE recentn_items; -- ",
      "\\\\'; DELETE FROM recentn_items; #",
      '"; DROP TABLE recentn_items; /*',
      "`; COMMIT; DROP TABLE recentn_items; '",
      "\u0000'; DROP TABLE recentn_items; \u001a",
      "ħ'; DROP TABLE recentn_items; 😀'",
      ';\nCOMMIT;\n',
    ]

    it.each(['', 'NO_BACKSLASH_ESCAPES', 'ANSI_QUOTES'])('with sql_mode %p', async (mode) => {
      const store = await context.open({ poolSize: 1 })
      await store.dataSource.query('SET SESSION sql_mode = ?', [mode])
      for (const text of TEXTS) {
        // Names have no control characters.
        const name = text.replaceAll(/[^ -\uffff]/g, '')
        const [group, queue, feed] = [context.unique() + name, context.unique('q'), context.unique('f')]
        await store.groups.append(group, { payload: text, member: name, eventId: name })
        await store.queues.put(queue)
        await store.queues.send(queue, text, { messageGroup: name })
        await store.feeds.put(feed, name, text)
        const { items } = await store.groups.recent(group)
        const [message] = await store.queues.receive(queue)
        expect([items.map(({ payload }) => payload), message?.body]).toEqual([[text], text])
        expect((await store.feeds.get(feed, name))?.value).toBe(text)
        await store.transaction(async (tx) => {
          await tx.groups.append(group, { payload: text })
          const [row] = await tx.manager.query('SELECT ? AS text', [text])
          expect(row.text).toBe(text)
        })
        expect((await store.groups.recent(group)).totalAppended).toBe(2n)
      }
    })

    it('and a query of the caller takes one', async () => {
      const query = (sql: string) => context.store.transaction(({ manager }) => manager.query(sql))
      for (const sql of [
        'SELECT 1; SELECT 2',
        "SELECT 'a\\'; b'; DROP TABLE recentn_items",
        'SELECT 1 /*! ; SELECT 2 */',
      ]) {
        expect((await refusal(query(sql))).code).toBe('invalid_input')
      }
      expect(await query('SELECT 1 AS one; ')).toMatchObject([{ one: expect.anything() }])
      expect(await query("SELECT 'a; b' AS text -- ; c")).toEqual([{ text: 'a; b' }])
    })
  })

  describe('a statement that fails after it has waited', () => {
    const DEADLOCK = "SIGNAL SQLSTATE '40001' SET MYSQL_ERRNO = 1213, MESSAGE_TEXT = 'Deadlock found'"
    const FAULT = "SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'not this one'"

    beforeAll(() => context.store.dataSource.query('CREATE TABLE gathered (note varchar(100) NOT NULL PRIMARY KEY)'))

    const notes = async (prefix: string) => {
      const rows = await context.store.dataSource.query('SELECT note FROM gathered WHERE note LIKE ? ORDER BY note', [
        `${prefix}%`,
      ])
      return rows.map(({ note }: { note: string }) => note.slice(prefix.length))
    }
    const insert = (note: string) => `INSERT INTO gathered VALUES ('${note}')`
    /** Three statements, the first two of which wait; the one at `position` is `failing`. */
    async function three(runner: QueryRunner, prefix: string, position: number | null, failing: string): Promise<void> {
      const statement = (at: number) => (position === at ? failing : insert(`${prefix}${at}`))
      await later(runner, statement(0))
      await later(runner, statement(1))
      await runner.query(statement(2))
      await later(runner, statement(3))
      await later(runner, statement(4))
    }

    // At 3 and 4 the COMMIT is in the same packet.
    it.each([0, 1, 2, 3, 4])('at position %i: a deadlock runs the whole again', async (position) => {
      const prefix = context.unique()
      let runs = 0
      await context.store.transaction(async ({ manager }) => {
        runs++
        await three(manager.queryRunner as QueryRunner, prefix, runs === 1 ? position : null, DEADLOCK)
      })
      expect([runs, await notes(prefix)]).toEqual([2, ['0', '1', '2', '3', '4']])
    })

    it.each([0, 1, 2, 3, 4])('at position %i: its error is reported, and nothing is stored', async (position) => {
      const prefix = context.unique()
      const work = context.store.transaction(({ manager }) =>
        three(manager.queryRunner as QueryRunner, prefix, position, FAULT),
      )
      await expect(work).rejects.toThrow('not this one')
      expect(await notes(prefix)).toEqual([])
    })

    it('ends the transaction, also if the error is caught', async () => {
      const prefix = context.unique()
      const work = context.store.transaction(async ({ manager }) => {
        const runner = manager.queryRunner as QueryRunner
        await later(runner, FAULT)
        await runner.query('SELECT 1').catch(() => {})
        await runner.query(insert(prefix)).catch(() => {})
      })
      await expect(work).rejects.toThrow('not this one')
      expect(await notes(prefix)).toEqual([])
    })

    it('in an inner transaction leaves the outer one', async () => {
      const prefix = context.unique()
      await context.store.transaction(async ({ manager }) => {
        await manager.query(insert(`${prefix}outer`))
        const inner = manager.transaction(async ({ queryRunner }) => {
          await later(queryRunner as QueryRunner, insert(`${prefix}inner`))
          await later(queryRunner as QueryRunner, FAULT)
        })
        await expect(inner).rejects.toThrow('not this one')
        await manager.query(insert(`${prefix}last`))
      })
      expect(await notes(prefix)).toEqual(['last', 'outer'])
    })

    it('fails its own operation', async () => {
      const { store } = context
      const group = context.unique()
      await store.dataSource.query(
        `CREATE TRIGGER not_bad BEFORE INSERT ON recentn_items FOR EACH ROW BEGIN IF NEW.payload = '"bad"' THEN ${FAULT}; END IF; END`,
      )
      context.afterwards(() => store.dataSource.query('DROP TRIGGER not_bad'))
      await store.transaction(async (tx) => {
        await tx.groups.append(group, { payload: 'first' })
        await expect(tx.groups.append(group, { payload: 'bad' })).rejects.toThrow('not this one')
        await tx.groups.append(group, { payload: 'last' })
      })
      await expect(store.groups.append(group, { payload: 'bad' })).rejects.toThrow('not this one')
      const { items } = await store.groups.recent(group)
      expect(items.map(({ payload, id }) => [id, payload])).toEqual([
        [1n, 'last'],
        [0n, 'first'],
      ])
    })
  })
}

/**
 * How the statements of queues run, looked at from the server: the plan of the claim, and the rows that the storage
 * engine was asked for by whole operations, in a queue with thousands of messages that are none of their business.
 */
import type { QueryRunner } from 'typeorm'
import { sessionOf } from '../../../src/database/attached/attach'
import type { Statement } from '../../../src/database/engine'
import { mysqlEngine } from '../../../src/database/mysql/mysql-engine'
import { sqliteEngine } from '../../../src/database/sqlite/sqlite-engine'
import { tablesOf } from '../../../src/database/tables'
import type { Store } from '../../../src/index'
import { chooseSql, claimSql } from '../../../src/repositories/queues/claim/claim-statements'
import { countAllSql } from '../../../src/repositories/queues/counts'
import { type QueueHead, readHead } from '../../../src/repositories/queues/heads'
import { OwnReceiver } from '../../../src/repositories/queues/receivers/own'
import type { Context } from '../context'
import { statementsOf } from '../statements'
import { handlesOf, queueTools, STATES } from './tools'

const MANY = 5_000

interface Step {
  select_type: string
  table: string
  type: string
  key: string | null
  Extra: string | null
}

const mysql = { engine: mysqlEngine, tables: tablesOf() }
/** As the servers get it. */
const sent = ({ sql, parameters }: Statement) => mysqlEngine.bound(sql, parameters)[0]
const sqlite = { engine: sqliteEngine, tables: tablesOf() }

export function describeQueueExplain(context: Context): void {
  if (context.engine === 'sqlite') describeSqlitePlan(context)
  else describeServerPlans(context)
}

async function headOf(context: Context, queue: string): Promise<QueueHead> {
  const head = await sessionOf(context.store.dataSource).read((reader) => readHead(reader, queue))
  if (head === null) throw new Error('the queue is gone')
  return head
}

function describeServerPlans(context: Context): void {
  const { made, filled } = queueTools(context)

  /** Delayed messages of a higher priority, messages in flight, archived, dead, and ready ones in groups. */
  async function crowded(): Promise<string> {
    const { queues } = context.store
    const queue = await made({ onAck: 'archive' })
    await filled(queue, 1500)
    const handles = handlesOf(await queues.receive(queue, { limit: 1000 }))
    await queues.ackMany(queue, handles)
    await queues.nackMany(queue, handlesOf(await queues.receive(queue, { limit: 500 })), { dead: true })
    await filled(queue, MANY)
    for (let n = 0; n < MANY; n += 1000) await queues.receive(queue, { limit: 1000, visibilityTimeoutSeconds: 43_000 })
    await filled(queue, MANY, () => ({ delaySeconds: 1_000_000, priority: 1000 }))
    await filled(queue, 3000, (body) => ({ messageGroup: body % 3 ? `g${body % 50}` : null, priority: body % 2 }))
    return queue
  }

  describe('queues: how the statements run', () => {
    let queue: string
    let head: QueueHead
    let store: Store
    let runner: QueryRunner
    let close: () => Promise<void> = async () => {}

    beforeAll(async () => {
      queue = await crowded()
      for (const table of [
        'recentn_queues',
        'recentn_queue_messages',
        'recentn_queue_archive',
        'recentn_queue_flows',
      ]) {
        await context.store.dataSource.query(`ANALYZE TABLE ${table}`)
      }
      head = await headOf(context, queue)
      runner = context.store.dataSource.createQueryRunner()
      close = () => runner.release()
    })
    afterAll(() => close())

    const explain = async (sql: string): Promise<Step[]> => runner.query(`EXPLAIN FORMAT=TRADITIONAL ${sql}`)
    const extras = (steps: Step[]) => steps.map(({ Extra }) => Extra ?? '').join('; ')
    const request = () => ({ head, limit: 10, visibilityTimeoutSeconds: undefined, from: null })

    /** How many rows or index entries the storage engine handed out for some work on the one connection. */
    async function rowsOf(query: (sql: string) => Promise<{ Value: string }[]>, work: () => Promise<unknown>) {
      const counted = async () =>
        (await query("SHOW SESSION STATUS LIKE 'Handler_read%'")).reduce((sum, { Value }) => sum + Number(Value), 0)
      const first = await counted()
      const before = await counted()
      await work()
      return (await counted()) - before - (before - first)
    }

    it.each([null, { major: 0, minor: 3 }])(
      'a claim: along recentn_queue_messages_claim, in its order, from %j',
      async (from) => {
        const chosen = (await explain(sent(chooseSql(mysql, { ...request(), from })))).filter(
          ({ table }) => table === 'recentn_queue_messages',
        )
        expect(chosen).toMatchObject([
          { type: expect.stringMatching(/^(ref|range)$/), key: 'recentn_queue_messages_claim' },
        ])
        const steps = await explain(
          sent(claimSql(mysql, mysqlEngine.nowMs, { ...request(), from }, new OwnReceiver().newClaimNumber())),
        )
        expect(extras([...chosen, ...steps])).not.toMatch(/filesort|temporary/i)
        const messages = steps.filter(({ table }) => table === 'recentn_queue_messages')
        expect(messages.map(({ key }) => key).sort()).toEqual(['PRIMARY', 'recentn_queue_messages_claim'])
        expect(messages.find(({ key }) => key === 'PRIMARY')?.type).toBe('eq_ref')
      },
    )

    it('a claim passes over nothing that is delayed, in flight, dead or archived', async () => {
      const sql = sent(claimSql(mysql, mysqlEngine.nowMs, request(), new OwnReceiver().newClaimNumber()))
      const rows = await rowsOf(
        (status) => runner.query(status),
        async () => expect(await runner.query(sql)).toMatchObject({ affectedRows: 10 }),
      )
      // Each message a few times: in the index, in the list of those that were chosen, as a row.
      expect(rows).toBeLessThanOrEqual(8 * 10)
    })

    it('all queues are counted by one walk along recentn_queue_messages_claim, in its order', async () => {
      const steps = await explain(countAllSql(mysql))
      const messages = steps.filter(({ table }) => table === 'recentn_queue_messages')
      expect(messages).toMatchObject([{ type: 'index', key: 'recentn_queue_messages_claim', Extra: 'Using index' }])
      expect(steps.filter(({ table }) => table === 'recentn_queues')).toHaveLength(1)
      const [all] = await runner.query(
        'SELECT (SELECT COUNT(*) FROM recentn_queue_messages) AS m, (SELECT COUNT(*) FROM recentn_queues) AS q',
      )
      const rows = await rowsOf(
        (status) => runner.query(status),
        () => runner.query(countAllSql(mysql)),
      )
      // The queues: read, kept without those that are there twice, and looked up for each of four states.
      expect(rows).toBeLessThanOrEqual(Number(all.m) + 20 * Number(all.q) + 20)
    })

    it('no operation goes through the queue', async () => {
      store = await context.open({ poolSize: 1 })
      const { queues } = store
      const query = (sql: string) => store.dataSource.query(sql)
      for (let warm = 0; warm < 2; warm++) {
        await queues.receive(queue)
        await queues.cycle(queue)
        await queues.get(queue)
      }
      const touched: Record<string, number> = {}
      const touch = async <T>(name: string, work: () => Promise<T>): Promise<T> => {
        let answer: T | undefined
        touched[name] = await rowsOf(query, async () => {
          answer = await work()
        })
        return answer as T
      }
      const messages = await touch('receive 30', () => queues.receive(queue, { limit: 30 }))
      const cycled = await touch('cycle 10', () => queues.cycle(queue, { limit: 10 }))
      expect([messages.length, cycled.length]).toEqual([30, 10])
      const handles = handlesOf(messages)
      await touch('extend 10', () => queues.extendMany(queue, handles.slice(0, 10), { visibilityTimeoutSeconds: 50 }))
      await touch('release 10', () => queues.nackMany(queue, handles.slice(10, 20)))
      await touch('release 10 later', () => queues.nackMany(queue, handles.slice(0, 10), { delaySeconds: 1000 }))
      await touch('delete 10', () => queues.ackMany(queue, handles.slice(20)))
      const tenTimes = Array.from({ length: 10 }, (_, n) => ({ body: n, messageGroup: `g${n}`, dedupId: `d${n}` }))
      await touch('send 10', () => queues.sendMany(queue, tenTimes))
      for (const state of STATES) await touch(`peek 10 ${state}`, () => queues.peek(queue, { state, limit: 10 }))
      await touch('getMessage', () => queues.message(queue, messages[0]?.id ?? 0n))
      await touch('get', () => queues.get(queue))
      const large = Object.entries(touched).filter(([, rows]) => rows > 250)
      expect(large).toEqual([])
    })
  })
}

/** SQLite says less about its plans: which index, and whether it sorts. */
function describeSqlitePlan(context: Context): void {
  const { madeOf } = queueTools(context)

  describe('queues: how the statements run', () => {
    it('a claim: along recentn_queue_messages_claim, in its order', async () => {
      const head = await headOf(context, await madeOf(10))
      for (const from of [null, { major: 0, minor: 3 }]) {
        const { sql, parameters } = chooseSql(sqlite, { head, limit: 10, visibilityTimeoutSeconds: undefined, from })
        const explained = context.store.dataSource.query(`EXPLAIN QUERY PLAN ${sql}`, parameters)
        const steps: { detail: string }[] = await explained
        const plan = steps.map(({ detail }) => detail).join('\n')
        expect(plan).toMatch(/USING COVERING INDEX recentn_queue_messages_claim \(queue_id=\? AND state=\?/)
        expect(plan).not.toMatch(/TEMP B-TREE/)
      }
    })

    it('messages are deleted and released by their ids, also where there are more of them than a queue is taken to have', async () => {
      const queue = await madeOf(120)
      const explained: string[] = []
      const { store, statements } = await statementsOf(context)
      const settled = async (settle: (handles: string[]) => Promise<unknown>) => {
        const handles = (await store.queues.receive(queue, { limit: 50 })).map(({ receiptHandle }) => receiptHandle)
        expect(handles).toHaveLength(50)
        statements.length = 0
        await settle(handles)
        const own = statements.filter((sql) => /^(DELETE|SELECT).*recentn_queue_messages.* IN \(/.test(sql))
        expect(own).toHaveLength(1)
        for (const sql of own) {
          const values = Array.from(sql.matchAll(/\?/g), () => 1)
          const steps: { detail: string }[] = await context.store.dataSource.query(`EXPLAIN QUERY PLAN ${sql}`, values)
          explained.push(...steps.map(({ detail }) => detail).filter((detail) => /messages/.test(detail)))
        }
      }
      await settled((handles) => store.queues.ackMany(queue, handles))
      await settled((handles) => store.queues.nackMany(queue, handles))
      expect(explained).toEqual(Array(2).fill('SEARCH recentn_queue_messages USING INTEGER PRIMARY KEY (rowid=?)'))
    })

    it('all queues are counted by one walk along recentn_queue_messages_claim, in its order', async () => {
      await madeOf(10, { deadLetterQueue: await madeOf(1) })
      const steps: { id: number; parent: number; detail: string }[] = await context.store.dataSource.query(
        `EXPLAIN QUERY PLAN ${countAllSql(sqlite)}`,
      )
      expect(steps.filter(({ detail }) => /recentn_queue_messages/.test(detail))).toMatchObject([
        { detail: 'SCAN recentn_queue_messages USING COVERING INDEX recentn_queue_messages_claim' },
      ])
      // Sorted are the sums, in the query itself, not the messages within it.
      const counted = steps.find(({ detail }) => /(CO-ROUTINE|MATERIALIZE) counted/.test(detail))
      const within = steps.filter(({ parent }) => parent === counted?.id).map(({ detail }) => detail)
      expect(within).toEqual(['SCAN recentn_queue_messages USING COVERING INDEX recentn_queue_messages_claim'])
    })
  })
}

import { mysqlEngine } from '../../../src/database/mysql/mysql-engine'
import { sqliteEngine } from '../../../src/database/sqlite/sqlite-engine'
import { tablesOf } from '../../../src/database/tables'
import type { Store } from '../../../src/index'
import { selectOverdueSql } from '../../../src/repositories/queues/keys/key-turns'
import type { Context } from '../context'
import { statementsOf } from '../statements'
import { handlesOf, queueTools, range } from './tools'

/** The statements of a queue as they were before there were keys, with those that begin and end transactions. */
const common = { extend: 5, nack: 8, 'nack for good': 5 }
const ofServers = { send: 7, 'send a bulk': 7, 'send to a group': 11, 'send later': 6, receive: 4, ack: 1 }
const COUNTS = {
  sqlite: {
    ...common,
    ...{ send: 6, 'send a bulk': 6, 'send to a group': 10, 'send later': 5, receive: 5, ack: 3, 'ack many': 3 },
  },
  mariadb: { ...common, ...ofServers, 'ack many': 1 },
  mysql: { ...common, ...ofServers, 'ack many': 2 },
}

/** The costs of keys: a few rows for a message with one, and nothing for queues without them. */
export function describeKeyCosts(context: Context): void {
  const { made } = queueTools(context)

  describe('queues: what keys cost', () => {
    it('is not paid by queues without them', async () => {
      const { store, statements } = await statementsOf(context)
      const { queues } = store
      const ran: Record<string, number> = {}
      const count = async <T>(name: string, work: () => Promise<T>): Promise<T> => {
        statements.length = 0
        const answer = await work()
        expect(statements.filter((sql) => /queue_keys|message_key (=|IS|IN)/.test(sql))).toEqual([])
        expect(statements.filter((sql) => /INSERT INTO recentn_queue_messages.*message_key/.test(sql))).toEqual([])
        // On SQLite one that is to be sent later is run at once, and seen twice.
        ran[name] = statements.filter((sql, at) => sql !== statements[at - 1]).length
        return answer
      }
      const all = async (queue: string) => {
        await count('send', () => queues.send(queue, 1))
        await count('send a bulk', () =>
          queues.sendMany(
            queue,
            range(1, 5).map((body) => ({ body })),
          ),
        )
        await count('send to a group', () => queues.send(queue, 2, { messageGroup: 'g', dedupId: context.unique() }))
        await count('send later', () => queues.send(queue, 3, { delaySeconds: 100 }))
        const messages = await count('receive', () => queues.receive(queue, { limit: 7 }))
        const [first, second, third, fourth, ...more] = handlesOf(messages) as [string, string, string, string]
        await count('ack', () => queues.ack(queue, first))
        await count('nack', () => queues.nack(queue, second))
        await count('nack for good', () => queues.nack(queue, third, { dead: true }))
        await count('extend', () => queues.extend(queue, fourth, { visibilityTimeoutSeconds: 60 }))
        await count('ack many', () => queues.ackMany(queue, [fourth, ...more]))
      }
      await all(await made())
      await all(await made())
      expect(ran).toEqual(COUNTS[context.engine])
      await all(await made({ onAck: 'archive', groupConcurrency: 2, maxMessages: 100 }))
    })

    it('is found by the primary keys of keys and messages, in a queue of many', async () => {
      const queue = await made()
      const keyed = (from: number, to: number) => range(from, to).map((n) => ({ body: n, key: `k${n}` }))
      const { queues } = context.store
      for (let n = 0; n < 3; n++) await queues.sendMany(queue, keyed(n * 1000, n * 1000 + 999))
      await queues.receive(queue, { limit: 1000 })
      await queues.sendMany(queue, keyed(0, 999))
      if (context.engine === 'sqlite') await expectSqlitePlan(context)
      else await expectFewRows(context, queue)
    })
  })
}

interface Step {
  table: string
  type: string
  key: string | null
}

const engines = { sqlite: sqliteEngine, server: mysqlEngine }
const overdueSql = (engine: keyof typeof engines) =>
  selectOverdueSql({ engine: engines[engine], tables: tablesOf() }, 'BETWEEN 1 AND 1000000')

async function expectSqlitePlan({ store }: Context): Promise<void> {
  const steps: { detail: string }[] = await store.dataSource.query(`EXPLAIN QUERY PLAN ${overdueSql('sqlite')}`)
  const plan = steps.map(({ detail }) => detail).join('\n')
  expect(plan).toMatch(
    /SEARCH behind USING INDEX recentn_queue_messages_claim \(queue_id=\? AND state=\? AND sort_major=\?/,
  )
  expect(plan).toMatch(/SEARCH recentn_queue_keys USING/)
  expect(plan).toMatch(/SEARCH ahead USING INTEGER PRIMARY KEY/)
}

async function expectFewRows(context: Context, queue: string): Promise<void> {
  for (const table of ['recentn_queues', 'recentn_queue_messages', 'recentn_queue_keys']) {
    await context.store.dataSource.query(`ANALYZE TABLE ${table}`)
  }
  const store = await context.open({ poolSize: 1 })
  const { queues } = store
  await queues.receive(queue)
  const touched: Record<string, number> = {}
  const touch = async <T>(name: string, work: () => Promise<T>): Promise<T> => {
    let answer: T | undefined
    touched[name] = await rowsOf(store, async () => {
      answer = await work()
    })
    return answer as T
  }
  const ten = (from: number, more = {}) => range(from, from + 9).map((n) => ({ body: 'x', key: `k${n}`, ...more }))
  await touch('send 10 with new keys', () => queues.sendMany(queue, ten(50_000)))
  await touch('keep 10', () => queues.sendMany(queue, ten(2000)))
  await touch('replace 10', () => queues.sendMany(queue, ten(2000, { onKey: 'replace' })))
  await touch('postpone 10', () => queues.sendMany(queue, ten(2000, { onKey: 'postpone', delaySeconds: 9 })))
  await touch('replace 10 behind others', () => queues.sendMany(queue, ten(0, { onKey: 'replace' })))
  const messages = await touch('receive 30', () => queues.receive(queue, { limit: 30 }))
  const handles = handlesOf(messages)
  await touch('send 10 behind them', () =>
    queues.sendMany(
      queue,
      messages.slice(0, 10).map(({ body }) => ({ body, key: `k${body}` })),
    ),
  )
  await touch('ack 10 before others', () => queues.ackMany(queue, handles.slice(0, 10)))
  await touch('nack 10', () => queues.nackMany(queue, handles.slice(10, 20)))
  await touch('ack 10', () => queues.ackMany(queue, handles.slice(20)))
  expect(await touch('cancel', () => queues.cancel(queue, 'k2500'))).toBe(true)
  expect(Object.entries(touched).filter(([, rows]) => rows > 250)).toEqual([])
  const steps: Step[] = await store.dataSource.query(`EXPLAIN FORMAT=TRADITIONAL ${overdueSql('server')}`)
  const used = new Map(steps.map((step) => [step.table, step]))
  expect(used.get('behind')).toMatchObject({ type: 'ref', key: 'recentn_queue_messages_claim' })
  expect(used.get('recentn_queue_keys')).toMatchObject({ type: 'eq_ref', key: 'PRIMARY' })
  expect(used.get('ahead')).toMatchObject({ type: 'eq_ref', key: 'PRIMARY' })
}

/** The rows and index entries that the storage engine handed out for some work on the one connection. */
async function rowsOf({ dataSource }: Store, work: () => Promise<unknown>): Promise<number> {
  const counted = async () => {
    const rows: { Value: string }[] = await dataSource.query("SHOW SESSION STATUS LIKE 'Handler_read%'")
    return rows.reduce((sum, { Value }) => sum + Number(Value), 0)
  }
  const first = await counted()
  const before = await counted()
  await work()
  return (await counted()) - before - (before - first)
}

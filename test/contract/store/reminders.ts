/** Reminders: what becomes due is found by an index, in time, whoever has made it due, and however many queues there are. */
import { sessionOf } from '../../../src/database/attached/attach'
import type { Store } from '../../../src/index'
import { QueueMemory } from '../../../src/repositories/queues/memory'
import { sweepQueues } from '../../../src/repositories/queues/sweep'
import { multiply } from '../../support/many'
import { eventually, moment, pause, SOON_MS, soonMs } from '../../support/timing'
import type { Context } from '../context'

/** A sweeper looks every second at least; what is due is moved by then. */
const LATE_MS = 2500

const sum = (rows: { Value: string }[]) => rows.reduce((all, { Value }) => all + Number(Value), 0)

async function numberOf(store: Store, sql: string): Promise<number> {
  const [row] = await store.dataSource.query(sql)
  return Number(row.n)
}

export function describeReminders(context: Context): void {
  const isSqlite = context.engine === 'sqlite'

  it('what others make due in many queues is moved in time, and no reminder is left in the end', async () => {
    const url = await context.emptyDatabase()
    const store = await context.open({ url })
    const { queues } = store
    const names = Array.from({ length: isSqlite ? 40 : 150 }, (_, n) => `due${n}`)
    const dead = 'dead'
    await queues.put(dead)
    for (const name of names) {
      await queues.put(name, { visibilityTimeoutSeconds: 1, maxReceives: 2, deadLetterQueue: dead })
    }
    await context.open({ url, sweep: true })
    let isOver = false
    let latest = Number.NEGATIVE_INFINITY
    const watched = async () => {
      const session = sessionOf(store.dataSource)
      while (!isOver) {
        const [row] = await session.read(({ rows, now }) =>
          rows(`SELECT MIN(sort_major) AS first, ${now} AS now_ms FROM recentn_queue_messages WHERE state IN (1, 2)`),
        )
        const lateMs = Number(row?.now_ms) + context.clock.offsetMs - Number(row?.first)
        if (row?.first !== null) latest = Math.max(latest, lateMs)
        await pause(100)
      }
    }
    const busy = async (from: number) => {
      for (let n = from; n < names.length; n += 10) {
        const name = names[n] as string
        // The first makes one due soon, the later ones rely on it, or make something due sooner.
        await queues.sendMany(name, [{ body: 1, delaySeconds: 5 }, { body: 2 }, { body: 3 }, { body: 4 }])
        await queues.send(name, 5, { delaySeconds: 1 + (n % 3) })
        const [kept, given] = await queues.receive(name, { limit: 2, visibilityTimeoutSeconds: 4 })
        if (kept && given) {
          await queues.extendMany(name, [kept.receiptHandle], { visibilityTimeoutSeconds: 2 })
          await queues.nackMany(name, [given.receiptHandle], { delaySeconds: 1 })
        }
        await queues.receive(name)
        await store.transaction((tx) => tx.queues.send(name, 6, { delaySeconds: 2 }))
        if (n % 5 === 0) await pause(200)
      }
    }
    const watching = watched()
    try {
      await Promise.all(Array.from({ length: 10 }, (_, n) => busy(n)))
      const timed = () => numberOf(store, 'SELECT COUNT(*) AS n FROM recentn_queue_messages WHERE state IN (1, 2)')
      await eventually(2 * SOON_MS, 'all is moved', async () => (await timed()) === 0)
    } finally {
      isOver = true
      await watching
    }
    expect(latest).toBeLessThan(soonMs(LATE_MS))
    const left = () => numberOf(store, 'SELECT COUNT(*) AS n FROM recentn_reminders WHERE kind = 1')
    await eventually(2 * SOON_MS, 'no reminder is left', async () => (await left()) === 0)
  })

  it('entries of a process that does not publish are found by the reminder that it leaves', async () => {
    const url = await context.emptyDatabase()
    const store = await context.open({ url })
    const { feeds } = store
    const names = Array.from({ length: 60 }, (_, n) => `feed${n}`)
    for (const name of names) await feeds.put(name, 'first', 1)
    await context.open({ url, publish: true })
    const pending = () => numberOf(store, 'SELECT COUNT(*) AS n FROM recentn_feed_entries WHERE sync_id = 0')
    const left = () => numberOf(store, 'SELECT COUNT(*) AS n FROM recentn_reminders WHERE kind = 2')
    for (const write of [
      () => Promise.all(names.map((name) => feeds.put(name, 'k', 2))),
      () => Promise.all(names.map((name) => feeds.delete(name, 'k'))),
      () => store.transaction((tx) => Promise.all(names.map((name) => tx.feeds.put(name, 'k', 3)))),
      () => Promise.all(names.map((name) => feeds.republish(name, { prefix: '' }))),
    ]) {
      await write()
      await eventually(LATE_MS, 'all is published', async () => (await pending()) === 0)
    }
    await eventually(2 * SOON_MS, 'no reminder is left', async () => (await left()) === 0)
  })

  it('what has no reminder is found on the way round', async () => {
    const url = await context.emptyDatabase()
    const store = await context.open({ url })
    for (let n = 0; n < 12; n++) {
      await store.queues.put(`q${n}`)
      await store.queues.send(`q${n}`, 1, { delaySeconds: 1 })
      await store.feeds.put(`f${n}`, 'k', 1)
    }
    await store.dataSource.query('DELETE FROM recentn_reminders')
    await context.open({ url, sweep: true, publish: true })
    const ready = () => numberOf(store, 'SELECT COUNT(*) AS n FROM recentn_queue_messages WHERE state = 0')
    await eventually(30_000, 'the messages are ready', async () => (await ready()) === 12)
    const pending = () => numberOf(store, 'SELECT COUNT(*) AS n FROM recentn_feed_entries WHERE sync_id = 0')
    await eventually(30_000, 'the entries are published', async () => (await pending()) === 0)
  })

  // SQLite does not say how many rows it has read.
  if (isSqlite) return

  it('a transaction that took longer than the reminder on which it relied leaves another one', async () => {
    const store = await context.open({ url: await context.emptyDatabase() })
    await store.queues.put('slow')
    await store.queues.send('slow', 1)
    const [row] = await store.dataSource.query('SELECT id FROM recentn_queues')
    const id = BigInt(row.id)
    const session = sessionOf(store.dataSource)
    const [mine, others] = [new QueueMemory(), new QueueMemory()]
    const left = () => numberOf(store, 'SELECT COUNT(*) AS n FROM recentn_reminders')
    await session.write((tx) => mine.reminders.remind(tx, id, 5000))
    expect(await left()).toBe(1)
    const swept = moment()
    const slow = session.write(async (tx) => {
      await mine.reminders.remind(tx, id, 60_000)
      await tx.run(`UPDATE recentn_queue_messages SET state = 2, sort_major = ${tx.now} + 60000`)
      await swept.reached
    })
    await pause(5500)
    // It cannot see what the transaction does, and finds nothing that comes later.
    await sweepQueues(session, others)
    expect(await left()).toBe(0)
    swept.come()
    await slow
    await sweepQueues(session, mine)
    expect(await left()).toBe(1)
  })

  it('a process that has nothing to do reads few rows, with thousands of queues and feeds', async () => {
    const url = await context.emptyDatabase()
    const store = await context.open({ url, poolSize: 1, sweep: true, publish: true })
    await store.queues.put('many', { retentionSeconds: 60, onAck: 'archive' })
    await store.feeds.put('many', 'k', 1)
    await multiply(store, 'recentn_queues', 'queue', 14)
    await multiply(store, 'recentn_feeds', 'feed', 13)
    await store.dataSource.query(
      "REPLACE INTO recentn_queue_flows (queue_id, urgency, message_group, next_start, virtual_time, top) SELECT id, 0, '', 1, 1, 1 FROM recentn_queues",
    )
    for (const table of ['recentn_queues', 'recentn_feeds', 'recentn_queue_flows']) {
      await store.dataSource.query(`ANALYZE TABLE ${table}`)
    }
    // The first looks at what was made just now are over.
    await pause(3000)
    const counted = async () => sum(await store.dataSource.query("SHOW SESSION STATUS LIKE 'Handler_read%'"))
    const first = await counted()
    const [before, since] = [await counted(), performance.now()]
    await pause(8000)
    const rows = (await counted()) - before - (before - first)
    const seconds = (performance.now() - since) / 1000
    expect(rows).toBeGreaterThan(0)
    expect(rows / seconds).toBeLessThan(100)
  })
}

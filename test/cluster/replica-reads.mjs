/**
 * Feeds that are read on a replica whose commits come in another order than the primary's: a reader that follows by cursor never
 * passes a number that it has not seen. First one commit is held on the replica, then all happens under a load.
 */
import { createRequire } from 'node:module'
import { must, sleep, until } from '../../scripts/docker-tools.mjs'
import { Follower } from './follower.mjs'
import { PRIMARY, REPLICA } from './replica.mjs'

const require = createRequire(import.meta.url)
const { openStore, attachStore } = require('../../dist/src/index.js')
const { DataSource } = require('typeorm')

/** A server that takes no writes is read only. */
const READS = { publish: false, sweep: false, tick: false }

/** Waits until the replica has applied what the primary has committed. */
async function caughtUp(nodes) {
  const [{ gtids }] = await nodes.query(PRIMARY, 'SELECT @@gtid_executed AS gtids')
  const sql = `SELECT WAIT_FOR_EXECUTED_GTID_SET('${gtids}', 1) AS isLate`
  await until('the replica has caught up', 60, async () => {
    const [row] = await nodes.query(REPLICA, sql).catch(() => [])
    return row?.isLate === 0
  })
}

/** Whether the replica has applied a commit before an earlier one. */
async function isAhead(nodes) {
  const [row] = await nodes.query(REPLICA, 'SELECT @@gtid_executed AS gtids').catch(() => [])
  return /:\d[\d-]*:\d/.test(row?.gtids ?? '')
}

/** Keeps others of this node from changing these rows, until the function is called that this resolves to. */
async function hold(nodes, node, rows) {
  const { createConnection } = await import('mysql2/promise')
  const holder = await createConnection(nodes.url(node))
  holder.on('error', () => {})
  try {
    await holder.query('SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED')
    await holder.query('BEGIN')
    // A server that takes no writes gives shared locks only.
    await holder.query(`SELECT 1 FROM ${rows}`)
  } catch (error) {
    holder.destroy()
    throw error
  }
  return () => holder.destroy()
}

/**
 * The commit that gives an entry number 1 is held on the replica. It applies later commits before that one, but no later number of
 * the feed. Two rows that are numbered without a sequence's row show that the second number can be seen before the first.
 * All rows are there before: a replica applies no commit before one on which it depends, nor what came before that one.
 */
export async function oneIsHeld(nodes) {
  const database = 'held'
  await nodes.query(PRIMARY, `CREATE DATABASE ${database}`)
  const store = await openStore({ url: nodes.url(PRIMARY, database), ...READS })
  const free = ['free:0', 'free:1', 'free:2']
  const plain = `${database}.plain`
  for (const feed of ['held', ...free]) await store.feeds.put(feed, 'first', 1)
  await store.feeds.put('held', 'second', 2)
  await nodes.query(PRIMARY, `CREATE TABLE ${plain} (id INT PRIMARY KEY, number INT)`)
  await nodes.query(PRIMARY, `INSERT INTO ${plain} VALUES (1, NULL), (2, NULL)`)
  await caughtUp(nodes)
  const replica = await openStore({ url: nodes.url(REPLICA, database), migrate: false, ...READS })
  const feedId = `(SELECT id FROM ${database}.recentn_feeds WHERE feed = 'held')`
  const entry = (key) => `${database}.recentn_feed_entries WHERE feed_id = ${feedId} AND entry_key = '${key}' FOR SHARE`
  const releases = [
    await hold(nodes, REPLICA, entry('first')),
    await hold(nodes, REPLICA, `${plain} WHERE id = 1 FOR SHARE`),
  ]
  try {
    // A publisher passes over rows that are held.
    const release = await hold(nodes, PRIMARY, entry('second'))
    await store.feeds.publish('held')
    release()
    for (const id of [1, 2]) await nodes.query(PRIMARY, `UPDATE ${plain} SET number = ${id} WHERE id = ${id}`)
    for (const feed of free) await store.feeds.publish(feed)
    await until('the second entry has a number', 10, async () => {
      await store.feeds.publish('held')
      return (await store.feeds.changes('held')).cursor === 2n
    })
    await until('the replica has what was committed after the held commits', 20, async () => {
      const pages = await Promise.all(free.map((feed) => replica.feeds.changes(feed)))
      const [first, second] = await nodes.query(REPLICA, `SELECT number FROM ${plain} ORDER BY id`)
      must(first.number === null, 'the row that is held was changed')
      return second.number === 2 && pages.every(({ cursor }) => cursor === 1n)
    })
    must(await isAhead(nodes), 'the replica keeps the order of the commits')
    for (const end = Date.now() + 1000; Date.now() < end; await sleep(50)) {
      const { cursor } = await replica.feeds.changes('held')
      must(cursor === 0n, `the reader is at ${cursor}, and number 1 cannot be seen`)
    }
    // The cursor of a reader of the primary: not taken for one that has read everything.
    const early = await replica.feeds.changes('held', { after: 2n }).catch(({ code }) => code)
    must(early === 'cursor_expired', `a cursor beyond the replica's numbers was answered ${String(early)}`)
    const stored = await replica.feeds.moveCursor('held', 'consumer', 0n).catch(({ code }) => code)
    must(stored === 'database_unavailable', `the replica has stored a cursor: ${String(stored)}`)
    for (const one of releases) one()
    const keys = await until('the replica has both numbers', 20, async () => {
      const { changes } = await replica.feeds.changes('held')
      return changes.length === 2 && changes.map(({ key }) => key).join()
    })
    must(keys === 'first,second', `the reader has seen ${keys}`)
  } finally {
    for (const one of releases) one()
    for (const one of [store, replica]) await one.close()
  }
}

/** Feeds whose keys are new each time, so that each number stays; and feeds whose entries are written again. */
const ONCE = ['once:0', 'once:1', 'once:2']
const AGAIN = ['again:0', 'again:1', 'again:2']

/** Writes to all feeds while `isGoing`. */
async function write(store, name, isGoing) {
  for (let n = 0; isGoing(); n++) {
    const once = ONCE[n % ONCE.length]
    const again = AGAIN[n % AGAIN.length]
    const key = `key:${n % 37}`
    if (n % 5 === 0)
      await store.feeds.putMany(
        once,
        [0, 1, 2, 3].map((index) => ({ key: `${name}:${n}:${index}`, value: n })),
      )
    else await store.feeds.put(once, `${name}:${n}`, n)
    if (n % 7 === 0) await store.feeds.delete(again, key)
    else if (n % 101 === 0) await store.feeds.republish(again, { prefix: 'key:1' })
    else {
      await store.transaction(async (tx) => {
        await tx.feeds.put(again, key, n)
        await tx.feeds.put(once, `${name}:tx:${n}`, n)
      })
    }
    await sleep(2)
  }
}

const unnumbered = (database) => `${database}.recentn_feed_entries WHERE sync_id = 0 LIMIT 3 FOR SHARE SKIP LOCKED`
const noHold = () => () => {}

/** Holds entries on the replica that are about to be numbered, for a moment each: its workers overtake each other. */
async function brake(nodes, database, isGoing) {
  while (isGoing()) {
    const release = await hold(nodes, REPLICA, unnumbered(database)).catch(noHold)
    await sleep(30)
    release()
  }
}

/** Publishes twice at once, and leaves some entries to the second time: what it numbers was all there before the first. */
async function publishTwice(nodes, database, store, isGoing) {
  for (let n = 0; isGoing(); n++) {
    const release = await hold(nodes, PRIMARY, unnumbered(database))
    const feed = ONCE[n % ONCE.length]
    await store.feeds.publish(feed)
    release()
    await store.feeds.publish(feed)
    await sleep(10)
  }
}

/** Readers follow all feeds on the replica while `during` does something; resolves to what was read. */
async function followed(nodes, database, during) {
  await nodes.query(PRIMARY, `CREATE DATABASE ${database}`)
  const writers = []
  for (let count = 0; count < 3; count++) writers.push(await openStore({ url: nodes.url(PRIMARY, database) }))
  for (const feed of [...ONCE, ...AGAIN]) await writers[0].feeds.put(feed, 'key:0', 0)
  await caughtUp(nodes)
  const url = nodes.url(REPLICA, database)
  const opened = await openStore({ url, migrate: false, ...READS })
  const source = await new DataSource({ type: 'mysql', url, charset: 'utf8mb4' }).initialize()
  const attached = await attachStore(source, READS)
  const followers = [...ONCE, ...AGAIN].flatMap((feed) => {
    const isWhole = ONCE.includes(feed)
    return [
      new Follower(opened, feed, { isWhole, waitSeconds: 1 }),
      new Follower(attached, feed, { isWhole, waitSeconds: 0 }),
    ]
  })
  let isGoing = true
  let ahead = 0
  const watch = async () => {
    for (; isGoing; await sleep(20)) if (await isAhead(nodes)) ahead++
  }
  try {
    const working = Promise.all([
      ...writers.map((store, index) => write(store, `w${index}`, () => isGoing)),
      publishTwice(nodes, database, writers[0], () => isGoing),
      brake(nodes, database, () => isGoing),
      watch(),
    ])
    const done = during().then(() => until('the replica commits in another order', 60, () => ahead > 0))
    for (const one of [working, done]) one.catch(() => {})
    await Promise.race([done, working])
    isGoing = false
    await working
    await writers[0].feeds.publish()
    await caughtUp(nodes)
    const faults = followers.flatMap((follower) => follower.faults.map((fault) => `${follower.feed}: ${fault}`))
    must(faults.length === 0, faults.slice(0, 10).join('\n'))
    for (const follower of followers) await follower.judge(writers[0])
    const read = followers.reduce((sum, { count }) => sum + count, 0)
    return `${read} changes read by ${followers.length} readers, ${ahead} times seen ahead`
  } finally {
    isGoing = false
    for (const follower of followers) await follower.stop()
    for (const store of [...writers, opened, attached]) await store.close()
    await source.destroy()
  }
}

/** The replica stops to apply, and continues, again and again. */
export const applierStops = (nodes, seconds) =>
  followed(nodes, 'stops', async () => {
    for (const end = Date.now() + seconds * 1000; Date.now() < end; ) {
      await sleep(1000)
      await nodes.query(REPLICA, 'STOP REPLICA SQL_THREAD', 30_000)
      await sleep(400)
      await nodes.query(REPLICA, 'START REPLICA SQL_THREAD', 30_000)
    }
  })

/** The server of the replica is killed, and starts again. */
export const replicaKilled = (nodes) =>
  followed(nodes, 'kills', async () => {
    await sleep(4000)
    await nodes.kill(REPLICA)
    await sleep(2000)
    await nodes.restart(REPLICA)
    await nodes.well(REPLICA, 60)
    await sleep(4000)
  })

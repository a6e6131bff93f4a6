// One process of the load on a cluster, with its own node. Sends, receives, appends, puts, reads changes and polls until
// it is ordered to end, and then reports the answers that it got. judge.mjs compares that with what is there.
import { createRequire } from 'node:module'
import { createConnection } from 'mysql2/promise'

const { openStore } = createRequire(import.meta.url)('../../dist/src/index.js')

const { url, name, names, visibilitySeconds, roles } = JSON.parse(process.argv[2])
const store = await openStore({ url, migrate: false, defaultCapacity: 10_000 })
const heard = {
  sends: [],
  receives: [],
  deletes: [],
  appends: [],
  puts: [],
  writes: [],
  seen: {},
  faults: [],
  errors: {},
}
let producing = true
let working = true

/** The same clock in all processes of the machine. */
const now = () => Number(process.hrtime.bigint() / 1000n) / 1000
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms))

/** Counts an error, and waits a little. */
async function failed(what, error) {
  const key = `${what} ${error.code ?? error.name}`
  heard.errors[key] = (heard.errors[key] ?? 0) + 1
  const known = ['conflict', 'overloaded', 'database_unavailable', 'outcome_unknown']
  if (!known.includes(error.code)) heard.faults.push(`${what}: ${error.stack ?? error} ${error.cause ?? ''}`)
  await sleep(100)
  return error.code
}

async function send() {
  for (let n = 0; producing; n++) {
    const bodies = Array.from({ length: n % 4 === 3 ? 20 : 1 }, (_, index) => `${name}-${n}-${index}`)
    try {
      const sent =
        bodies.length === 1
          ? [await store.queues.send(names.queue, bodies[0])]
          : await store.queues.sendMany(
              names.queue,
              bodies.map((body) => ({ body })),
            )
      heard.sends.push(...bodies.map((body, index) => ({ body, id: String(sent[index].id) })))
    } catch (error) {
      const code = await failed('send', error)
      heard.sends.push(...bodies.map((body) => ({ body, code })))
    }
  }
}

async function receive() {
  while (working) {
    const asked = now()
    try {
      const messages = await store.queues.receive(names.queue, {
        limit: 10,
        waitSeconds: 1,
        visibilityTimeoutSeconds: visibilitySeconds,
      })
      const got = now()
      for (const { id, body } of messages) heard.receives.push({ id: String(id), body, asked, got })
      if (messages.length === 0) continue
      const handles = messages.map(({ receiptHandle }) => receiptHandle)
      const { acked: deleted } = await store.queues.ackMany(names.queue, handles)
      const ended = now()
      const isDeleted = new Set(deleted)
      for (const { id, receiptHandle } of messages) {
        heard.deletes.push({ id: String(id), ended, done: isDeleted.has(receiptHandle) })
      }
    } catch (error) {
      await failed('receive', error)
    }
  }
}

async function append() {
  for (let n = 0; producing; n++) {
    const group = `${names.group}${n % names.groups}`
    const member = `${name}-${n}`
    try {
      const { id } = await store.groups.append(group, { member })
      heard.appends.push({ group, member, id: String(id) })
    } catch (error) {
      heard.appends.push({ group, member, code: await failed('append', error) })
    }
  }
}

async function put() {
  for (let n = 0; producing; n++) {
    const key = `${name}-${n % 5}`
    try {
      const { version } = await store.feeds.put(names.feed, key, n)
      heard.puts.push({ key, n, version })
    } catch (error) {
      heard.puts.push({ key, n, code: await failed('put', error) })
    }
    await sleep(2)
  }
}

/** Plain SQL, on its own connection: a message and an item in one transaction. */
async function write() {
  let connection = null
  for (let n = 0; producing; n++) {
    const text = `${name}-${n}`
    let isCommitting = false
    try {
      connection ??= await createConnection({ uri: url.replace(/^mariadb:/, 'mysql:'), connectTimeout: 5000 })
      await connection.beginTransaction()
      await connection.query('INSERT INTO recentn_sends (queue, body) VALUES (?, ?)', [
        names.door,
        JSON.stringify(text),
      ])
      await connection.query('INSERT INTO recentn_appends (group_key, member) VALUES (?, ?)', [names.door, text])
      isCommitting = true
      await connection.commit()
      heard.writes.push({ text, n, isDone: true })
    } catch (error) {
      connection?.destroy()
      connection = null
      // A deadlock at the commit is certain.
      heard.writes.push({ text, n, isDone: false, isUnknown: isCommitting && error.errno !== 1213 })
      const key = `write ${error.code}`
      heard.errors[key] = (heard.errors[key] ?? 0) + 1
      await sleep(100)
    }
    await sleep(5)
  }
  connection?.destroy()
}

async function follow() {
  let after = 0n
  let last = 0n
  while (working) {
    try {
      const { changes, cursor } = await store.feeds.changes(names.feed, { after, waitSeconds: 1, limit: 500 })
      for (const { syncId, key, value } of changes) {
        if (syncId <= last) heard.faults.push(`changes: sync id ${syncId} after ${last}`)
        last = syncId
        heard.seen[key] = value
      }
      after = cursor
    } catch (error) {
      await failed('changes', error)
    }
  }
}

const jobs = []
function poll() {
  const handler = async ({ id }, { signal }) => {
    const began = now()
    await sleep(5)
    jobs.push({ id: String(id), began, ended: now(), isLost: signal.aborted })
  }
  return store.poll(names.table, handler, {
    status: 'status',
    concurrency: 4,
    claimTimeoutSeconds: visibilitySeconds,
    intervalSeconds: 0.2,
    onWarning: () => {},
    onError: (error) => void failed('poll', error),
  })
}

const producers = [send, append, put, write].filter(({ name: role }) => roles.includes(role))
const workers = [receive, receive, follow].filter(({ name: role }) => roles.includes(role))
const poller = roles.includes('poll') ? poll() : null
const [produced, worked] = [producers.map((role) => role()), workers.map((role) => role())]

process.on('message', async (message) => {
  if (message === 'produce no more') {
    producing = false
    await Promise.all(produced)
    process.send({ type: 'produced' })
  } else {
    working = false
    await Promise.all(worked)
    await poller?.stop().catch(() => {})
    process.send({ type: 'heard', heard: { ...heard, jobs, isFollower: roles.includes('follow') } }, () =>
      process.exit(0),
    )
  }
})
process.send({ type: 'working' })

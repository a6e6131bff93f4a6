// One process of the feeds' fire, a writer, a publisher or a consumer, until it is ordered to end or is killed. Its work
// is written down as appended lines before it continues; see feed-ledger.ts for what they say.
import { createRequire } from 'node:module'
import { openLedger } from './ledger-file.mjs'

const { openStore } = createRequire(import.meta.url)('../../dist/src/index.js')

const { role, url, feed, file, publish, keys, consumer } = JSON.parse(process.argv[2])
const { noteAll: note } = openLedger(file)
const ending = new AbortController()
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms))
const below = (n) => Math.floor(Math.random() * n)
const chance = (p) => Math.random() < p

function dieWith(p) {
  if (chance(p)) process.kill(process.pid, 'SIGKILL')
}

// ---- writers

let phase = process.argv[3]
let stamps = 0
const life = `${process.pid}-${below(1e9)}`

const stampOf = (value) => (value === null ? '-' : value.stamp)
const newValue = (kind = 'stamp') => ({ stamp: `${kind}-${life}-${++stamps}`, filler: 'x'.repeat(below(200)) })
/** Some keys are written much more often than others. */
const anyKey = () => `key-${Math.min(below(keys), below(keys))}`
const someKeys = (most) => [...new Set(Array.from({ length: 2 + below(most - 1) }, anyKey))]

const ACTIONS = [
  [60, putOne],
  [10, putMany],
  [10, transact],
  [6, rollBack],
  [8, deleteOne],
  [6, republish],
]

function anyAction() {
  let place = below(ACTIONS.reduce((sum, [weight]) => sum + weight, 0))
  for (const [weight, action] of ACTIONS) {
    place -= weight
    if (place < 0) return action
  }
}

async function putOne() {
  const [key, value] = [anyKey(), newValue()]
  const asked = performance.now()
  const { version } = await store.feeds.put(feed, key, value)
  const ms = performance.now() - asked
  dieWith(1 / 1500)
  note([`took ${phase} ${ms.toFixed(3)}`, `ack ${key} ${version} ${value.stamp}`])
}

async function putMany() {
  const given = someKeys(20).map((key) => ({ key, value: newValue() }))
  const { entries } = await store.feeds.putMany(feed, given)
  note(entries.map(({ key, version }, at) => `ack ${key} ${version} ${given[at].value.stamp}`))
}

async function deleteOne() {
  const key = anyKey()
  const entry = await store.feeds.delete(feed, key)
  if (entry) note([`ack ${key} ${entry.version} -`])
}

async function republish() {
  await store.feeds.republish(feed, { keys: someKeys(5) })
}

/** Any order of the keys, so that some of these meet in a deadlock and are run again. */
async function writeSome(tx, kind) {
  const acks = []
  for (const key of someKeys(5)) {
    const value = chance(0.2) ? null : newValue(kind)
    const entry = value ? await tx.feeds.put(feed, key, value) : await tx.feeds.delete(feed, key)
    dieWith(1 / 300)
    if (entry) acks.push(`ack ${key} ${entry.version} ${stampOf(value)}`)
  }
  return acks
}

async function transact() {
  const acks = await store.transaction((tx) => writeSome(tx, 'stamp'))
  note(acks)
}

async function rollBack() {
  const changedMind = new Error('changed its mind')
  const work = async (tx) => {
    await writeSome(tx, 'never')
    throw changedMind
  }
  await store.transaction(work).catch((error) => {
    if (error !== changedMind) throw error
  })
}

async function writeOn() {
  await anyAction()()
  await sleep(Math.random() * 8)
}

// ---- publishers and consumers

async function publishOn() {
  await store.feeds.publish(feed)
  await sleep(Math.random() * 20)
}

let cursor

async function consumeOn() {
  if (cursor === undefined) {
    cursor = (await store.feeds.cursor(feed, consumer.name)).cursor
    note([`start ${cursor}`])
  }
  const from = consumer.stored ? { consumer: consumer.name } : { after: cursor }
  const page = { limit: 1 + below(200), waitSeconds: below(6), signal: ending.signal }
  const answer = await store.feeds.changes(feed, { ...from, ...page })
  // Written down first, then saved: what is not saved comes again.
  const lines = answer.changes.map(
    ({ syncId, key, version, value, deleted }) => `seen ${syncId} ${key} ${version} ${deleted ? '-' : stampOf(value)}`,
  )
  if (lines.length === 0) return
  note(lines)
  cursor = answer.cursor
  await store.feeds.moveCursor(feed, consumer.name, cursor)
  note([`saved ${cursor}`])
}

// ---- until the end

process.on('message', (message) => {
  phase = message
})
process.once('SIGTERM', () => ending.abort())
const store = await openStore({ url, migrate: false, publish })
process.send('working')
process.channel.unref()
const work = { writer: writeOn, publisher: publishOn, consumer: consumeOn }[role]
while (!ending.signal.aborted) {
  try {
    await work()
  } catch (error) {
    note([`fault ${role} ${error.code ?? error.name} ${JSON.stringify(`${error.message} ${error.cause ?? ''}`)}`])
    await sleep(100)
  }
}
await store.close()

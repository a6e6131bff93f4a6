// One process of the load under faults: appends, sends, receives and settles, works, puts and consumes, all at once. It
// writes each acknowledgement down before its next call; see load-ledger.ts for what the lines say. It takes commands from
// its parent: `calm` ends the writing, `clock` and `autumn` move its clock, `hog` takes all connections, `measure` and `stop` answer.
import { createRequire } from 'node:module'
import { openLedger } from './ledger-file.mjs'

const { openStore } = createRequire(import.meta.url)('../../dist/src/index.js')

const { label, url, file, poolSize, groups, statementTimeoutSeconds, visibilitySeconds } = JSON.parse(process.argv[2])
const { note } = openLedger(file)
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms))
const below = (n) => Math.floor(Math.random() * n)
/** Milliseconds of a clock that all processes share and none sets. */
const now = () => Number(process.hrtime.bigint() / 1000n) / 1000

// ---- a clock that can be moved

const RealDate = Date
let offsetMs = 0
globalThis.Date = class extends RealDate {
  constructor(...given) {
    if (given.length === 0) super(RealDate.now() + offsetMs)
    else super(...given)
  }
  static now() {
    return RealDate.now() + offsetMs
  }
}

// ---- what goes wrong

for (const event of ['unhandledRejection', 'uncaughtException']) {
  process.on(event, (error) => note('unhandled', label, JSON.stringify(`${event}: ${error?.stack ?? error}`)))
}

function refused(kind, asked, what, error) {
  const code = error?.name === 'RecentnError' ? error.code : `raw:${error?.code ?? error?.name}`
  note('refused', kind, label, asked, now(), code, what, JSON.stringify(`${error?.message} ${error?.cause ?? ''}`))
}

// ---- what the machine keeps from this process

const TICK_MS = 20
/** A timer is this late by itself. */
const LATE_MS = 2
let tickedAt = now()
let used = process.cpuUsage()
setInterval(() => {
  const [from, before] = [tickedAt, used]
  tickedAt = now()
  used = process.cpuUsage()
  // Its own computing in between is no excuse.
  const ownMs = (used.user - before.user + used.system - before.system) / 1000
  const starvedMs = tickedAt - from - TICK_MS - ownMs
  if (starvedMs > LATE_MS) note('starved', label, from, tickedAt, starvedMs)
}, TICK_MS).unref()

// ---- the loops

let isWriting = true
let isRunning = true
const life = `${label}-${process.pid}`
let counter = 0
const next = () => `${life}-${++counter}`

/** Calls until the end; what a call resolved for is written down by `work` itself, with what `asked` it. */
async function loop(kind, isOn, pauseMs, work) {
  while (isOn()) {
    const asked = now()
    const what = next()
    try {
      await work(asked, what)
      await sleep(pauseMs * (0.5 + Math.random()))
    } catch (error) {
      refused(kind, asked, what, error)
      await sleep(50)
    }
  }
}

async function appendOne(asked, member) {
  const group = `load:${below(groups)}`
  const { id } = await store.groups.append(group, { member })
  note('append', label, asked, now(), group, id, member)
}

async function readOne(asked) {
  await store.groups.recent(`load:${below(groups)}`, { limit: 5 })
  note('read', label, asked, now())
}

async function transact(asked, member) {
  const pair = [`load:${below(groups)}`, `load:${below(groups)}`].sort()
  const items = await store.transaction(async (tx) => {
    const first = await tx.groups.append(pair[0], { member: `${member}-0` })
    return [first, await tx.groups.append(pair[1], { member: `${member}-1` })]
  })
  items.forEach(({ id }, at) => {
    note('append', label, asked, now(), pair[at], id, `${member}-${at}`)
  })
}

const sendTo = (queue) => async (asked, what) => {
  const priority = below(2)
  const { id } = await store.queues.send(queue, { what }, { priority })
  note('send', label, asked, now(), `${queue}/${id}`, what, priority)
}

async function receiveSome(asked) {
  const messages = await store.queues.receive('received', { limit: 5, waitSeconds: 1 })
  const until = asked + visibilitySeconds * 1000
  note('receive', label, asked, now())
  await Promise.all(
    messages.map(async ({ id, body, receiveCount, receiptHandle }) => {
      const message = `received/${id}`
      note('start', message, body.what, receiveCount, now(), until)
      await sleep(below(20))
      note('end', message, receiveCount, now())
      const settling = now()
      try {
        const { acked } = await store.queues.ackMany('received', [receiptHandle])
        if (acked.length > 0) note('settle', label, settling, now(), message, receiveCount)
      } catch (error) {
        refused('settle', settling, `${message}#${receiveCount}`, error)
      }
    }),
  )
}

function work() {
  return store.queues.work(
    'worked',
    async ({ id, body, receiveCount, visibleAt }) => {
      // With a clock that was moved this process does not know how long the claim holds.
      const left = offsetMs === 0 ? visibleAt.getTime() - RealDate.now() : 0
      note('start', `worked/${id}`, body.what, receiveCount, now(), now() + left)
      await sleep(below(20))
      note('end', `worked/${id}`, receiveCount, now())
    },
    {
      concurrency: 5,
      backoff: { minSeconds: 0, maxSeconds: 1 },
      onError: (error, message) => message || refused('work', now(), '-', error),
      onDone: ({ id, receiveCount }) => note('settle', label, now(), now(), `worked/${id}`, receiveCount),
    },
  )
}

/** Keys of one writer each, so that their numbers grow. */
const putTo = (key) => {
  let n = 0
  return async (asked, what) => {
    // A number whose put has failed may be there.
    const mine = ++n
    const { version } = await store.feeds.put('load', key, { n: mine, what })
    note('put', label, asked, now(), key, mine, version)
  }
}

let cursor = 0n
async function consumeSome(asked) {
  const page = await store.feeds.changes('load', { after: cursor, limit: 200, waitSeconds: 1 })
  for (const { syncId, key, value } of page.changes) note('seen', life, syncId, key, value.n, value.what)
  cursor = page.cursor
  note('consume', label, asked, now(), life, cursor)
}

// ---- commands

async function hog(ms) {
  const hold = async (tx) => {
    await tx.manager.query('SELECT 1')
    await sleep(ms)
  }
  const { max } = store.counts().connections
  await Promise.allSettled(Array.from({ length: max }, () => store.transaction(hold, { retries: 0 })))
}

/** The work of the driver's connections that are neither idle nor closed. */
function busyOnes() {
  const { _allConnections: all, _freeConnections: free } = store.dataSource.driver.pool ?? {}
  const of = (queue) => Array.from({ length: queue?.length ?? 0 }, (_, at) => queue.get(at))
  const idle = new Set(of(free))
  return of(all)
    .filter((one) => !idle.has(one))
    .map(({ _internalId, threadId, _closing, stream }) => [_internalId, threadId, _closing, stream.destroyed].join(' '))
}

async function measure() {
  for (let round = 0; round < 3; round++) {
    globalThis.gc()
    await sleep(20)
  }
  const { heapUsed, external } = process.memoryUsage()
  return { heapBytes: heapUsed + external, waiting: store.counts().connections.waiting }
}

const say = (message) => new Promise((resolve) => process.send(message, resolve))

async function stop() {
  isRunning = false
  await Promise.all([...running, worker.stop()])
  const measured = await measure()
  // Background work takes a connection now and then: those are leaked that are never free.
  let busy = busyOnes()
  for (let tries = 0; tries < 400 && busy.length > 0; tries++) {
    await sleep(25)
    const still = new Set(busyOnes())
    busy = busy.filter((one) => still.has(one))
  }
  await store.close()
  await say({ ...measured, busy })
  process.disconnect()
}

const COMMANDS = {
  calm: () => {
    isWriting = false
  },
  clock: (ms) => {
    offsetMs = ms
  },
  /** An hour of this place's clock comes twice, from three seconds on. */
  autumn: () => {
    process.env.TZ = 'Europe/Berlin'
    offsetMs = Date.UTC(2026, 9, 25, 0, 59, 57) - RealDate.now()
  },
  hog,
  measure: async () => say(await measure()),
  stop,
}
process.on('message', ({ command, value }) => void COMMANDS[command](value))
process.on('disconnect', () => isRunning && process.exit(1))

const store = await openStore({
  url,
  migrate: false,
  poolSize,
  statementTimeoutSeconds,
  defaultCapacity: 10_000,
  onBackgroundError: (error, doing) => refused('background', now(), doing.replaceAll(' ', '-'), error),
})
const worker = work()
const writing = () => isWriting
const going = () => isRunning
const times = (count, begin) => Array.from({ length: count }, (_, at) => begin(at))
const running = [
  ...times(4, () => loop('append', writing, 15, appendOne)),
  loop('transaction', writing, 40, transact),
  loop('send', writing, 20, sendTo('received')),
  loop('send', writing, 20, sendTo('worked')),
  ...times(3, (at) => loop('put', writing, 20, putTo(`${life}-${at}`))),
  ...times(2, () => loop('receive', going, 5, receiveSome)),
  loop('consume', going, 5, consumeSome),
  loop('read', going, 25, readOne),
]
await say({ isRunning: true })

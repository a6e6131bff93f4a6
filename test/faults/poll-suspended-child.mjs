// One of the two processes that poll every table in the test of a suspended process.
// - `late` suspends itself as soon as all its handlers have begun; when it is woken up they end: the first well, the
//   second with an error, and the third when it learns that its claim is lost.
// - `next` has its handlers wait until it is ordered to end them.
// Both say `{ begun }` when all have begun, and at the end `{ results, told, attempts }`: what `once` of `late` said for
// each table, how many handlers learned that their claims are lost, and the attempts that the handlers saw.
import { createRequire } from 'node:module'

const { openStore } = createRequire(import.meta.url)('../../dist/src/index.js')

const [url, role, given] = process.argv.slice(2)
const { tables, rows, timeoutSeconds } = JSON.parse(given)
let begun = 0
let told = 0
const attempts = []
let letEnd = () => {}
const mayEnd = new Promise((resolve) => {
  letEnd = resolve
})

const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms))
const store = await openStore({ url, migrate: false, sweep: false, publish: false })

/** A process that is suspended inside a transaction keeps its locks: that is another story. */
function isIdle() {
  const { databaseConnection, pool } = store.dataSource.driver
  return databaseConnection
    ? !databaseConnection.inTransaction
    : pool._freeConnections.length === pool._allConnections.length
}

async function allBegun() {
  await new Promise((resolve) => process.send({ begun }, resolve))
  if (role === 'next') return
  while (!isIdle()) await sleep(1)
  process.kill(process.pid, 'SIGSTOP')
  letEnd()
}

async function handle({ n }, { signal, attempt }) {
  attempts.push(attempt)
  const isTold = new Promise((resolve) => signal.addEventListener('abort', resolve))
  if (++begun === tables.length * rows) void allBegun()
  await mayEnd
  if (role === 'next') return
  if (Number(n) % rows === 1) throw new Error('comes too late')
  if (Number(n) % rows === 2) {
    await isTold
    told++
  }
}

function poll({ name, options }) {
  return store.poll(name, handle, {
    ...options,
    // `once` waits for what runs before it looks again, and the claims of the other run out one after the other.
    auto: role === 'next',
    intervalSeconds: 0.1,
    concurrency: rows,
    claimTimeoutSeconds: timeoutSeconds,
    onWarning: () => {},
    onError: () => {},
  })
}

process.once('message', letEnd)
const pollers = tables.map((table) => [table.name, poll(table)])
const results = {}
if (role === 'late') {
  await Promise.all(
    pollers.map(async ([name, poller]) => {
      results[name] = await poller.once()
    }),
  )
} else await mayEnd
await store.close()
process.send({ results, told, attempts }, () => process.exit(0))

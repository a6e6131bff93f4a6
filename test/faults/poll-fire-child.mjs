// One process of pollers for the fire. Polls every table until it is ordered to end, or is killed, and writes down every
// beginning and end of a handler, one appended line each, before it continues. See poll-ledger.ts for what the lines say.
import { createRequire } from 'node:module'
import { openLedger } from './ledger-file.mjs'

const { openStore } = createRequire(import.meta.url)('../../dist/src/index.js')

const [url, ledger, given] = process.argv.slice(2)
const { tables, shared, failsOnce, failsAlways, every, usualMs, longMs } = JSON.parse(given)
const { note } = openLedger(ledger)
let claims = 0

const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms))

/** A handler of many is one of each, which may have ended at other times than its rows were recorded. */
function manyOf(table) {
  const handler = handlerOf(table)
  return async (rows, { signal, attempts }) => {
    const failed = []
    const one = (row, at) => handler(row, { signal, attempt: attempts[at] }).catch((error) => failed.push([row, error]))
    await Promise.all(rows.map(one))
    return { failed }
  }
}

function handlerOf(table) {
  return async (row, { signal, attempt }) => {
    const n = Number(row.n)
    const claim = `${process.pid}-${++claims}`
    note('start', table, n, claim, attempt, Date.now())
    signal.addEventListener('abort', () => note('lost', table, n, claim, Date.now()))
    await sleep(Math.random() * (Math.random() < 0.1 ? longMs : usualMs))
    const failed = n % every === failsAlways || (n % every === failsOnce && attempt === 1)
    note(failed ? 'failed' : 'end', table, n, claim, attempt, Date.now())
    if (failed) throw new Error('row fails')
  }
}

const store = await openStore({ url, migrate: false, sweep: false, publish: false })
for (const { name, options } of tables) {
  const { batchSize } = options
  const [poll, handler] = batchSize ? ['pollMany', manyOf(name)] : ['poll', handlerOf(name)]
  store[poll](name, handler, {
    ...options,
    ...shared,
    onWarning: () => {},
    onError: (error, row) => {
      if (!row) note('fault', error.code ?? error.name, JSON.stringify(`${error.message} ${error.cause ?? ''}`))
    },
  })
}
process.once('SIGTERM', () => store.close())
process.send('polling')
process.channel.unref()

// One process of pollers for the fire: polls every table until it is told to end, or is killed, and writes down every
// beginning and end of a handler, one appended line each, before it goes on. See poll-fire.ts for what the lines say.
import { openSync, writeSync } from 'node:fs'
import { createRequire } from 'node:module'

const { openStore } = createRequire(import.meta.url)('../../dist/src/index.js')

const [url, ledger, tables] = process.argv.slice(2)
const file = openSync(ledger, 'a')
let claims = 0

function note(...words) {
  writeSync(file, `${words.join(' ')}\n`)
}

const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms))

function handlerOf(table) {
  return async ({ n }, { signal, attempt }) => {
    const claim = `${process.pid}-${++claims}`
    note('start', table, n, claim, attempt, Date.now())
    signal.addEventListener('abort', () => note('lost', table, n, claim, Date.now()))
    await sleep(Math.random() * 20)
    const failed = Number(n) % 25 === 3 && attempt === 1
    note(failed ? 'failed' : 'end', table, n, claim, attempt, Date.now())
    if (failed) throw new Error('fails the first time')
  }
}

const store = await openStore({ url, migrate: false, sweep: false, publish: false })
for (const { name, options } of JSON.parse(tables)) {
  store.poll(name, handlerOf(name), {
    ...options,
    concurrency: 4,
    batch: { max: 20 },
    intervalMs: 100,
    claimTimeoutSeconds: 4,
    maxAttempts: 1000,
    backoff: { minSeconds: 0, maxSeconds: 1 },
    onWarning: () => {},
    onError: (error, row) => {
      if (!row) note('fault', error.code ?? error.name, JSON.stringify(`${error.message} ${error.cause ?? ''}`))
    },
  })
}
process.once('SIGTERM', () => store.close())
process.send('polling')
process.channel.unref()

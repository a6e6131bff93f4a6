// One process of the fire of keys, a sender or a worker, until it is killed. It notes each send and each handling, with their
// times, before it continues. See key-fire.ts for what the lines say.
import { createRequire } from 'node:module'
import { openLedger } from './ledger-file.mjs'

const { openStore } = createRequire(import.meta.url)('../../dist/src/index.js')

const [url, queue, ledger, role, keys] = process.argv.slice(2)
const { note } = openLedger(ledger)
const store = await openStore({ url, migrate: false })
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms))
/** Microseconds, by the clock of all processes of the machine. */
const now = () => Number(process.hrtime.bigint() / 1000n)
const below = (n) => Math.floor(Math.random() * n)
process.send('working')
process.channel.unref()

if (role === 'worker') {
  store.queues.work(
    queue,
    async ({ body }, { signal }) => {
      const begunAt = now()
      await sleep(below(30))
      if (below(10) === 0) throw new Error('try again')
      if (!signal.aborted) note('handled', body.key, body.id, begunAt)
    },
    { concurrency: 10, batchSize: 20, backoff: { minSeconds: 0, maxSeconds: 1 }, onError: () => {} },
  )
} else {
  for (let n = 0; ; n++) {
    const key = `k${below(Number(keys))}`
    const id = `${process.pid}-${n}`
    const onKey = ['replace', 'replace', 'postpone', 'keep'][below(4)]
    const postponed = onKey === 'postpone' ? { delaySeconds: 1, maxDelaySeconds: 2 } : {}
    const begunAt = now()
    note('sending', key, id, begunAt)
    try {
      await store.queues.send(queue, { key, id }, { key, onKey, ...postponed })
      note('sent', key, id, begunAt, now(), onKey)
    } catch (error) {
      note('fault', error.code ?? error.name, JSON.stringify(error.message))
    }
  }
}

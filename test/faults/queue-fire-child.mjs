// One worker process of the queues' fire. Works on the queue until it is ordered to end, or is killed, and writes down every
// beginning and end of a handler, one appended line each, before it continues. See queue-fire.ts for what the lines say.
import { createRequire } from 'node:module'
import { openLedger } from './ledger-file.mjs'

const { openStore } = createRequire(import.meta.url)('../../dist/src/index.js')

const [url, queue, ledger, settings] = process.argv.slice(2)
const { concurrency, batchSize, longMs } = JSON.parse(settings)
const { note } = openLedger(ledger)
let claims = 0

const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms))

async function handle(message, { signal }) {
  const claim = `${process.pid}-${++claims}`
  note('start', message.id, claim, message.receiveCount, message.visibleAt.getTime(), Date.now())
  signal.addEventListener('abort', () => note('lost', message.id, claim, Date.now()))
  const { kind } = message.body
  if (kind === 'long') await sleep(longMs)
  else if (kind !== 'quick') await sleep(Math.random() * 20)
  const failed = kind === 'failing' && message.receiveCount < 2
  note(failed ? 'failed' : 'end', message.id, claim, Date.now())
  if (failed) throw new Error('fails the first time')
}

const store = await openStore({ url, migrate: false })
const worker = store.queues.work(queue, handle, {
  concurrency,
  batchSize,
  backoff: { minSeconds: 0, maxSeconds: 1 },
  onError: (error, message) => {
    if (!message) note('fault', error.code ?? error.name, JSON.stringify(`${error.message} ${error.cause ?? ''}`))
  },
})
process.once('SIGTERM', async () => {
  await worker.stop()
  await store.close()
})
process.send('working')
process.channel.unref()

// A worker process that dies of one of its messages. It says what it has done, each in an appended line of a file, and
// ends by itself when the queue is empty.
import { openSync, writeSync } from 'node:fs'
import { createRequire } from 'node:module'

const { openStore } = createRequire(import.meta.url)('../../dist/src/index.js')

const [url, queue, ledger, dieAfterMs, clockOffsetMs] = process.argv.slice(2)
const file = openSync(ledger, 'a')
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms))

const store = await openStore({ url, migrate: false, clockOffsetMs: () => Number(clockOffsetMs) })
const worker = store.queues.work(
  queue,
  async ({ body, receiveCount }) => {
    if (body === 'poison') {
      if (Number(dieAfterMs) > 0) await sleep(Number(dieAfterMs))
      writeSync(file, `died ${receiveCount}\n`)
      process.exit(3)
    }
    await sleep(Math.random() * 30)
    writeSync(file, `done ${body}\n`)
  },
  { concurrency: 10, batchSize: 50 },
)
const isEmpty = async () => {
  for (const state of ['ready', 'in-flight', 'delayed', 'in-flight', 'ready']) {
    if ((await store.queues.peek(queue, { state, limit: 1 })).messages.length > 0) return false
  }
  return true
}
while (!(await isEmpty())) await sleep(50)
await worker.stop()
await store.close()

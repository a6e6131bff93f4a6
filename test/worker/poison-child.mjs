// A worker process that dies of one of its messages. It says what it has done, each in an appended line of a file, and
// ends by itself when the queue is empty.
import { openSync, writeSync } from 'node:fs'
import { createRequire } from 'node:module'

const { openStore } = createRequire(import.meta.url)('../../dist/src/index.js')

const [url, queue, ledger, dieAfterMs, clockOffsetMs, size] = process.argv.slice(2)
const file = openSync(ledger, 'a')
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms))

const store = await openStore({ url, migrate: false, clockOffsetMs: () => Number(clockOffsetMs) })
const handler = async ({ body, receiveCount }) => {
  if (body === 'poison') {
    if (Number(dieAfterMs) > 0) await sleep(Number(dieAfterMs))
    writeSync(file, `died ${receiveCount}\n`)
    process.exit(3)
  }
  await sleep(Math.random() * 30)
  writeSync(file, `done ${body}\n`)
}
const worker =
  size === '1'
    ? store.queues.work(queue, handler, { concurrency: 10, batchSize: 50 })
    : store.queues.workMany(queue, (messages) => Promise.all(messages.map(handler)).then(() => {}), {
        concurrency: 2,
        batchSize: Number(size),
      })
const isEmpty = async () => {
  for (const state of ['ready', 'in-flight', 'delayed', 'in-flight', 'ready']) {
    if ((await store.queues.peek(queue, { state, limit: 1 })).messages.length > 0) return false
  }
  return true
}
while (!(await isEmpty())) await sleep(50)
await worker.stop()
await store.close()

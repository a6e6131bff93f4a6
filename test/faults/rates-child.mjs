// One process of the fire of rates: a worker, until it is killed or its input ends. It prints each message that a handler begins on.
import { createRequire } from 'node:module'

const { openStore } = createRequire(import.meta.url)('../../dist/src/index.js')

const [url, queue] = JSON.parse(process.argv[2])
const store = await openStore({ url, migrate: false })
const say = (value) => process.stdout.write(`${JSON.stringify(value)}\n`)
const handler = ({ id, messageGroup, receivedAt }) => say({ id: `${id}`, group: messageGroup, atMs: +receivedAt })
const worker = store.queues.work(queue, handler, {
  concurrency: 5,
  onError: (error) => say({ fault: `${error.code ?? error.name} ${error.message}` }),
})
say('working')

process.stdin.resume().on('end', async () => {
  await worker.stop()
  await store.close()
})

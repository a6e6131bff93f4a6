// node uses-require.cjs URL…: the same by require, with a queue.
const assert = require('node:assert/strict')
const { openStore } = require('recentn')

async function main() {
  for (const url of process.argv.slice(2)) {
    const store = await openStore({ url })
    await store.queues.put('mail', {})
    await store.queues.send('mail', { to: 'a@example.org' })
    const [message] = await store.queues.receive('mail')
    assert.deepEqual(message.body, { to: 'a@example.org' })
    await store.queues.ack('mail', message)
    await store.close()
  }
}

main().catch((error) => {
  console.error(error)
  process.exitCode = 1
})

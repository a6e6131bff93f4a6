// One process that opens a store when it is ordered to, appends, and reports the result. With `isServed` it continues, and
// serves REST on its own port.
import { createRequire } from 'node:module'

const require = createRequire(import.meta.url)
const { openStore } = require('../../dist/src/index.js')

const { name: _name, isServed, ...options } = JSON.parse(process.argv[2])

/** Resolves to what the parent process receives. */
async function opened() {
  const store = await openStore({ ...options, ...(!isServed && { sweep: false, publish: false, tick: false }) })
  if (isServed) {
    const { createApp } = require('../../dist/src/http/process/app.js')
    const { listen } = require('../../dist/src/http/process/listen.js')
    const { url } = await listen(createApp(store, { allowAnonymous: true, onError: () => {} }), '127.0.0.1', 0)
    process.on('message', async () => {
      const error = await store.ping().catch(({ message }) => message)
      process.send({ type: 'pinged', error })
    })
    return { port: Number(new URL(url).port) }
  }
  await store.groups.append('starts')
  await store.close()
  return {}
}

process.once('message', async () => {
  const outcome = await opened().catch((error) => ({ error: `${error.code} ${error.message} ${error.cause ?? ''}` }))
  process.send({ type: 'opened', ...outcome }, () => !isServed && process.exit(0))
})
process.send({ type: 'ready' })

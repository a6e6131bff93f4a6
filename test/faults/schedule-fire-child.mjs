// One process of the schedules' fire: an app that puts its schedules when it starts, and sends what they have due until it is
// told to end, or is killed.
import { createRequire } from 'node:module'
import { openLedger } from './ledger-file.mjs'

const { openStore } = createRequire(import.meta.url)('../../dist/src/index.js')

const [url, ledger, schedules] = process.argv.slice(2)
const { note } = openLedger(ledger)
const tell = (error, doing) => {
  if (doing.startsWith('send what')) note('fault', JSON.stringify(`${doing}: ${error.message} ${error.cause ?? ''}`))
}

const store = await openStore({ url, migrate: false, onBackgroundError: tell })
for (const [name, definition] of Object.entries(JSON.parse(schedules))) {
  const { created } = await store.schedules.put(name, definition)
  if (created) note('created', name)
}
process.once('SIGTERM', () => store.close())
process.send('working')
process.channel.unref()

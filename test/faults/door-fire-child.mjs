// One process of the door's fire: an app that does nothing but move what plain SQL has written, until it is killed.
import { createRequire } from 'node:module'

const { openStore } = createRequire(import.meta.url)('../../dist/src/index.js')
const store = await openStore({ url: process.argv[2], migrate: false, onBackgroundError: () => {} })
process.once('SIGTERM', () => store.close())
process.send('working')
process.channel.unref()

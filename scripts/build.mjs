import { ensureBuilt, ensureInstalled, fail } from './lib.mjs'

await ensureInstalled().then(ensureBuilt).catch(fail)

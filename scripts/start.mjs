import { createRequire } from 'node:module'
import { ensureBuilt, ensureInstalled, fail, MAIN } from './lib.mjs'

await ensureInstalled().then(ensureBuilt).catch(fail)
// In this process: signals and exit codes are the server's own.
process.argv[1] = MAIN
createRequire(import.meta.url)(MAIN)

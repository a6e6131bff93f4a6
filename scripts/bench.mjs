/** `npm run bench`: installs and builds what is missing, the peers' drivers too, and runs bench/ with our arguments. */
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { endWithUs, ensureBenchInstalled, ensureBuilt, ensureInstalled, fail, ROOT } from './lib.mjs'

await ensureInstalled().then(ensureBuilt).then(ensureBenchInstalled).catch(fail)
const loader = join(ROOT, 'test', 'support', 'run-typescript.cjs')
const main = join(ROOT, 'bench', 'main.ts')
const child = spawn(process.execPath, ['--require', loader, main, ...process.argv.slice(2)], { stdio: 'inherit' })
endWithUs(child)
child.on('close', (code) => process.exit(code ?? 1))

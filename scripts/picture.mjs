/** `npm run picture`: makes docs/dashboard.png again, of a server with a shop's data that was looked at for a minute. */
import { spawnSync } from 'node:child_process'
import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from './lib.mjs'

const args = [join('scripts', 'test-browser.mjs'), 'pictures', '-t', 'desktop, light']
const env = { RECENTN_PICTURE_SECONDS: '75', ...process.env, CI: 'true' }
const { status } = spawnSync(process.execPath, args, { cwd: ROOT, env, stdio: 'inherit' })
if (status === 0)
  copyFileSync(join(ROOT, '.cache', 'screenshots', 'queue-desktop-light.png'), join(ROOT, 'docs', 'dashboard.png'))
process.exitCode = status ?? 1

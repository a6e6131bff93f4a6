/**
 * `npm run test:browser`: the dashboard in Chromium, on the built server. Arguments go to jest. Screenshots are left in
 * `.cache/screenshots`.
 */
import { spawn } from 'node:child_process'
import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { endWithUs, ensureBuilt, ensureInstalled, fail, ROOT, run, StepFailed, say } from './lib.mjs'

const CHROMIUM = process.env.RECENTN_CHROMIUM ?? '/usr/bin/chromium'
const JEST = join(ROOT, 'node_modules', 'jest', 'bin', 'jest.js')

/** Debian's, where it is missing and we may install it. */
async function ensureChromium() {
  if (existsSync(CHROMIUM)) return true
  const mayInstall = process.getuid?.() === 0 && existsSync('/usr/bin/apt-get')
  if (!mayInstall) return false
  say('installing chromium (apt-get) …')
  const install = () => run('apt-get install chromium', 'apt-get', ['install', '-y', '-qq', 'chromium'])
  try {
    await install().catch(() => run('apt-get update', 'apt-get', ['update', '-qq']).then(install))
  } catch (error) {
    if (!(error instanceof StepFailed)) throw error
    say(error.output.trimEnd())
  }
  return existsSync(CHROMIUM)
}

function jest(args) {
  return new Promise((resolve, reject) => {
    const config = ['--config', join(ROOT, 'jest.browser.config.js')]
    const env = { ...process.env, RECENTN_CHROMIUM: CHROMIUM }
    const child = spawn(process.execPath, [JEST, ...config, ...args], { cwd: ROOT, env, stdio: 'inherit' })
    const release = endWithUs(child)
    child.on('error', reject)
    child.on('close', (code) => {
      release()
      resolve(code ?? 1)
    })
  })
}

await ensureInstalled().then(ensureBuilt).catch(fail)
if (await ensureChromium()) {
  mkdirSync(join(ROOT, '.cache', 'screenshots'), { recursive: true })
  process.exitCode = await jest(process.argv.slice(2))
} else {
  say(
    `THE DASHBOARD WAS NOT TESTED: there is no ${CHROMIUM}. On Debian: apt install chromium; or set RECENTN_CHROMIUM.`,
  )
  process.exitCode = process.env.CI ? 1 : 0
}

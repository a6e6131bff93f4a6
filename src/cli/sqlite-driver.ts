/**
 * The SQLite driver for `npx recentn serve` in an empty folder. npx installs recentn and its dependencies, but not the
 * driver, which is an optional peer. A user of npx expects that packages are fetched and run. So here, and nowhere else,
 * the driver is installed too, with npm, into a cache folder of recentn.
 */
import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import path from 'node:path'
import { RecentnError } from '../errors'

const PACKAGE = 'better-sqlite3'

/**
 * The folder of a driver of this range that fits this Node. Installs it if there is none, and says so with `say`. Throws
 * `database_refused` with the output of npm if the installation fails.
 */
export async function cachedDriver(
  range: string,
  environment: NodeJS.ProcessEnv,
  say: (line: string) => void,
): Promise<string> {
  const major = /\d+/.exec(range)?.[0] ?? ''
  const name = `${PACKAGE}-${major}-${process.platform}-${process.arch}-${process.versions.modules}`
  const folder = path.join(cacheFolder(environment), 'recentn', name)
  const driver = path.join(folder, 'node_modules', PACKAGE)
  if (existsSync(driver)) return driver
  say(`installing ${PACKAGE}@${range}, once, into ${folder} (where it must be compiled, for a minute) …`)
  // Another process may do the same: only a complete folder gets the name.
  mkdirSync(path.dirname(folder), { recursive: true })
  const fresh = mkdtempSync(`${folder}.`)
  try {
    const manifest = { name: 'recentn-sqlite', private: true, allowScripts: { [PACKAGE]: true } }
    writeFileSync(path.join(fresh, 'package.json'), JSON.stringify(manifest))
    await npmInstall(fresh, `${PACKAGE}@${range}`, environment)
    if (!existsSync(driver)) moveTo(folder, fresh, driver)
  } finally {
    rmSync(fresh, { recursive: true, force: true })
  }
  return driver
}

function moveTo(folder: string, fresh: string, driver: string): void {
  try {
    renameSync(fresh, folder)
  } catch (error) {
    if (!existsSync(driver)) throw error
  }
}

function cacheFolder(environment: NodeJS.ProcessEnv): string {
  if (environment.XDG_CACHE_HOME) return environment.XDG_CACHE_HOME
  if (process.platform === 'darwin') return path.join(homedir(), 'Library', 'Caches')
  if (process.platform === 'win32' && environment.LOCALAPPDATA) return environment.LOCALAPPDATA
  return path.join(homedir(), '.cache')
}

/** The variables that npx sets for the package that it runs, which npm must not see. */
const OF_NPX =
  /^(npm_(package|lifecycle|command)|npm_config_(local_prefix|prefix|global|package|call|yes|workspace|omit)|INIT_CWD)/i

function npmInstall(folder: string, what: string, environment: NodeJS.ProcessEnv): Promise<void> {
  const args = ['install', what, '--no-audit', '--no-fund', '--loglevel=error']
  // The npm that belongs to npx. On Windows it is a script.
  const script = environment.npm_execpath
  const [program, before] = script?.endsWith('npm-cli.js') ? [process.execPath, [script]] : ['npm', []]
  const env = Object.fromEntries(Object.entries(environment).filter(([name]) => !OF_NPX.test(name)))
  return new Promise((resolve, reject) => {
    const child = spawn(program, [...before, ...args], { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (chunk: string) => {
        output = (output + chunk).slice(-4000)
      })
    }
    const refuse = (why: string) => {
      const help = `Run npx -p recentn -p ${PACKAGE} recentn serve, or give a mysql:// or mariadb:// URL.`
      reject(new RecentnError('database_refused', `npm could not install ${what}: ${why}\n${help}`))
    }
    child.on('error', (error) => refuse(error.message))
    child.on('close', (code) => (code === 0 ? resolve() : refuse(output.trim())))
  })
}

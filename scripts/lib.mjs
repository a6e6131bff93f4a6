/**
 * The common parts of `npm start`, `npm run build` and `npm test`: install and build what is missing. Plain Node:
 * it must run before anything is installed.
 */
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { chmodSync, existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { locked } from './lock.mjs'

export const ROOT = fileURLToPath(new URL('..', import.meta.url)).replace(/[\\/]$/, '')
export const MAIN = join(ROOT, 'dist', 'src', 'main.js')
const CACHE = join(ROOT, '.cache')
const MODULES = join(ROOT, 'node_modules')
const INSTALL_STAMP = join(MODULES, '.recentn-install')
const BUILD_STAMP = join(ROOT, 'dist', '.recentn-build')
const TSC = join(MODULES, 'typescript', 'bin', 'tsc')
const CLIENT_PACKAGE = join('scripts', 'client-package.mjs')

/** The inputs of the build, besides the packages of the lockfile. */
const BUILD_INPUTS = [
  'src',
  'migrations',
  'ormconfig.ts',
  'tsconfig.json',
  'tsconfig.build.json',
  'package.json',
  'scripts/browsers.mjs',
  'scripts/bundle.mjs',
  'scripts/reference.mjs',
  'scripts/client-package.mjs',
  'src/client/README.md',
]

export function say(line) {
  process.stdout.write(`recentn: ${line}\n`)
}

/** A step that failed, with what it printed. */
export class StepFailed extends Error {
  constructor(step, output) {
    super(`${step} failed`)
    this.output = output
  }
}

/** Installs the packages unless what is there fits package-lock.json and this Node. */
export async function ensureInstalled() {
  requireNode()
  if (isInstalled()) return
  await locked(join(CACHE, 'install.lock'), say, async () => {
    if (isInstalled()) return
    const output = wasInstalledByHand() ? '' : await install()
    await ensureDriver(output)
    writeFileSync(INSTALL_STAMP, installKey())
  })
}

/** Nothing may be compiled for a Node on which recentn does not run. */
function requireNode() {
  const { node } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')).engines
  const [major, minor] = process.versions.node.split('.').map(Number)
  const fits = node.split(' || ').some((range) => {
    const [from, least] = range.replace(/^\D+/, '').split('.').map(Number)
    return major === from ? minor >= least : major > from && !range.startsWith('^')
  })
  if (fits) return
  process.stderr.write(`recentn: Node ${process.versions.node} is not supported: recentn is made for ${node}\n`)
  process.exit(1)
}

function isInstalled() {
  return read(INSTALL_STAMP) === installKey()
}

/** The lockfile's hash, and what the compiled SQLite driver fits. */
function installKey() {
  const lock = createHash('sha256')
    .update(readFileSync(join(ROOT, 'package-lock.json')))
    .digest('hex')
  return `${lock} ${process.platform}-${process.arch} ${process.versions.modules}\n`
}

/** Someone ran `npm ci` or `npm install` here: npm's own record of node_modules agrees with the lockfile. */
function wasInstalledByHand() {
  const record = read(join(MODULES, '.package-lock.json'))
  if (record === null) return false
  const there = JSON.parse(record).packages ?? {}
  const { '': _root, ...wanted } = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')).packages
  const fits = ([path, entry]) => {
    const found = there[path]
    return found === undefined ? Boolean(entry.optional) : found.version === entry.version
  }
  return Object.entries(wanted).every(fits) && Object.keys(there).every((path) => path in wanted)
}

/** Resolves to what npm and the compiler printed. */
async function install() {
  say('installing the packages of package-lock.json (npm ci); the SQLite driver may compile for a minute …')
  const start = Date.now()
  // Dev packages in any case: the TypeScript compiler is one, and the build needs it.
  const args = [
    'ci',
    '--include=dev',
    '--include=optional',
    '--include=peer',
    '--no-audit',
    '--no-fund',
    '--loglevel=warn',
  ]
  const output = await npm('npm ci', [...args, '--foreground-scripts'])
  say(`installed in ${seconds(start)}`)
  return output
}

/**
 * npm may hold back install scripts, and then the driver is there without its compiled part.
 */
async function ensureDriver(installed) {
  if (await driverWorks()) return
  say('compiling the SQLite driver (npm rebuild better-sqlite3); this may take a minute …')
  const start = Date.now()
  let output = installed
  try {
    await npm('npm rebuild better-sqlite3', ['rebuild', 'better-sqlite3', '--foreground-scripts', '--loglevel=warn'])
  } catch (error) {
    output = `${installed}${error.output ?? error}`
  }
  if (await driverWorks()) {
    say(`compiled in ${seconds(start)}`)
    return
  }
  const needs =
    'The SQLite driver does not load. Compiling it needs python3, make and g++ (on Debian: apt install python3 make g++).'
  throw new StepFailed('npm rebuild better-sqlite3', `${output}\n${needs}`)
}

function driverWorks() {
  const program = "new (require('better-sqlite3'))(':memory:').close()"
  return run('the SQLite driver', process.execPath, ['-e', program]).then(
    () => true,
    () => false,
  )
}

/** Builds `dist` unless it is made of what is there now. Needs the packages. */
export async function ensureBuilt() {
  if (isBuilt()) return
  await locked(join(CACHE, 'build.lock'), say, async () => {
    if (!isBuilt()) await build()
  })
}

function isBuilt() {
  return existsSync(MAIN) && read(BUILD_STAMP) === buildKey()
}

/** The hash of every input's path and content. */
function buildKey() {
  const hash = createHash('sha256').update(read(INSTALL_STAMP) ?? '')
  for (const input of BUILD_INPUTS) {
    for (const path of filesIn(input)) {
      const content = readFileSync(join(ROOT, path))
      hash.update(`${path}\0${content.length}\0`).update(content)
    }
  }
  return `${hash.digest('hex')}\n`
}

function filesIn(input) {
  if (!existsSync(join(ROOT, input))) return []
  if (/\.\w+$/.test(input)) return [input]
  const entries = readdirSync(join(ROOT, input), { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile() && /\.(tsx?|js|css|html|svg|json)$/.test(entry.name))
  return files.map((entry) => join(entry.parentPath ?? entry.path, entry.name).slice(ROOT.length + sep.length)).sort()
}

async function build() {
  say('building dist/ (tsc, esbuild) …')
  const start = Date.now()
  // The key before the compiler reads: what is edited while it runs is built next time.
  const key = buildKey()
  const fresh = join(CACHE, 'dist-new')
  const old = join(CACHE, 'dist-old')
  // Left by a build that was killed; the lock says that no process works there.
  rmSync(fresh, { recursive: true, force: true })
  rmSync(old, { recursive: true, force: true })
  try {
    // Into an empty folder, so that nothing is left of sources that are gone.
    await run('tsc', process.execPath, [TSC, '-p', 'tsconfig.build.json', '--noEmitOnError', '--outDir', fresh])
    await run('esbuild', process.execPath, [join('scripts', 'bundle.mjs'), join(fresh, 'dashboard')])
    await run('the reference page', process.execPath, [join('scripts', 'reference.mjs'), join(fresh, 'reference')])
    await run('@recentn/client', process.execPath, [CLIENT_PACKAGE, join(fresh, '@recentn', 'client')])
    chmodSync(join(fresh, 'src', 'cli.js'), 0o755) // npm does so for what it installs, not for a clone
    writeFileSync(join(fresh, '.recentn-build'), key)
    if (existsSync(join(ROOT, 'dist'))) renameSync(join(ROOT, 'dist'), old)
    renameSync(fresh, join(ROOT, 'dist'))
  } finally {
    rmSync(fresh, { recursive: true, force: true })
    rmSync(old, { recursive: true, force: true })
  }
  say(`built in ${seconds(start)}`)
}

/** Runs a program in the project, quietly; rejects with its output when it fails. */
export function run(step, program, args) {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { cwd: ROOT, stdio: ['ignore', 'pipe', 'pipe'] })
    const release = endWithUs(child)
    let output = ''
    const collect = (chunk) => {
      output += chunk
    }
    child.stdout.setEncoding('utf8').on('data', collect)
    child.stderr.setEncoding('utf8').on('data', collect)
    child.on('error', (error) => {
      release()
      reject(new StepFailed(step, String(error)))
    })
    child.on('close', (code) => {
      release()
      if (code === 0) resolve(output)
      else reject(new StepFailed(step, output))
    })
  })
}

/** A signal to us alone must not leave npm at work behind our back. */
export function endWithUs(child) {
  const stop = (signal) => {
    child.kill(signal)
    child.once('close', () => process.exit(signal === 'SIGINT' ? 130 : 143))
  }
  process.on('SIGINT', stop).on('SIGTERM', stop)
  return () => process.off('SIGINT', stop).off('SIGTERM', stop)
}

const BENCH = join(ROOT, 'bench')

/** Installs the drivers of the peers, which only the benchmark needs. */
export function ensureBenchInstalled() {
  return ensureInstalledIn(BENCH, ['--include=dev'])
}

export function isBenchInstalled() {
  return isInstalledIn(BENCH)
}

/** Installs what the lockfile of another folder names. */
export async function ensureInstalledIn(folder, options) {
  if (isInstalledIn(folder)) return
  const name = relative(ROOT, folder)
  await locked(join(CACHE, `${name.replaceAll(sep, '-')}.lock`), say, async () => {
    if (isInstalledIn(folder)) return
    say(`installing the packages of ${name}/package-lock.json (npm ci) …`)
    await npm(`npm ci in ${name}`, ['ci', '--prefix', folder, ...options, '--no-audit', '--no-fund', '--loglevel=warn'])
    writeFileSync(stampOf(folder), lockKey(folder))
  })
}

function isInstalledIn(folder) {
  return read(stampOf(folder)) === lockKey(folder)
}

const stampOf = (folder) => join(folder, 'node_modules', '.recentn-install')

function lockKey(folder) {
  const lock = readFileSync(join(folder, 'package-lock.json'))
  return `${createHash('sha256').update(lock).digest('hex')}\n`
}

function npm(step, args) {
  // The npm that runs us, where one does: there may be several, and on Windows it cannot be run by itself.
  const script = process.env.npm_execpath
  if (script?.endsWith('.js')) return run(step, process.execPath, [script, ...args])
  return run(step, 'npm', args)
}

function read(path) {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return null
  }
}

export function seconds(start) {
  return `${((Date.now() - start) / 1000).toFixed(1)} s`
}

/** Ends the process with what a failed step printed. */
export function fail(error) {
  if (!(error instanceof StepFailed)) throw error
  process.stderr.write(`${error.output.trimEnd()}\nrecentn: ${error.message}\n`)
  process.exit(1)
}

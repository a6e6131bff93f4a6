/**
 * `npm test`: the checks, and the suites without what takes long (`SLOW` in jest.config.js), on SQLite and one server.
 * `--slow`: what takes long, without the checks; `--all`: both, on all engines. RECENTN_TEST_ENGINES names other engines.
 * Arguments go to jest, which then has all suites. Everything that was left out is named at the end.
 */
import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  endWithUs,
  ensureBuilt,
  ensureInstalled,
  isBenchInstalled,
  ROOT,
  run,
  StepFailed,
  say,
  seconds,
} from './lib.mjs'

const BIOME = join(ROOT, 'node_modules', '@biomejs', 'biome', 'bin', 'biome')
const TSC = join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc')
const JEST = join(ROOT, 'node_modules', 'jest', 'bin', 'jest.js')

/**
 * For jest and its workers, in MB. Each test file loads a thousand modules for itself, and with V8's 16 MB, to which it grows
 * from 1, most of what they make is copied before it is dropped: a fifth of the processor time.
 */
const YOUNG_MB = 64

const [ALL, SLOW] = ['--all', '--slow']
const args = process.argv.slice(2).filter((word) => word !== ALL && word !== SLOW)
const isAll = process.argv.includes(ALL)
const isSlow = process.argv.includes(SLOW)
const engines = isAll ? 'all' : process.env.RECENTN_TEST_ENGINES || 'one'
const suites = isSlow ? 'slow' : isAll || args.length > 0 ? '' : 'quick'

/** The number of suites that were not tested, by engine and reason. */
const leftOut = new Map()
const count = { passed: 0, failed: 0, skipped: 0 }

/** Says how a step went; a step that failed counts as one failed test. */
async function step(name, work) {
  const start = Date.now()
  say(`${name} …`)
  try {
    await work()
    say(`${name}: good (${seconds(start)})`)
    return true
  } catch (error) {
    if (!(error instanceof StepFailed)) throw error
    count.failed += 1
    say(`${name}: FAILED\n${error.output.trimEnd()}`)
    return false
  }
}

async function checks() {
  const node = (name, ...args) => step(name, () => run(name, process.execPath, args))
  const [built] = await Promise.all([
    step('build', ensureBuilt),
    node('format and lint (biome)', BIOME, 'ci', '--colors=off', '--error-on-warnings', '.'),
    node('wording (scripts/prose.mjs)', join('scripts', 'prose.mjs')),
    node('type names (scripts/names.mjs)', join('scripts', 'names.mjs')),
    node('circles of imports (scripts/circles.mjs)', join('scripts', 'circles.mjs')),
    node('timers and clocks (scripts/clocks.mjs)', join('scripts', 'clocks.mjs')),
    node('types (tsc)', TSC, '--noEmit', '-p', 'tsconfig.json'),
    node('types of the dashboard (tsc)', TSC, '-p', join('src', 'dashboard', 'tsconfig.json')),
    node('types of the client in browsers (tsc)', TSC, '-p', join('src', 'client', 'tsconfig.json')),
    node('types of the browser tests (tsc)', TSC, '-p', join('test', 'browser', 'tsconfig.json')),
    isBenchInstalled() ? node('types of bench (tsc)', TSC, '-p', join('bench', 'tsconfig.json')) : sayUncheckedBench(),
  ])
  return built
}

function sayUncheckedBench() {
  say('types of bench: not checked, because the packages of bench/ are not installed (npm run bench does so)')
}

async function tests() {
  say(`${suites || 'all'} suites (jest) …`)
  const folder = mkdtempSync(join(tmpdir(), 'recentn-results-'))
  try {
    const file = join(folder, 'results.json')
    const code = await jest(['--json', `--outputFile=${file}`, ...args])
    addResults(file)
    // A setup that failed, or a threshold that was missed, is in no test's result.
    if (code !== 0 && count.failed === 0) count.failed = 1
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function jest(words) {
  return new Promise((resolve, reject) => {
    const env = { ...process.env, RECENTN_TEST_ENGINES: engines, RECENTN_TEST_SUITES: suites }
    const jest = [`--min-semi-space-size=${YOUNG_MB}`, `--max-semi-space-size=${YOUNG_MB}`, JEST, ...words]
    const child = spawn(process.execPath, jest, { cwd: ROOT, env, stdio: 'inherit' })
    const release = endWithUs(child)
    child.on('error', reject)
    child.on('close', (code) => {
      release()
      resolve(code)
    })
  })
}

function addResults(file) {
  let results
  try {
    results = JSON.parse(readFileSync(file, 'utf8'))
  } catch {
    return // The exit code says the rest.
  }
  count.passed += results.numPassedTests
  count.failed += results.numFailedTests + results.numRuntimeErrorTestSuites
  count.skipped += results.numPendingTests + results.numTodoTests
  for (const { assertionResults } of results.testResults) for (const test of assertionResults) noteLeftOut(test)
}

/** A suite that is not run on an engine is one skipped test, whose title is the reason (test/support/engines.ts). */
function noteLeftOut({ status, ancestorTitles, title }) {
  if (status !== 'pending') return
  const [, engine] = / on (mariadb|mysql): NOT TESTED/.exec(ancestorTitles.join(' ')) ?? []
  const what = engine === undefined ? [...ancestorTitles, title].join(' › ') : `${engine}: ${title}`
  leftOut.set(what, (leftOut.get(what) ?? 0) + 1)
}

function sayLeftOut() {
  for (const [what, suites] of leftOut) say(`NOT TESTED: ${suites > 1 ? `${suites} suites on ` : ''}${what}`)
  if (engines !== 'all' || suites) say('npm run test:all has all suites on all engines: SQLite, MariaDB and MySQL')
  say(
    'not part of npm test: npm run test:slow, faults, test:memory, test:browser, test:docker, test:cluster, test:package, test:examples, bench -- --quick',
  )
}

if (await step('packages', ensureInstalled)) {
  if (await (isSlow ? step('build', ensureBuilt) : checks())) await tests()
  else say('the suites were not run: they need what the build makes')
}
sayLeftOut()
const skipped = count.skipped > 0 ? `, ${count.skipped} skipped` : ''
process.stdout.write(`${count.passed} passed, ${count.failed} failed${skipped}\n`)
process.exitCode = count.failed > 0 ? 1 : 0

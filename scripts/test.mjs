/** `npm test`: everything that says whether the project is in order. Arguments go to jest. */
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
  say('all suites (jest) …')
  const folder = mkdtempSync(join(tmpdir(), 'recentn-results-'))
  try {
    const file = join(folder, 'results.json')
    const code = await jest(['--json', `--outputFile=${file}`, ...process.argv.slice(2)])
    addResults(file)
    // A setup that failed, or a threshold that was missed, is in no test's result.
    if (code !== 0 && count.failed === 0) count.failed = 1
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function jest(args) {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [JEST, ...args], { cwd: ROOT, stdio: 'inherit' })
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
}

if (await step('packages', ensureInstalled)) {
  if (await checks()) await tests()
  else say('the suites were not run: they need what the build makes')
}
const skipped = count.skipped > 0 ? `, ${count.skipped} skipped` : ''
process.stdout.write(`${count.passed} passed, ${count.failed} failed${skipped}\n`)
process.exitCode = count.failed > 0 ? 1 : 0

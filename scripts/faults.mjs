/**
 * `npm run faults`: whatever may go wrong on one server goes wrong under load, and an outside ledger judges; about ten
 * minutes. `--short` is a shorter form. Further arguments go to jest, such as `mariadb` or `server-faults`. Ends with the
 * report, as Markdown; with `--docs` it also puts it into bench/results/faults.md.
 */
import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { endWithUs, ensureBuilt, ensureInstalled, fail, ROOT, seconds } from './lib.mjs'

const SHORT = '--short'
const DOCS = '--docs'
const words = process.argv.slice(2).filter((word) => word !== SHORT && word !== DOCS)
const isShort = process.argv.includes(SHORT)
const sizes = isShort
  ? { RECENTN_FAULTS: 'short', RECENTN_FIRE_MESSAGES: '20000', RECENTN_FIRE_SECONDS: '8' }
  : { RECENTN_FAULTS: 'long', RECENTN_FIRE_MESSAGES: '50000', RECENTN_FIRE_SECONDS: '15' }

const begun = Date.now()
await ensureInstalled().then(ensureBuilt).catch(fail)
const folder = mkdtempSync(join(tmpdir(), 'recentn-faults-'))
const file = join(folder, 'report')
const engines = process.env.RECENTN_TEST_ENGINES ?? 'all'
const env = { ...process.env, ...sizes, RECENTN_TEST_ENGINES: engines, RECENTN_FAULTS_REPORT: file }
const CONFIG = ['-c', 'jest.faults.config.js']
// In the short form the loads, which mostly wait, run beside each other.
const LOADS = ['server-', 'file-']
const passes = [
  [...LOADS, '--maxWorkers=2'],
  ['fire', 'cut-off', 'suspended', 'many', 'rates'],
]
let code = 0
for (const pass of isShort && words.length === 0 ? passes : [words]) code ||= await jest([...CONFIG, ...pass], env)
const lines = existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : []
rmSync(folder, { recursive: true, force: true })
const report = lines.filter(Boolean).map((line) => JSON.parse(line))
const text = reportOf(report)
if (process.argv.includes(DOCS) && code === 0) fillDocs(reportOf(report, true))
process.stdout.write(`\n${text}\nfaults: ${code === 0 ? 'good' : 'FAILED'} (${seconds(begun)})\n`)
process.exitCode = code

function jest(args, env) {
  return new Promise((resolve, reject) => {
    const program = join(ROOT, 'node_modules', 'jest', 'bin', 'jest.js')
    const child = spawn(process.execPath, [program, ...args], { cwd: ROOT, env, stdio: 'inherit' })
    const release = endWithUs(child)
    child.on('error', reject)
    child.on('close', (status) => {
      release()
      resolve(status ?? 1)
    })
  })
}

/** The page keeps what stands around its two markers. */
function fillDocs(text) {
  const [begin, end] = ['<!-- faults:begin -->', '<!-- faults:end -->']
  const path = join(ROOT, 'bench', 'results', 'faults.md')
  const page = readFileSync(path, 'utf8')
  if (!page.includes(begin) || !page.includes(end)) throw new Error(`bench/results/faults.md lacks ${begin} … ${end}`)
  const form = `The ${isShort ? 'short' : 'long'} form on ${new Date().toISOString().slice(0, 10)}, ${cpus().length} processors.`
  const [before, after] = [page.slice(0, page.indexOf(begin) + begin.length), page.slice(page.indexOf(end))]
  writeFileSync(path, `${before}\n\n${form}\n\n${text}\n${after}`)
}

/** On the page, each fault has one line for all engines, without its good calls, counts that are 0 share a line, and runs have no figures. */
function reportOf(report, isForPage = false) {
  const of = (type) => report.filter((line) => line.type === type)
  const places = [...new Set(report.map(({ engine }) => engine))].sort()
  const byEngine = (a, b) => places.indexOf(a.engine) - places.indexOf(b.engine)
  const verdicts = of('verdict').sort(byEngine)
  const row = (cells) => `| ${cells.join(' | ')} |\n`
  const table = (head, rows) => row(head) + row(head.map(() => '---')) + rows.map(row).join('')
  const all = (name) => verdicts.map((line) => line[name])
  const shown = [
    ['acknowledged calls', all('acknowledged').map((count) => count.toLocaleString('en'))],
    ['acknowledged work lost', all('lost')],
    ['ids twice, and refused writes that are there', all('twice')],
    ['gaps in the ids of groups', all('gaps')],
    ['handled at the same time', all('together')],
    ['final values missed by consumers', all('missed')],
    ['raw database errors', all('raw')],
    ['unhandled rejections', all('unhandled')],
    ['leaked connections', all('leaked')],
    ['growth of memory, %', all('growthPercent')],
  ]
  const refusals = (refused) =>
    Object.entries(refused)
      .map(([code, count]) => `\`${code}\` ${count}`)
      .join(', ') || '0'
  const names = [...new Set(of('fault').map(({ fault }) => fault))]
  const inSeconds = (ms) => (ms / 1000).toFixed(1)
  const faults = of('fault')
    .sort((a, b) => names.indexOf(a.fault) - names.indexOf(b.fault) || byEngine(a, b))
    .map((line) => [
      line.fault,
      line.engine,
      line.seconds.toFixed(1),
      line.acknowledged,
      refusals(line.refused),
      line.slowestErrorMs > 0 ? inSeconds(line.slowestErrorMs) : '',
      inSeconds(line.goodAgainMs),
    ])
  const head = ['fault', 'on', 'seconds', 'good calls', 'refused', 'slowest refusal, s', 'all good again after, s']
  const cellOf = (line) => {
    const refused = Object.values(line.refused).reduce((sum, count) => sum + count, 0)
    const refusals = refused > 0 ? ` (${refused}, ${inSeconds(line.slowestErrorMs)})` : ''
    return `${inSeconds(line.goodAgainMs)}${refusals}`
  }
  // The engine whose clock moves has its own server.
  const columns = [...new Set(places.map((place) => place.split(',')[0]))]
  const short = names.map((name) => [
    name,
    ...columns.map((column) => {
      const line = of('fault').find(({ fault, engine }) => fault === name && engine.split(',')[0] === column)
      return line ? cellOf(line) : ''
    }),
  ])
  const runs = of('run').sort((a, b) => a.what.localeCompare(b.what) || byEngine(a, b))
  const isZero = ([, cells]) => isForPage && cells.every((cell) => cell === 0)
  const zeros = shown.filter(isZero).map(([what]) => what)
  const parts = [
    verdicts.length > 0 &&
      table(
        ['', ...all('engine')],
        shown.filter((row) => !isZero(row)).map(([what, cells]) => [what, ...cells]),
      ),
    zeros.length > 0 && `None on any of them: ${zeros.join('; ')}.\n`,
    faults.length > 0 && (isForPage ? table(['fault', ...columns], short) : table(head, faults)),
    isForPage ? passedOf(runs) : runs.map(({ engine, what, text }) => `- ${what} (${engine}): ${text}\n`).join(''),
  ]
  return parts.filter(Boolean).join('\n')
}

/** A run that failed ends the command, so that the page needs the names alone. */
function passedOf(runs) {
  const names = [...new Set(runs.map(({ what }) => what))]
  const on = (name) => [...new Set(runs.filter(({ what }) => what === name).map(({ engine }) => engine))].join(', ')
  return names.length > 0 && `Also passed:\n\n${names.map((name) => `- ${name} (${on(name)})\n`).join('')}`
}

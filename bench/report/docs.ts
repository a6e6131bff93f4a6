/** Writes the figures that are kept into bench/results/figures.md, and some into the README, between its two markers. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { scaleTables } from '../scale/report'
import type { ScaleResults } from '../scale/types'
import { ENGINES, type EngineName } from '../types'
import { comparisonOf } from './comparison'
import { fasterTable } from './faster'
import { machinesText, pageOf, whenText } from './page'
import { FOLDER, type Measured, pathOf, type Results, readResults } from './results'

const ROOT = resolve(__dirname, '../..')
const BEGIN = '<!-- bench:begin -->'
const END = '<!-- bench:end -->'

export const FIGURES = join(FOLDER, 'figures.md')

const HEAD = `# The figures

[How they are measured](../../docs/benchmark.md). Compare figures within a row only. For latencies lower is better; the p99 is in
brackets. *No persistence* and *fsync always* are Redis, or BullMQ on it. Targets (\`bench/targets.ts\`) are ratios of recentn's figure
to that of the contender after the slash. *fsync* is the time of a 4 KB write. *Before 0.1.0* and the like: measured before that
release. \`npm run bench -- --docs\` writes this page.
`

const FASTER = `### Where others are faster

Every peer whose figure is better than recentn's, and how many times as good it is.
`

export function writeDocs(): void {
  writeFileSync(FIGURES, figuresPage())
  const path = join(ROOT, 'README.md')
  const page = readFileSync(path, 'utf8')
  const [begin, end] = [page.indexOf(BEGIN), page.indexOf(END)]
  if (begin < 0 || end < begin) throw new Error(`README.md lacks ${BEGIN} … ${END}`)
  const text = comparisonOf([readResults('mariadb'), readResults('mysql')])
  writeFileSync(path, `${page.slice(0, begin + BEGIN.length)}\n\n${text}\n${page.slice(end)}`)
}

/** What is kept in bench/results as JSON, as a page. */
export function figuresPage(): string {
  const kept = ENGINES.flatMap((engine) => [false, true].flatMap((overNetwork) => keptOf(engine, overNetwork)))
  const measured: Measured[] = kept.flatMap(({ results }) => results.measured)
  const parts = kept.map(({ title, chart, results }) => {
    return `### ${title}\n\n![${title}, as bars](${chart})\n\n${pageOf(results)}`
  })
  const scale: ScaleResults[] = []
  const path = join(FOLDER, 'scale.json')
  if (existsSync(path)) scale.push(JSON.parse(readFileSync(path, 'utf8')))
  parts.push(...scale.map((results) => `${scaleTables(results)}\n- ${whenText(results)}\n`))
  const machines = scale.map(({ machine }) => machine)
  if (parts.length === 0) return `${HEAD}\nNothing is measured yet.\n`
  return [
    HEAD,
    `${FASTER}\n${fasterTable(kept)}\n`,
    ...parts,
    `### Machine and durability\n\n${machinesText(measured, machines)}\n`,
  ].join('\n')
}

interface Kept {
  title: string
  chart: string
  results: Results
}

/** None where nothing is kept. */
function keptOf(engine: EngineName, overNetwork: boolean): Kept[] {
  if (!existsSync(pathOf(engine, 'json', overNetwork))) return []
  const chart = basename(pathOf(engine, 'svg', overNetwork))
  return [
    { title: `${engine}${overNetwork ? ', over a network' : ''}`, chart, results: readResults(engine, overNetwork) },
  ]
}

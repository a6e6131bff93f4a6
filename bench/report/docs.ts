/** Puts the figures that are kept into docs/benchmark.md and the README, between the two markers of each. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { scaleTables } from '../scale/report'
import type { ScaleResults } from '../scale/types'
import { ENGINES, type EngineName } from '../types'
import { comparisonOf } from './comparison'
import { machinesText, pageOf, whenText } from './page'
import { FOLDER, type Measured, pathOf, readResults } from './results'

const ROOT = resolve(__dirname, '../..')
const BEGIN = '<!-- bench:begin -->'
const END = '<!-- bench:end -->'

export function writeDocs(): void {
  const measured: Measured[] = []
  const parts = ENGINES.flatMap((engine) =>
    [false, true].flatMap((overNetwork) => partOf(engine, overNetwork, measured)),
  )
  const scale: ScaleResults[] = []
  const path = join(FOLDER, 'scale.json')
  if (existsSync(path)) scale.push(JSON.parse(readFileSync(path, 'utf8')))
  parts.push(...scale.map((results) => `${scaleTables(results)}\n- ${whenText(results)}\n`))
  const machines = scale.map(({ machine }) => machine)
  if (parts.length > 0) parts.push(`### Machine and durability\n\n${machinesText(measured, machines)}\n`)
  fill('docs/benchmark.md', parts.length > 0 ? parts.join('\n') : 'Nothing is measured yet.\n')
  fill('README.md', comparisonOf([readResults('mariadb'), readResults('mysql')]))
}

/** Adds what it shows to what is `shown`. */
function partOf(engine: EngineName, overNetwork: boolean, shown: Measured[]): string[] {
  if (!existsSync(pathOf(engine, 'json', overNetwork))) return []
  const results = readResults(engine, overNetwork)
  shown.push(...results.measured)
  const title = `${engine}${overNetwork ? ', over a network' : ''}`
  const chart = `![${title}, as bars](../bench/results/${basename(pathOf(engine, 'svg', overNetwork))})`
  return [`### ${title}\n\n${chart}\n\n${pageOf(results)}`]
}

function fill(name: string, text: string): void {
  const path = join(ROOT, name)
  const page = readFileSync(path, 'utf8')
  const [begin, end] = [page.indexOf(BEGIN), page.indexOf(END)]
  if (begin < 0 || end < begin) throw new Error(`${name} lacks ${BEGIN} … ${END}`)
  writeFileSync(path, `${page.slice(0, begin + BEGIN.length)}\n\n${text}\n${page.slice(end)}`)
}

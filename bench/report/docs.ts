/** Puts the figures that are kept into docs/benchmark.md and the README, between the two markers of each. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { scaleReport } from '../scale/report'
import { ENGINES, type EngineName } from '../types'
import { comparisonOf } from './comparison'
import { FOLDER, pathOf, readResults } from './results'
import { reportOf } from './table'

const ROOT = resolve(__dirname, '../..')
const BEGIN = '<!-- bench:begin -->'
const END = '<!-- bench:end -->'

export function writeDocs(): void {
  const parts = ENGINES.flatMap((engine) => [false, true].flatMap((overNetwork) => partOf(engine, overNetwork)))
  const scale = join(FOLDER, 'scale.json')
  if (existsSync(scale)) parts.push(`## Scale\n\n${scaleReport(JSON.parse(readFileSync(scale, 'utf8')))}`)
  fill('docs/benchmark.md', parts.length > 0 ? parts.join('\n') : 'Nothing is measured yet.\n')
  fill('README.md', comparisonOf(readResults('mariadb')))
}

function partOf(engine: EngineName, overNetwork: boolean): string[] {
  if (!existsSync(pathOf(engine, 'json', overNetwork))) return []
  const title = `${engine}${overNetwork ? ', over a network' : ''}`
  const chart = `![The figures on ${title}, as bars](../bench/results/${basename(pathOf(engine, 'svg', overNetwork))})`
  return [`## ${title}\n\n${chart}\n\n${reportOf(readResults(engine, overNetwork))}`]
}

function fill(name: string, text: string): void {
  const path = join(ROOT, name)
  const page = readFileSync(path, 'utf8')
  const [begin, end] = [page.indexOf(BEGIN), page.indexOf(END)]
  if (begin < 0 || end < begin) throw new Error(`${name} lacks ${BEGIN} … ${END}`)
  writeFileSync(path, `${page.slice(0, begin + BEGIN.length)}\n\n${text}\n${page.slice(end)}`)
}

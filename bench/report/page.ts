/**
 * The figures that are kept, as bench/results/figures.md shows them: one table for each engine. What was checked, the rounds and the
 * other percentiles are in the JSON beside the charts, and in the report that a run prints.
 */
import { gradeOf, LIMITS } from '../targets'
import { ageMark } from './faster'
import type { Machine } from './machine'
import { gradedRatios, type Line, type Measured, type Results } from './results'
import { digits, table } from './table'

/** The contenders that have a column of their own; the others share the last one. */
const COLUMNS: readonly (readonly [head: string, ...contenders: string[]])[] = [
  ['recentn', 'recentn'],
  ['no persistence', 'redis', 'bullmq'],
  ['fsync always', 'redis-always', 'bullmq-always'],
  ['insert, then trim', 'insert-and-trim'],
  ['limit', 'limit'],
]

const NAMED = COLUMNS.flatMap(([, ...contenders]) => contenders)

export function pageOf({ engine, measured }: Results): string {
  const heads = ['workload', ...COLUMNS.map(([head]) => head), 'others']
  return [table(heads, measured.map(rowOf)), '', ...targetTexts({ engine, measured }), ...runsOf(measured), ''].join(
    '\n',
  )
}

function rowOf(measured: Measured): string[] {
  const { workload, unit, lines, lowerIsBetter } = measured
  const named = COLUMNS.map(([, ...contenders]) => {
    const line = lines.find(({ contender }) => contenders.includes(contender))
    return line ? figureOf(line, measured) : ''
  })
  const others = lines
    .filter(({ contender }) => !NAMED.includes(contender))
    .map(
      (line) =>
        `${line.title.replace(/^recentn,? /, '').replace(/, insert, then trim$/, '')} ${figureOf(line, measured)}`,
    )
  const what = `\`${workload}\`, ${lowerIsBetter ? `${unit} (p99)` : unit}${ageMark(measured)}`
  return [what, ...named, others.join('; ')]
}

function figureOf({ median, p50, p99, note }: Line, { lowerIsBetter, network }: Measured): string {
  if (median === null) return 'failed'
  const tail = lowerIsBetter && p99 !== undefined ? ` (${digits(p99)})` : ''
  const trips = network && p50 !== undefined ? `, ${digits(p50 / network.roundTripMs)} round trips` : ''
  return `${digits(median)}${tail}${trips}${note.startsWith('NOT CORRECT') ? ', not correct' : ''}`
}

/** The ratios and figures that have a floor and a goal, by how they came out. */
function targetTexts({ engine, measured }: Results): string[] {
  const byGrade = new Map<string, string[]>([
    ['missed', []],
    ['floor only', []],
    ['goal met', []],
  ])
  for (const each of measured) {
    for (const { workload, peer, ratio, floor, goal, grade } of gradedRatios(engine, each)) {
      if (grade) byGrade.get(grade)?.push(`\`${workload}\`/\`${peer}\` ${digits(ratio)}× (${floor}, ${goal})`)
    }
    const limit = engine === 'mariadb' ? limitOf(each) : undefined
    if (limit) byGrade.get(limit.grade)?.push(limit.text)
  }
  const found = [...byGrade].filter(([, texts]) => texts.length > 0)
  return found.map(([grade, texts]) => `- **${grade}** (floor, goal): ${texts.join('; ')}.`)
}

function limitOf({ workload, unit, lines, network }: Measured): { grade: string; text: string } | undefined {
  const ours = lines.find(({ contender }) => contender === 'recentn')
  const limit = LIMITS.find(
    (each) => each.workload === workload && (each.unit !== undefined) === (network !== undefined),
  )
  const value = network ? ours?.p50 && ours.p50 / network.roundTripMs : ours?.median
  if (limit === undefined || value === undefined || value === null) return undefined
  const bounds = `(${digits(limit.floor)}, ${digits(limit.goal)})`
  return { grade: gradeOf(limit, value), text: `\`${workload}\` ${digits(value)} ${limit.unit ?? unit} ${bounds}` }
}

/** Runs of one command are named once. */
function runsOf(measured: readonly Measured[]): string[] {
  const runs = new Map<string, string[]>()
  for (const { date, command, machine, network, workload } of measured) {
    const echo = network
      ? `, an echo ${digits(network.roundTripMs)} ms there and back, of which the proxy ${digits(network.overheadMs)}`
      : ''
    const run = `${whenText({ date, command, machine })}${echo}`
    runs.set(run, [...(runs.get(run) ?? []), workload])
  }
  return [...runs].map(([run, workloads]) => {
    const isInCommand = run.includes(` --only ${workloads.join(',')}`)
    return `- ${isInCommand ? '' : `${workloads.join(', ')}: `}${run}`
  })
}

interface Run {
  date: string
  command: string
  machine: Machine
}

export function whenText({ date, command, machine }: Run): string {
  const fsync = Math.round(machine.fsyncMicroseconds / 10) * 10
  return `${date.slice(0, 10)}, \`${command}\`, fsync ${fsync} µs`
}

/** What the figures of a page were measured on. */
export function machinesText(measured: readonly Measured[], others: readonly Machine[]): string {
  const machines = [...measured.map(({ machine }) => machine), ...others]
  const places = unique(machines.map(({ cores, cpu, memoryGb }) => `${cores} cores of ${cpu}, ${memoryGb} GB`))
  const systems = unique(machines.flatMap(({ system }) => system.split(', ')))
  const nodes = unique(machines.map(({ node }) => `Node ${node}`))
  const packages = unique(
    machines.flatMap((machine) => Object.entries(machine.packages).map(([name, version]) => `${name} ${version}`)),
  ).filter((text) => !text.endsWith(' ?'))
  const durabilities = unique(
    measured.flatMap(({ lines }) => lines.map(({ version, durability }) => `${version}: ${durability}`)),
  )
  const parts = [places.join(' and '), systems.join(', '), nodes.join(' and '), packages.join(', ')]
  return `Shared by client and server: ${parts.join('; ')}.\n\nDurability: ${durabilities.join('; ')}.`
}

function unique(texts: readonly string[]): string[] {
  return [...new Set(texts)]
}

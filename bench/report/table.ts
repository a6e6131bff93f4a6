/** The report as Markdown, which reads well on a terminal too: ratios first, then the figures. */
import type { NetworkFacts } from '../network'
import { gradeOf, LIMITS } from '../targets'
import { type GradedRatio, gradedRatios, type Line, type Measured, type Results } from './results'

export function reportOf({ engine, measured }: Results): string {
  if (measured.length === 0) return 'Nothing is measured yet.\n'
  const ratios = measured.flatMap((each) => gradedRatios(engine, each))
  return [
    `### Ratios: recentn on ${engineTitle(engine, measured)} by its peers${overNetwork(measured)}\n`,
    table(['workload', 'against', 'ratio', 'floor', 'goal', ''], ratios.map(ratioRow)),
    '\nOf latencies (`lone`, `queue-latency`, `feed-latency`) lower is better; of everything else, higher.\n',
    ...(engine === 'mariadb' ? measured.flatMap(limitText) : []),
    '### Figures\n',
    ...measured.map(figuresOf),
    '### Where and when\n',
    whereOf(measured),
  ].join('\n')
}

function engineTitle(engine: string, measured: Measured[]): string {
  return measured[0]?.lines.find((line) => line.contender === 'recentn')?.version ?? engine
}

function overNetwork(measured: Measured[]): string {
  const networks = new Set(measured.flatMap(({ network }) => (network ? [`${digits(network.ms)} ms`] : [])))
  return networks.size === 0 ? '' : `, over a network of ${[...networks].join(' and ')} each way`
}

function ratioRow({ workload, peerTitle, ratio, floor, goal, grade }: GradedRatio): string[] {
  const times = (value: number | undefined) => (value === undefined ? '' : `${value}×`)
  return [workload, peerTitle, `**${digits(ratio)}×**`, times(floor), times(goal), grade ?? '']
}

function limitText({ workload, unit, lines, network }: Measured): string[] {
  const ours = lines.find(({ contender }) => contender === 'recentn')
  const limit = LIMITS.find(
    (each) => each.workload === workload && (each.unit !== undefined) === (network !== undefined),
  )
  const value = network ? tripsOf(ours, network) : ours?.median
  if (limit === undefined || value === undefined || value === null) return []
  const named = (figure: number) => `${digits(figure)} ${limit.unit ?? unit}`
  const bounds = `floor ${named(limit.floor)}, goal ${named(limit.goal)}`
  return [`\`${workload}\` (${bounds}): **${named(value)}**, ${gradeOf(limit, value)}.\n`]
}

function figuresOf({ workload, title, unit, lowerIsBetter, lines, rounds, seconds, network }: Measured): string {
  const runs = seconds === null ? `${rounds} ${rounds === 1 ? 'run' : 'runs'}` : `${rounds} × ${seconds} s`
  const head = `**${workload}**: ${title} (${unit}; median of ${runs}${networkText(network)})\n`
  const shown: Column[] = [
    ['', ({ title, version }) => `${title} (${version})`],
    [unit, ({ median }) => (median === null ? '–' : digits(median))],
  ]
  if (lowerIsBetter && network) shown.push(['round trips', (line) => roundTrips(line, network)])
  if (lines.some(({ p50 }) => p50 !== undefined)) shown.push(['p50 / p99 ms', latency])
  shown.push(['durability', ({ durability }) => durability])
  shown.push(['checked', ({ note, isDirect }) => (isDirect ? `no network: it runs in the process; ${note}` : note)])
  const rows = lines.map((line) => shown.map(([, cell]) => cell(line)))
  return `${head}\n${table(
    shown.map(([head]) => head),
    rows,
  )}\n`
}

type Column = readonly [head: string, cell: (line: Line) => string]

function networkText(network: NetworkFacts | undefined): string {
  if (!network) return ''
  const { ms, roundTripMs, overheadMs } = network
  return (
    `; over a network of ${digits(ms)} ms each way, where an echo takes ${digits(roundTripMs)} ms there and back, ` +
    `of which the proxy itself ${digits(overheadMs)}`
  )
}

/** How often as long as an echo: what a lone call takes on its server is in it. */
function roundTrips(line: Line, network: NetworkFacts): string {
  const trips = tripsOf(line, network)
  return trips === undefined ? '' : digits(trips)
}

function tripsOf(line: Line | undefined, { roundTripMs }: NetworkFacts): number | undefined {
  return line?.p50 === undefined || line.isDirect ? undefined : line.p50 / roundTripMs
}

function latency({ p50, p99 }: Line): string {
  return p50 === undefined || p99 === undefined ? '' : `${digits(p50)} / ${digits(p99)}`
}

/** Runs of one day on one machine are told once. */
function whereOf(measured: readonly Measured[]): string {
  const runs = new Map<string, string[]>()
  for (const { date, command, machine, workload } of measured) {
    const where = whereText({ date, command, machine })
    runs.set(where, [...(runs.get(where) ?? []), workload])
  }
  return [...runs]
    .map(([where, workloads]) => `- ${workloads.join(', ')}: ${where}`)
    .join('\n')
    .concat('\n')
}

export function whereText({ date, command, machine }: Pick<Measured, 'date' | 'command' | 'machine'>): string {
  const packages = Object.entries(machine.packages).map(([name, version]) => `${name} ${version}`)
  return (
    `${machine.cores} cores of ${machine.cpu}, ${machine.memoryGb} GB, shared by client and server; ${machine.system}; ` +
    `Node ${machine.node}; ${packages.join(', ')}; a 4 KB write with fsync takes about ` +
    `${Math.round(machine.fsyncMicroseconds / 10) * 10} µs where the data is; ${date.slice(0, 10)}, \`${command}\``
  )
}

export function table(head: string[], rows: string[][]): string {
  const cells = [head, ...rows].map((row) => row.map((cell) => cell.replaceAll('|', '\\|')))
  const widths = head.map((_, column) => Math.max(3, ...cells.map((row) => (row[column] ?? '').length)))
  const line = (row: string[]) => `| ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`
  const [first, ...rest] = cells
  return [line(first ?? []), line(widths.map((width) => '-'.repeat(width))), ...rest.map(line)].join('\n')
}

/** Three significant digits; thousands with a comma. */
export function digits(value: number): string {
  if (value >= 1000) return Number(value.toPrecision(3)).toLocaleString('en')
  return String(Number(value.toPrecision(3)))
}

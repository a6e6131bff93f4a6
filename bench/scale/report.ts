/** The report of --scale as Markdown. */
import { digits, table, whereText } from '../report/table'
import type { Latency } from './latency'
import type { ScaleLine, ScaleResults } from './types'

/** How much slower a larger table may be. */
export const LIMIT = 1.5

export function scaleReport(results: ScaleResults): string {
  return `${scaleTables(results)}\n${whereText(results)}\n`
}

export function scaleTables(results: ScaleResults): string {
  const { lines, indexes, durability, version, perSecond, seconds, indexItems } = results
  const head = [
    'capacity',
    'items',
    'data + indexes MB',
    'append p50 / p99 ms',
    'read p50 / p99 ms',
    'by the smallest',
    '',
  ]
  const costs = indexes.map(({ index, columns, appends: [having, lacking], query }) => [
    `${index} (${columns.replaceAll(',', ', ')})`,
    `${digits(having)} / ${digits(lacking)}`,
    `${digits((1 - having / lacking) * 100)} %`,
    query === null ? 'no query is known' : query.what,
    query === null ? '' : query.milliseconds.map(digits).join(' / '),
  ])
  const costsHead = ['index', 'appends/s with / without', 'cost', 'what it is for', 'ms with / without']
  return [
    `### Latency at ${perSecond} appends/s, then ${perSecond} reads/s, by the size of the tables (${seconds} s each)\n`,
    `${version}, ${durability}; groups full at the start, chosen evenly among all.\n`,
    table(
      head,
      lines.map((line) => row(line, lines)),
    ),
    `\n### What the indexes cost and save, on ${indexItems.toLocaleString('en')} items, capacity 10\n`,
    `${table(costsHead, costs)}\n`,
  ].join('\n')
}

function row(line: ScaleLine, lines: readonly ScaleLine[]): string[] {
  const { capacity, items, dataMegabytes, indexMegabytes, append, read, faults } = line
  const common = [String(capacity), items.toLocaleString('en'), `${dataMegabytes} + ${indexMegabytes}`]
  if (faults.length > 0) return [...common, '–', '–', '', `FAILED: ${faults[0]}`]
  const smallest = lines.find((each) => each.capacity === capacity && each.faults.length === 0) as ScaleLine
  const ratios = [ratio(append, smallest.append), ratio(read, smallest.read)]
  const over = Math.max(...ratios.flat()) > LIMIT
  const text = ratios.map((both) => both.map((each) => `${digits(each)}×`).join(' / ')).join(', ')
  return [...common, pair(append), pair(read), line === smallest ? '' : text, over ? `over ${LIMIT}×` : '']
}

function pair({ p50, p99 }: Latency): string {
  return `${digits(p50)} / ${digits(p99)}`
}

function ratio(one: Latency, other: Latency): number[] {
  return [one.p50 / other.p50, one.p99 / other.p99]
}

/** The few figures that the README shows of those that are kept: recentn on MariaDB beside what people use instead. */
import type { Measured, Results } from './results'
import { digits, table } from './table'

const HEADS = ['', 'recentn on MariaDB', 'nothing on disk', 'fsync each write', 'SQL'] as const

interface Row {
  workload: string
  what: string
  /** What the row compares recentn with, under the heads, each by its name in the results. */
  contenders: readonly [name: string, contender: string][]
}

const GROUPS: Row['contenders'] = [
  ['Redis', 'redis'],
  ['Redis', 'redis-always'],
  ['by hand', 'insert-and-trim'],
]

const QUEUES: Row['contenders'] = [
  ['BullMQ', 'bullmq'],
  ['BullMQ', 'bullmq-always'],
  ['pg-boss', 'pg-boss'],
]

const ROWS: readonly Row[] = [
  { workload: 'http-post', what: 'POST of one item, 64 connections', contenders: GROUPS },
  { workload: 'http-get', what: 'GET of the last 10, 64 connections', contenders: GROUPS },
  { workload: 'queue-drain', what: '100,000 messages through one worker', contenders: QUEUES },
]

export function comparisonOf({ measured }: Results): string {
  const known = new Map(measured.map((each) => [each.workload, each]))
  const body = ROWS.flatMap((row) => {
    const one = known.get(row.workload)
    return one ? [cellsOf(row, one)] : []
  })
  return table([...HEADS], body)
}

/** Figures by second: the greatest of a row is bold. */
function cellsOf({ what, contenders }: Row, { lines }: Measured): string[] {
  const cells = [['', 'recentn'] as [string, string], ...contenders].map(([name, contender]) => ({
    name,
    median: lines.find((each) => each.contender === contender)?.median ?? 0,
  }))
  const best = Math.max(...cells.map(({ median }) => median))
  const figures = cells.map(({ name, median }) => {
    if (median === 0) return '–'
    const figure = `${digits(median)}/s`
    return `${name === '' ? '' : `${name} `}${median === best ? `**${figure}**` : figure}`
  })
  return [what, ...figures]
}

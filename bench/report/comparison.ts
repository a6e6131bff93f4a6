/** The few figures that the README shows of those that are kept: recentn beside what people use instead. */
import type { EngineName } from '../types'
import type { Measured, Results } from './results'
import { digits, table } from './table'

const HEADS = ['', 'recentn', 'nothing on disk', 'fsync each write', 'SQL'] as const

/** What recentn is compared with under one head, each by its name in the results. */
type Cell = readonly [name: string, contender: string][]

interface Row {
  engine: EngineName
  workload: string
  what: string
  cells: readonly Cell[]
}

const overHttp: Row['cells'] = [
  [['Express + Redis', 'redis']],
  [['Express + Redis', 'redis-always']],
  [['Express, by hand', 'insert-and-trim']],
]
const inProcess: Row['cells'] = [[['Redis', 'redis']], [['Redis', 'redis-always']], [['by hand', 'insert-and-trim']]]
const queues: Row['cells'] = [
  [['BullMQ', 'bullmq']],
  [['BullMQ', 'bullmq-always']],
  [
    ['pg-boss', 'pg-boss'],
    ['Graphile Worker', 'graphile-worker'],
  ],
]

const DRAIN = '100,000 messages through one worker'
const ROWS: readonly Row[] = [
  { engine: 'mariadb', workload: 'http-post', what: 'POST of one item, 64 connections', cells: overHttp },
  { engine: 'mariadb', workload: 'http-get', what: 'GET of the last 10, 64 connections', cells: overHttp },
  { engine: 'mariadb', workload: 'even', what: 'appends to 1,000 groups, in process', cells: inProcess },
  { engine: 'mariadb', workload: 'queue-drain', what: DRAIN, cells: queues },
  { engine: 'mysql', workload: 'even', what: 'appends to 1,000 groups on MySQL', cells: inProcess },
]

export function comparisonOf(kept: readonly Results[]): string {
  const body = ROWS.flatMap((row) => {
    const of = kept.find(({ engine }) => engine === row.engine)
    const one = of?.measured.find(({ workload }) => workload === row.workload)
    return one ? [cellsOf(row, one)] : []
  })
  return table([...HEADS], body)
}

/** Figures by second: the greatest of a row is bold. */
function cellsOf({ what, cells }: Row, { lines }: Measured): string[] {
  const medianOf = (contender: string) => lines.find((each) => each.contender === contender)?.median ?? 0
  const all: readonly Cell[] = [[['', 'recentn']], ...cells]
  const best = Math.max(...all.flat().map(([, contender]) => medianOf(contender)))
  const figureOf = ([name, contender]: Cell[number]) => {
    const median = medianOf(contender)
    if (median === 0) return []
    const figure = `${digits(median)}/s`
    return [`${name} ${median === best ? `**${figure}**` : figure}`.trim()]
  }
  return [what, ...all.map((cell) => cell.flatMap(figureOf).join(', ') || '–')]
}

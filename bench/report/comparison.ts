/** The few figures that the README shows of those that are kept: recentn on MariaDB beside what people use instead. */
import type { Measured, Results } from './results'
import { digits, table } from './table'

interface Row {
  workload: string
  what: string
}

interface Part {
  /** Contenders, with the heads of their columns. */
  columns: readonly (readonly [contender: string, head: string])[]
  rows: readonly Row[]
}

const RECENT: Part = {
  columns: [
    ['recentn', 'recentn on MariaDB'],
    ['redis', 'Redis, nothing on disk'],
    ['redis-always', 'Redis, fsync each write'],
    ['insert-and-trim', 'INSERT, then DELETE by hand'],
  ],
  rows: [
    { workload: 'http-post', what: 'POST of one item, 64 connections' },
    { workload: 'http-get', what: 'GET of the last 10, 64 connections' },
    { workload: 'hot', what: 'in process: appends to one group, 256 callers' },
    { workload: 'even', what: 'in process: appends to 1,000 groups' },
    { workload: 'lone', what: 'in process: one caller who waits, median' },
  ],
}

const QUEUES: Part = {
  columns: [
    ['recentn', 'recentn on MariaDB'],
    ['bullmq', 'BullMQ, nothing on disk'],
    ['bullmq-always', 'BullMQ, fsync each write'],
    ['pg-boss', 'pg-boss'],
  ],
  rows: [
    { workload: 'queue-send-bulk', what: 'messages sent in bulks of 500' },
    { workload: 'queue-send', what: 'messages sent one by one, 64 callers' },
    { workload: 'queue-drain', what: '100,000 messages through one worker' },
    { workload: 'queue-latency', what: 'from a send to its handler, median' },
  ],
}

export function comparisonOf({ measured }: Results): string {
  const known = new Map(measured.map((each) => [each.workload, each]))
  return [RECENT, QUEUES].map((part) => partOf(part, known)).join('\n\n')
}

function partOf({ columns, rows }: Part, known: ReadonlyMap<string, Measured>): string {
  const body = rows.flatMap(({ workload, what }) => {
    const measured = known.get(workload)
    return measured ? [[what, ...columns.map(([contender]) => figureOf(measured, contender))]] : []
  })
  return table(['', ...columns.map(([, head]) => head)], body)
}

function figureOf({ lines, unit }: Measured, contender: string): string {
  const line = lines.find((each) => each.contender === contender)
  if (line?.median === null || line?.median === undefined) return '–'
  // `appends/s` and `requests/s` differ by the row, which says what is counted.
  const figure = `${digits(line.median)}${unit === 'ms' ? ' ms' : '/s'}`
  return contender === 'recentn' ? `**${figure}**` : figure
}

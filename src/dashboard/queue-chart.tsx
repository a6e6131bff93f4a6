/** The chart of the last hour or week of a queue. Its library is loaded with the first chart, and may come after a newer history. */
import { useEffect, useRef } from 'preact/hooks'
import type uPlot from 'uplot'
import type { HistoryPeriod, QueueHistory } from '../shared/queue-types'
import { serverNow } from './api'

const PERIODS: Readonly<Record<HistoryPeriod, { seconds: number; times: string }>> = {
  hour: { seconds: 3600, times: '{HH}:{mm}' },
  week: { seconds: 7 * 86_400, times: '{WWW} {HH}:{mm}' },
}
const HEIGHT = 120

const SERIES = [
  ['Waiting', '--ready'],
  ['In flight', '--in-flight'],
  ['Dead', '--dead'],
] as const

type Columns = [number[], ...(number | null)[][]]

/** The lines are interrupted where nothing was written. */
function columnsOf({ points, stepSeconds }: QueueHistory, isDeadLetterQueue: boolean): Columns {
  let last = Infinity
  const rows = points.flatMap(({ endsAt, ready, blocked, inFlight, died }) => {
    const seconds = endsAt.getTime() / 1000
    const isAfterGap = seconds - last > 2 * stepSeconds
    last = seconds
    const waiting = ready === null ? null : ready + (blocked ?? 0)
    // As in the figures: no message waits in a dead-letter queue.
    const [shown, dead] = isDeadLetterQueue && waiting !== null ? [0, waiting + (died ?? 0)] : [waiting, died]
    const row = [seconds, shown, inFlight, dead]
    return isAfterGap ? [[seconds - 1, null, null, null], row] : [row]
  })
  return [0, 1, 2, 3].map((column) => rows.map((row) => row[column])) as Columns
}

/** Whole numbers only, because these are counts. */
const Y_STEPS = [0, 1, 2, 3, 4, 5, 6, 7, 8].flatMap((power) => [1, 2, 5].map((step) => step * 10 ** power))

function optionsOf(element: HTMLElement, period: HistoryPeriod): uPlot.Options {
  const { seconds, times } = PERIODS[period]
  const color = (name: string) => getComputedStyle(element).getPropertyValue(name).trim()
  const axis = { stroke: color('--muted'), font: '12px system-ui, sans-serif', ticks: { show: false } }
  // As wide as the longest number is.
  const widthOf = (labels: string[] | null) => 16 + 8 * Math.max(3, ...(labels ?? []).map(({ length }) => length))
  return {
    ...{ width: element.clientWidth, height: HEIGHT },
    cursor: { y: false, drag: { x: false, y: false }, points: { size: 6 } },
    // The last numbers, unless the cursor is at others.
    hooks: {
      setLegend: [(plot) => plot.cursor.idx == null && plot.setLegend({ idx: plot.data[0].length - 1 }, false)],
    },
    scales: {
      x: { range: () => [serverNow() / 1000 - seconds, serverNow() / 1000] },
      y: { range: (_plot, _least, most) => [0, Math.max(4, (most ?? 0) * 1.1)] },
    },
    axes: [
      { ...axis, grid: { show: false }, size: 28, space: 80, values: times as never },
      {
        ...{ ...axis, grid: { stroke: color('--line'), width: 1 } },
        ...{ size: (_plot, labels) => widthOf(labels), space: 28, incrs: Y_STEPS },
      },
    ],
    series: [
      { label: 'Time', value: times },
      ...SERIES.map(([label, name]) => ({
        ...{ label, stroke: color(name), width: 1.5, points: { show: false } },
        ...(name === '--ready' && { fill: color('--ready-fill') }),
      })),
    ],
  }
}

interface ChartProps {
  history: QueueHistory
  period: HistoryPeriod
  isDeadLetterQueue: boolean
}

export function QueueChart({ history, period, isDeadLetterQueue }: ChartProps) {
  const holder = useRef<HTMLDivElement>(null)
  const plot = useRef<uPlot | null>(null)
  const columns = columnsOf(history, isDeadLetterQueue)
  const newest = useRef(columns)
  newest.current = columns
  useEffect(() => {
    const element = holder.current as HTMLDivElement
    const draw = async () => {
      const { default: Plot } = await import('uplot')
      plot.current?.destroy()
      if (element.isConnected) plot.current = new Plot(optionsOf(element, period), newest.current, element)
    }
    draw()
    const resized = new ResizeObserver(() => plot.current?.setSize({ width: element.clientWidth, height: HEIGHT }))
    resized.observe(element)
    const scheme = matchMedia('(prefers-color-scheme: dark)')
    scheme.addEventListener('change', draw)
    return () => {
      scheme.removeEventListener('change', draw)
      resized.disconnect()
      plot.current?.destroy()
    }
  }, [])
  useEffect(() => plot.current?.setData(columns), [history])
  return <div ref={holder} role="img" aria-label={spoken(columns)} />
}

function spoken([, waiting = [], inFlight, dead]: Columns): string {
  const known = waiting.filter((count) => count !== null)
  return (
    `Chart: between ${Math.min(...known)} and ${Math.max(0, ...known)} waiting. ` +
    `Last: ${waiting.at(-1)} waiting, ${inFlight?.at(-1)} in flight, ${dead?.at(-1)} dead.`
  )
}

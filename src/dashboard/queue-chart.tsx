/** The chart of the last hour or week of a queue. Its library is loaded with the first chart. */

import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import type uPlot from 'uplot'
import type { HistoryPeriod, QueueHistory } from '../shared/queue-types'
import { serverNow } from './api'
import { Num } from './parts'
import { duration } from './time'

const SPAN_SECONDS: Readonly<Record<HistoryPeriod, number>> = { hour: 3600, week: 7 * 86_400 }
const HEIGHT = 120

const SERIES = [
  ['Waiting', '--ready'],
  ['In flight', '--in-flight'],
  ['Dead', '--dead'],
] as const

type Columns = [number[], (number | null)[], (number | null)[], (number | null)[]]

/** The line is interrupted where nothing was written. */
function columnsOf({ points, stepSeconds }: QueueHistory): Columns {
  const columns: Columns = [[], [], [], []]
  const add = (seconds: number, ...counts: (number | null)[]) => {
    for (const [at, value] of [seconds, ...counts].entries()) columns[at]?.push(value as number)
  }
  for (const [at, { endsAt, ready, blocked, inFlight, died }] of points.entries()) {
    const seconds = endsAt.getTime() / 1000
    const before = points[at - 1]
    if (before && seconds - before.endsAt.getTime() / 1000 > 2 * stepSeconds) add(seconds - 1, null, null, null)
    add(seconds, ready === null ? null : ready + (blocked ?? 0), inFlight, died)
  }
  return columns
}

/** A time such as `14:05`, or the day if the ticks are a day apart. */
function clock(seconds: number, apart: number): string {
  const date = new Date(seconds * 1000)
  if (apart >= 86_400) return date.toLocaleDateString(undefined, { weekday: 'short', day: 'numeric' })
  return [date.getHours(), date.getMinutes()].map((part) => String(part).padStart(2, '0')).join(':')
}

const X_STEPS = [300, 600, 900, 1800, 43_200, 86_400]
/** Whole numbers only, because these are counts. */
const Y_STEPS = [0, 1, 2, 3, 4, 5, 6, 7, 8].flatMap((power) => [1, 2, 5].map((step) => step * 10 ** power))

function optionsOf(element: HTMLElement, spanSeconds: number, onCursor: (at: number | null) => void): uPlot.Options {
  const color = (name: string) => getComputedStyle(element).getPropertyValue(name).trim()
  const axis = { stroke: color('--muted'), font: '12px system-ui, sans-serif', ticks: { show: false } }
  const grid = { stroke: color('--line'), width: 1 }
  return {
    width: element.clientWidth,
    height: HEIGHT,
    legend: { show: false },
    cursor: { y: false, drag: { x: false, y: false }, points: { size: 6 } },
    scales: {
      x: { range: () => [serverNow() / 1000 - spanSeconds, serverNow() / 1000] },
      y: { range: (_plot, _least, most) => [0, Math.max(4, (most ?? 0) * 1.1)] },
    },
    axes: [
      {
        ...axis,
        grid: { show: false },
        size: 28,
        space: 80,
        incrs: X_STEPS,
        values: (_plot, times, _axis, _space, apart) => times.map((time) => clock(time, apart)),
      },
      {
        ...axis,
        grid,
        // As wide as the longest number is.
        size: (_plot, labels) => 16 + 8 * Math.max(3, ...(labels ?? []).map(({ length }) => length)),
        space: 36,
        incrs: Y_STEPS,
      },
    ],
    series: [
      {},
      ...SERIES.map(([label, name]) => ({
        label,
        stroke: color(name),
        width: 1.5,
        points: { show: false },
        ...(name === '--ready' && { fill: color('--ready-fill') }),
      })),
    ],
    hooks: { setCursor: [(plot) => onCursor(plot.cursor.idx ?? null)] },
  }
}

interface QueueChartProps {
  history: QueueHistory
  period: HistoryPeriod
  /** At the end of the legend. */
  children: ComponentChildren
}

export function QueueChart({ history, period, children }: QueueChartProps) {
  const holder = useRef<HTMLDivElement>(null)
  const plot = useRef<uPlot | null>(null)
  const columns = useRef(columnsOf(history))
  const [at, setAt] = useState<number | null>(null)
  columns.current = columnsOf(history)
  useEffect(() => {
    const element = holder.current
    if (element === null) return
    let isGone = false
    const draw = async () => {
      const { default: Plot } = await import('uplot')
      plot.current?.destroy()
      if (!isGone) plot.current = new Plot(optionsOf(element, SPAN_SECONDS[period], setAt), columns.current, element)
    }
    draw()
    const resized = new ResizeObserver(() => plot.current?.setSize({ width: element.clientWidth, height: HEIGHT }))
    resized.observe(element)
    const scheme = matchMedia('(prefers-color-scheme: dark)')
    scheme.addEventListener('change', draw)
    return () => {
      isGone = true
      scheme.removeEventListener('change', draw)
      resized.disconnect()
      plot.current?.destroy()
      plot.current = null
    }
  }, [])
  useEffect(() => plot.current?.setData(columns.current))
  return (
    <figure class="chart panel">
      <Legend columns={columns.current} at={at}>
        {children}
      </Legend>
      <div ref={holder} role="img" aria-label={spoken(columns.current)} />
    </figure>
  )
}

function Legend({ columns, at, children }: { columns: Columns; at: number | null; children: ComponentChildren }) {
  const times = columns[0]
  const shown = at ?? times.length - 1
  const ago = serverNow() / 1000 - (times[shown] ?? 0)
  return (
    <figcaption class="legend">
      {SERIES.map(([label, name], i) => (
        <span key={name} class={`swatch ${name.slice(2)}`}>
          {label}{' '}
          <b>
            <Num value={columns[i + 1]?.[shown] ?? 0} />
          </b>
        </span>
      ))}
      <span class="muted">{duration(ago)} ago</span>
      {children}
    </figcaption>
  )
}

function spoken([, waiting, inFlight, dead]: Columns): string {
  const known = waiting.filter((count) => count !== null)
  const [least, most] = [known.reduce((a, b) => Math.min(a, b), Infinity), known.reduce((a, b) => Math.max(a, b), 0)]
  return (
    `Chart: between ${least} and ${most} waiting. ` +
    `Last: ${waiting.at(-1)} waiting, ${inFlight.at(-1)} in flight, ${dead.at(-1)} dead.`
  )
}

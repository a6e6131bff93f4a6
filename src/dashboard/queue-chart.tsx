/** The chart of ready, in-flight and dead messages over the last minutes. Its library is loaded with the first chart. */

import { useEffect, useRef, useState } from 'preact/hooks'
import type uPlot from 'uplot'
import { Num } from './parts'
import { type CountSample, drawable } from './samples'
import { duration } from './time'

const SPAN_SECONDS = 600
const LEAST_SPAN_SECONDS = 60
const HEIGHT = 180

const SERIES = [
  ['Ready', '--ready'],
  ['In flight', '--in-flight'],
  ['Dead', '--dead'],
] as const

type Columns = [number[], (number | null)[], (number | null)[], (number | null)[]]

function columnsOf(samples: readonly CountSample[]): Columns {
  const rows = drawable(samples)
  return [
    rows.map(([time]) => time / 1000),
    rows.map(([, ready]) => ready),
    rows.map(([, , inFlight]) => inFlight),
    rows.map(([, , , dead]) => dead),
  ]
}

/** A time such as `14:05`; with seconds if the ticks are less than a minute apart. */
function clock(seconds: number, apart: number): string {
  const date = new Date(seconds * 1000)
  const parts = [date.getHours(), date.getMinutes(), ...(apart < 60 ? [date.getSeconds()] : [])]
  return parts.map((part) => String(part).padStart(2, '0')).join(':')
}

const X_STEPS = [15, 30, 60, 120, 300]
/** Whole numbers only, because these are counts. */
const Y_STEPS = [0, 1, 2, 3, 4, 5, 6, 7, 8].flatMap((power) => [1, 2, 5].map((step) => step * 10 ** power))

function optionsOf(element: HTMLElement, columns: () => Columns, onCursor: (at: number | null) => void): uPlot.Options {
  const color = (name: string) => getComputedStyle(element).getPropertyValue(name).trim()
  const axis = { stroke: color('--muted'), font: '12px system-ui, sans-serif', ticks: { show: false } }
  const grid = { stroke: color('--line'), width: 1 }
  return {
    width: element.clientWidth,
    height: HEIGHT,
    legend: { show: false },
    cursor: { y: false, drag: { x: false, y: false }, points: { size: 6 } },
    scales: {
      x: {
        range: () => {
          const now = Date.now() / 1000
          const first = columns()[0][0] ?? now
          return [Math.min(Math.max(now - SPAN_SECONDS, first), now - LEAST_SPAN_SECONDS), now]
        },
      },
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

export function QueueChart({ samples }: { samples: readonly CountSample[] }) {
  const holder = useRef<HTMLDivElement>(null)
  const plot = useRef<uPlot | null>(null)
  const columns = useRef(columnsOf(samples))
  const [at, setAt] = useState<number | null>(null)
  columns.current = columnsOf(samples)
  useEffect(() => {
    const element = holder.current
    if (element === null) return
    let isGone = false
    const draw = async () => {
      const { default: Plot } = await import('uplot')
      plot.current?.destroy()
      if (!isGone)
        plot.current = new Plot(
          optionsOf(element, () => columns.current, setAt),
          columns.current,
          element,
        )
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
      <Legend columns={columns.current} at={at} />
      <div ref={holder} role="img" aria-label={spoken(samples)} />
    </figure>
  )
}

function Legend({ columns, at }: { columns: Columns; at: number | null }) {
  const times = columns[0]
  const shown = at ?? times.length - 1
  const ago = Date.now() / 1000 - (times[shown] ?? 0)
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
      <span class="muted">{at === null ? 'as seen in this tab' : `${duration(ago)} ago`}</span>
    </figcaption>
  )
}

function spoken(samples: readonly CountSample[]): string {
  const last = samples.at(-1)
  if (last === undefined) return 'Chart: nothing yet'
  const ready = samples.map(([, count]) => count)
  const [, now, inFlight, dead] = last
  return (
    `Chart of the last minutes: ready between ${Math.min(...ready)} and ${Math.max(...ready)}. ` +
    `Now ${now} ready, ${inFlight} in flight, ${dead} dead.`
  )
}

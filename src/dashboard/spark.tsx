/** A line chart of the ready messages, as high as a row of a table. */
import { type CountSample, drawable } from './samples'

const WIDTH = 120
const HEIGHT = 24
const MINUTES = 10

export function Spark({ samples }: { samples: readonly CountSample[] }) {
  const now = Date.now()
  const recent = samples.filter(([time]) => time > now - MINUTES * 60_000)
  if (recent.length < 2) return <span class="muted">–</span>
  const from = Math.min(recent[0]?.[0] ?? now, now - 60_000)
  const most = Math.max(1, ...recent.map(([, ready]) => ready))
  const x = (time: number) => ((time - from) / (now - from)) * WIDTH
  const y = (ready: number) => HEIGHT - 2 - (ready / most) * (HEIGHT - 4)
  let path = ''
  let isDown = false
  for (const [time, ready] of drawable(recent)) {
    if (ready === null) isDown = false
    else {
      path += `${isDown ? 'L' : 'M'}${x(time).toFixed(1)} ${y(ready).toFixed(1)}`
      isDown = true
    }
  }
  return (
    <svg class="sparkline" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} width={WIDTH} height={HEIGHT} aria-hidden="true">
      <path d={path} fill="none" stroke="currentColor" stroke-width="1.5" stroke-linejoin="round" />
    </svg>
  )
}

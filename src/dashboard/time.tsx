/** Times and durations for people, such as `3 min ago`, with the exact time. */
import { serverNow } from './api'
import { makeStore, useFollowed } from './store'

const UNITS: readonly (readonly [string, number])[] = [
  ['d', 86_400],
  ['h', 3600],
  ['min', 60],
  ['s', 1],
]

/** A rounded duration, such as `3 min`, or `2 h 5 min`. */
export function duration(seconds: number): string {
  const whole = Math.max(0, Math.floor(seconds))
  const at = UNITS.findIndex(([, length]) => whole >= length)
  const [unit, length] = UNITS[at] ?? ['s', 1]
  const next = UNITS[at + 1]
  const first = `${Math.floor(whole / length)} ${unit}`
  const rest = next === undefined ? 0 : Math.floor((whole % length) / next[1])
  return rest === 0 || next === undefined || unit === 'min' ? first : `${first} ${rest} ${next[0]}`
}

/** An exact duration, such as `16 min 40 s`, for settings. */
export function exactDuration(seconds: number): string {
  let left = seconds
  const parts: string[] = []
  for (const [unit, length] of UNITS) {
    if (left >= length) parts.push(`${Math.floor(left / length)} ${unit}`)
    left %= length
  }
  return parts.join(' ') || '0 s'
}

/** Such as `3 min ago`, `in 20 s`, `now`. */
function relative(at: Date): string {
  const seconds = (serverNow() - at.getTime()) / 1000
  if (Math.abs(seconds) < 1) return 'now'
  return seconds > 0 ? `${duration(seconds)} ago` : `in ${duration(-seconds)}`
}

function exact(date: Date): string {
  const pad = (value: number, length = 2) => String(value).padStart(length, '0')
  const day = `${pad(date.getFullYear(), 4)}-${pad(date.getMonth() + 1)}-${pad(date.getDate())}`
  return `${day} ${pad(date.getHours())}:${pad(date.getMinutes())}:${pad(date.getSeconds())}`
}

/** Another number each second. */
const clock = makeStore(0)
setInterval(() => {
  if (!document.hidden) clock.set(clock.get() + 1)
}, 1000)

/** Keeps up with the clock, and is drawn again only when its text changes. `both` shows the exact time too. */
export function Time({ at, both = false }: { at: Date; both?: boolean }) {
  const label = useFollowed(() => relative(at), clock.onChange, at.getTime())
  const iso = at.toISOString()
  return (
    <time dateTime={iso} title={`${exact(at)} (${iso})`}>
      {both && <span class="exact">{exact(at)}</span>}
      <span class={both ? 'muted' : undefined}>{label}</span>
    </time>
  )
}

/** Times and durations for people, such as `3 min ago`, with the exact time. */
import { serverNow } from './api'
import { makeStore, useFollowed } from './store'

const UNITS: readonly (readonly [string, number])[] = [
  ['d', 86_400],
  ['h', 3600],
  ['min', 60],
  ['s', 1],
]

/** In each unit, such as `['', '2 h', '5 min', '']`. */
function inUnits(seconds: number): string[] {
  let left = Math.max(0, seconds)
  return UNITS.map(([unit, length]) => {
    const count = Math.floor(left / length)
    left %= length
    return count > 0 ? `${count} ${unit}` : ''
  })
}

const joined = (texts: readonly string[]) => texts.filter((text) => text !== '').join(' ') || '0 s'

/** A rounded duration, such as `3 min`, or `2 h 5 min`. */
export function duration(seconds: number): string {
  const texts = inUnits(seconds)
  const first = texts.findIndex((text) => text !== '')
  return joined(texts.slice(first, texts[first]?.endsWith('min') ? first + 1 : first + 2))
}

/** An exact duration, such as `16 min 40 s`, for settings. */
export const exactDuration = (seconds: number) => joined(inUnits(seconds))

/** Such as `3 min ago`, `in 20 s`, `now`. */
function relative(at: Date): string {
  const seconds = (serverNow() - at.getTime()) / 1000
  if (Math.abs(seconds) < 1) return 'now'
  return seconds > 0 ? `${duration(seconds)} ago` : `in ${duration(-seconds)}`
}

/** Swedish times have the form of ISO 8601. */
const exact = (at: Date) => at.toLocaleString('sv')

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

/** One bar while requests fail: why, how old the data is that stays on the page, and a button for another try. */
import { useEffect, useState } from 'preact/hooks'
import type { RecentnError } from '../shared/recentn-error'
import { sentenceOf, serverNow } from './api'
import { Time } from './time'

interface Failing {
  error: RecentnError
  again(): void
}

/** By the requests that are made again and again. */
const failing = new Map<object, Failing>()
let answeredAt = new Date()
let draw = () => {}

export function noteAnswer(request: object): void {
  answeredAt = new Date(serverNow())
  noteEnd(request)
}

export function noteFailure(request: object, failure: Failing): void {
  failing.set(request, failure)
  draw()
}

export function noteEnd(request: object): void {
  if (failing.delete(request)) draw()
}

export function OutageBar() {
  const [, redraw] = useState({})
  useEffect(() => {
    draw = () => redraw({})
  }, [])
  const [first] = failing.values()
  if (first === undefined) return null
  const again = () => {
    for (const one of [...failing.values()]) one.again()
  }
  return (
    <p class="outage">
      <span role="alert">{sentenceOf(first.error)}</span>
      <span>
        Shown is what was there <Time at={answeredAt} />.
      </span>
      <button type="button" onClick={again}>
        Try again
      </button>
    </p>
  )
}

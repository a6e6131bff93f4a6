/** One bar while requests fail: why, how old the data is that stays on the page, and a button for another try. */
import type { RecentnError } from '../shared/recentn-error'
import { sentenceOf, serverNow } from './api'
import { makeStore } from './store'
import { Time } from './time'

interface Failing {
  error: RecentnError
  again(): void
}

/** By the requests that are made again and again. */
const failing = makeStore<ReadonlyMap<object, Failing>>(new Map())
let answeredAt = new Date()

export function noteAnswer(request: object): void {
  answeredAt = new Date(serverNow())
  noteEnd(request)
}

export function noteFailure(request: object, failure: Failing): void {
  failing.set(new Map(failing.get()).set(request, failure))
}

export function noteEnd(request: object): void {
  if (failing.get().has(request)) failing.set(new Map([...failing.get()].filter(([one]) => one !== request)))
}

export function OutageBar() {
  const all = [...failing.use().values()]
  const [first] = all
  if (first === undefined) return null
  const again = () => {
    for (const one of all) one.again()
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

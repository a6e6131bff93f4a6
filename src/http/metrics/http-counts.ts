/** Requests in plain numbers, by template of the route, method and status: a bounded number of each, whatever is sent. */
import type { ErrorCode } from '../../errors'
import { Sizes } from '../../kit/sizes'
import type { Observer, Trace } from './traffic'

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS', 'PATCH']
const OTHER = 'other'
const UNKNOWN = 'unknown'

/** Seconds. */
const DURATIONS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]

export interface RouteCounts {
  route: string
  method: string
  statuses: Map<number, number>
  durations: Sizes
}

export class HttpCounts implements Observer {
  inFlight = 0
  readonly problems = new Map<ErrorCode, number>()
  readonly #routes = new Map<string, Map<string, RouteCounts>>()

  began(): void {
    this.inFlight++
  }

  ended({ request, route, isStream, problem }: Trace, status: number, durationMs: number): void {
    this.inFlight--
    const counts = this.#of(route ?? UNKNOWN, request.method ?? OTHER)
    counts.statuses.set(status, (counts.statuses.get(status) ?? 0) + 1)
    if (!isStream) counts.durations.add(durationMs / 1000)
    if (problem !== null) this.problems.set(problem, (this.problems.get(problem) ?? 0) + 1)
  }

  *routes(): Iterable<RouteCounts> {
    for (const methods of this.#routes.values()) yield* methods.values()
  }

  #of(route: string, sent: string): RouteCounts {
    let methods = this.#routes.get(route)
    if (methods === undefined) {
      methods = new Map()
      this.#routes.set(route, methods)
    }
    const method = METHODS.includes(sent) ? sent : OTHER
    let counts = methods.get(method)
    if (counts === undefined) {
      counts = { route, method, statuses: new Map(), durations: new Sizes(DURATIONS) }
      methods.set(method, counts)
    }
    return counts
  }
}

/** The counts of queues while the dashboard was open: kept in this tab, over reloads, for a quarter of an hour. */
import type { QueueStatus } from '../shared/queue-types'
import { countsOf } from './dead-letters'
import { session } from './session'

/** The time in milliseconds, and the ready, in-flight and dead messages. Dead letters count as dead. */
export type CountSample = readonly [number, number, number, number]

const KEEP_MS = 15 * 60_000
const MAX_QUEUES = 200
const LEAST_MS = 1000
const STORED = 'recentn.samples'

const samples = new Map<string, CountSample[]>(load())

function load(): [string, CountSample[]][] {
  try {
    return JSON.parse(sessionStorage.getItem(STORED) ?? '[]')
  } catch {
    return []
  }
}

function save(): void {
  try {
    sessionStorage.setItem(STORED, JSON.stringify([...samples]))
  } catch {
    // The storage is full: what was saved before stays.
  }
}

addEventListener('pagehide', save)
document.addEventListener('visibilitychange', () => document.hidden && save())
// Another key may not see the same queues.
session.onChange(() => {
  samples.clear()
  save()
})

export function record(queues: readonly QueueStatus[]): void {
  const now = Date.now()
  for (const status of queues) {
    const { queue } = status
    const counts = countsOf(status)
    const kept = (samples.get(queue) ?? []).filter(([time]) => time > now - KEEP_MS)
    const last = kept.at(-1)
    if (last === undefined || now - last[0] >= LEAST_MS) kept.push([now, counts.ready, counts.inFlight, counts.dead])
    // At the end, so that the first ones are those that were recorded the longest ago.
    samples.delete(queue)
    samples.set(queue, kept)
  }
  for (const name of [...samples.keys()].slice(0, Math.max(0, samples.size - MAX_QUEUES))) samples.delete(name)
}

export function samplesOf(queue: string): readonly CountSample[] {
  return samples.get(queue) ?? []
}

type DrawnSample = readonly [number, number | null, number | null, number | null]

/** After a gap of this length the line is interrupted. */
const GAP_MS = 20_000

export function drawable(kept: readonly CountSample[]): DrawnSample[] {
  return kept.flatMap((sample, i): DrawnSample[] => {
    const before = kept[i - 1]
    const isGap = before !== undefined && sample[0] - before[0] > GAP_MS
    return isGap ? [[before[0] + 1, null, null, null], sample] : [sample]
  })
}

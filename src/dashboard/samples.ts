/** How full queues were, while the dashboard looked: kept in this tab, over reloads, for a quarter of an hour. */
import { asCounted } from './letters'
import { session } from './session'
import type { Queue } from './types'

/** Time in milliseconds, ready, in flight, dead; dead letters are dead. */
export type Sample = readonly [number, number, number, number]

const KEEP_MS = 15 * 60_000
const MAX_QUEUES = 200
const LEAST_MS = 1000
const STORED = 'recentn.samples'

const samples = new Map<string, Sample[]>(load())

function load(): [string, Sample[]][] {
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
    // Full: what was saved before is better than nothing.
  }
}

addEventListener('pagehide', save)
document.addEventListener('visibilitychange', () => document.hidden && save())
// Another key may not see what this one saw.
session.onChange(() => {
  samples.clear()
  save()
})

export function record(queues: readonly Queue[]): void {
  const now = Date.now()
  for (const { queue, ...counted } of queues) {
    const counts = asCounted(counted)
    const kept = (samples.get(queue) ?? []).filter(([time]) => time > now - KEEP_MS)
    const last = kept.at(-1)
    if (last === undefined || now - last[0] >= LEAST_MS) kept.push([now, counts.ready, counts.inFlight, counts.dead])
    // At the end: the first ones are those that were looked at the longest ago.
    samples.delete(queue)
    samples.set(queue, kept)
  }
  for (const name of [...samples.keys()].slice(0, Math.max(0, samples.size - MAX_QUEUES))) samples.delete(name)
}

export function samplesOf(queue: string): readonly Sample[] {
  return samples.get(queue) ?? []
}

type Drawable = readonly [number, number | null, number | null, number | null]

/** Nobody looked for so long: the line is not drawn through. */
const GAP_MS = 20_000

export function drawable(kept: readonly Sample[]): Drawable[] {
  return kept.flatMap((sample, i): Drawable[] => {
    const before = kept[i - 1]
    const isGap = before !== undefined && sample[0] - before[0] > GAP_MS
    return isGap ? [[before[0] + 1, null, null, null], sample] : [sample]
  })
}

/** What a workload is, and what all of them begin with. */

import { groupNames, itemOf, WINDOW } from '../items'
import { inParallel } from '../load/callers'
import { AppendLog } from '../load/log'
import type { Contender, Job, Outcome, Participant, QueueContender, Ring } from '../types'

interface Facts {
  name: string
  /** For the table: what is done, and at what load. */
  title: string
  unit: string
  /** Latencies are better when they are lower. */
  lowerIsBetter?: boolean
  /** Names of those who take part, recentn first. */
  contenders: readonly string[]
  /** Those of a smoke run: recentn and Redis, where nothing is said. */
  quick?: readonly string[]
  http?: boolean
  /** It has figures over a network, too. */
  network?: boolean
  /** A fixed piece of work is timed: --seconds says nothing about it. */
  fixed?: boolean
}

export interface RingWorkload extends Facts {
  of?: 'rings'
  run(job: Job, contender: Contender): Promise<Outcome>
}

export interface QueueWorkload extends Facts {
  of: 'queues'
  run(job: Job, contender: QueueContender): Promise<Outcome>
}

export interface FeedWorkload extends Facts {
  of: 'feeds'
  run(job: Job, contender: Participant): Promise<Outcome>
}

export type Workload = RingWorkload | QueueWorkload | FeedWorkload

/** Fills groups with the items 0, 1, 2 …, group after group; the log says which went where. */
export async function fill(ring: Ring, groups: number, each = WINDOW): Promise<AppendLog> {
  const log = new AppendLog(groupNames(groups))
  const chunks: { group: number; op: number }[][] = []
  for (let group = 0; group < groups; group++) {
    const ops = Array.from({ length: each }, (_, index) => ({ group, op: group * each + index }))
    if (group % 50 === 0) chunks.push([])
    chunks.at(-1)?.push(...ops)
  }
  // Begun in the order of their numbers, which are the items'.
  for (const { group } of chunks.flat()) log.begin(group)
  await inParallel(4, chunks, async (chunk) => {
    const items = chunk.map(({ group, op }) => ({ group: log.names[group] as string, ...itemOf(op) }))
    if (ring.appendMany) await ring.appendMany(items)
    else for (const { group, ...item } of items) await ring.append(group, item)
    for (const { op } of chunk) log.end(op, op % each)
  })
  return log
}

/** A figure only where nothing was found wrong. */
export function outcome(
  figure: number,
  faults: string[],
  note: string,
  latency?: { p50: number; p99: number },
): Outcome {
  if (faults.length === 0) return { figure, faults, note, ...latency }
  const more = faults.length > 3 ? ` (and ${faults.length - 3} more)` : ''
  return { figure: null, faults: faults.slice(0, 3), note: `FAILED: ${faults[0]}${more}` }
}

/**
 * What the benchmark must show, on a 2-core machine at each server's durable defaults. The floor must hold, the goal is meant
 * to be hard. An older build can't take part in a run: what a change has won is measured beside it, both builds in turns.
 */
import type { EngineName } from './types'

/** A ratio in one run: recentn's figure by the peer's. */
export interface Target {
  workload: string
  peer: string
  floor: number
  goal: number
  /** What recentn runs on. Default: MariaDB. */
  engine?: EngineName
}

export const TARGETS: readonly Target[] = [
  { workload: 'even', peer: 'redis', floor: 0.5, goal: 0.6 },
  { workload: 'even', peer: 'redis', floor: 0.6, goal: 0.8, engine: 'sqlite' },
  { workload: 'even', peer: 'redis', floor: 0.3, goal: 0.45, engine: 'mysql' },
  { workload: 'hot', peer: 'redis', floor: 2, goal: 3 },
  { workload: 'hot', peer: 'redis', floor: 1.2, goal: 2, engine: 'mysql' },
  { workload: 'even', peer: 'redis-always', floor: 2, goal: 4 },
  { workload: 'hot', peer: 'redis-always', floor: 2, goal: 4 },
  { workload: 'even', peer: 'limit', floor: 0.9, goal: 0.97 },
  { workload: 'even', peer: 'insert-and-trim', floor: 10, goal: 20 },
  { workload: 'zipf', peer: 'redis', floor: 0.42, goal: 0.55 },
  { workload: 'distinct', peer: 'redis', floor: 0.42, goal: 0.55 },
  { workload: 'distinct', peer: 'redis', floor: 0.4, goal: 0.6, engine: 'sqlite' },
  { workload: 'distinct', peer: 'redis', floor: 0.22, goal: 0.3, engine: 'mysql' },
  { workload: 'read', peer: 'redis', floor: 1, goal: 1.5 },
  { workload: 'read', peer: 'insert-and-trim', floor: 1.1, goal: 1.8, engine: 'sqlite' },
  { workload: 'read50', peer: 'insert-and-trim', floor: 1.2, goal: 2 },
  { workload: 'mixed', peer: 'redis', floor: 0.85, goal: 1.1 },
  { workload: 'erase', peer: 'insert-and-trim', floor: 0.2, goal: 0.4 },
  { workload: 'http-post', peer: 'redis', floor: 1.1, goal: 1.3 },
  { workload: 'http-post', peer: 'redis', floor: 1.5, goal: 2, engine: 'sqlite' },
  { workload: 'http-get', peer: 'redis', floor: 1.5, goal: 2 },
  { workload: 'http-bulk', peer: 'redis', floor: 0.6, goal: 0.9 },
  { workload: 'queue-send-bulk', peer: 'bullmq', floor: 2.5, goal: 4 },
  { workload: 'queue-send-bulk', peer: 'limit', floor: 0.7, goal: 0.85 },
  { workload: 'queue-send', peer: 'bullmq', floor: 0.9, goal: 1.2 },
  { workload: 'queue-drain', peer: 'bullmq', floor: 2, goal: 3 },
  { workload: 'queue-drain', peer: 'pg-boss', floor: 2, goal: 2 },
  { workload: 'queue-drain', peer: 'graphile-worker', floor: 1.05, goal: 1.5 },
  { workload: 'queue-drain-full', peer: 'empty', floor: 0.9, goal: 0.9 },
  // Within 1.2 times the time.
  { workload: 'feed-growth', peer: 'few', floor: 0.833, goal: 0.833 },
  // Of latencies: at most so many times as long.
  { workload: 'lone', peer: 'unbatched', floor: 1.1, goal: 1 },
]

export type Grade = 'goal met' | 'floor only' | 'missed'

export function targetOf(engine: EngineName, workload: string, peer: string): Target | undefined {
  return TARGETS.find(
    (target) => (target.engine ?? 'mariadb') === engine && target.workload === workload && target.peer === peer,
  )
}

/** A goal below the floor: lower is better. */
export function gradeOf({ floor, goal, lowerIsBetter = goal < floor }: Bounds, value: number): Grade {
  const meets = (limit: number) => (lowerIsBetter ? value <= limit : value >= limit)
  if (meets(goal)) return 'goal met'
  return meets(floor) ? 'floor only' : 'missed'
}

interface Bounds {
  floor: number
  goal: number
  lowerIsBetter?: boolean
}

/** A target that is no ratio: recentn's own figure on MariaDB. */
export interface Limit extends Bounds {
  workload: string
  /** Default: the workload's. Round trips are a lone call's time over a network, by that of an echo. */
  unit?: 'round trips'
}

export const LIMITS: readonly Limit[] = [
  // The second trip has the commit, which is flushed to the disk.
  { workload: 'lone', unit: 'round trips', floor: 2.5, goal: 2.2 },
  // From a send to its handler in recentn's own worker.
  { workload: 'queue-latency', floor: 2, goal: 1 },
  { workload: 'feed-publish', floor: 50_000, goal: 50_000 },
  { workload: 'feed-read', floor: 100_000, goal: 100_000 },
  { workload: 'feed-latency', floor: 50, goal: 50, lowerIsBetter: true },
]

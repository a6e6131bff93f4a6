/**
 * What the benchmark must show, as ratios in one run on a 2-core machine with MariaDB 10.11 at its durable defaults:
 * recentn's figure by the peer's. The floor must hold, the goal is meant to be hard.
 */
export interface Target {
  workload: string
  peer: string
  floor: number
  goal: number
}

export const TARGETS: readonly Target[] = [
  { workload: 'even', peer: 'redis', floor: 0.5, goal: 1 },
  { workload: 'hot', peer: 'redis', floor: 2, goal: 3 },
  { workload: 'even', peer: 'redis-always', floor: 2, goal: 4 },
  { workload: 'hot', peer: 'redis-always', floor: 2, goal: 4 },
  { workload: 'even', peer: 'limit', floor: 0.9, goal: 0.97 },
  { workload: 'even', peer: 'insert-and-trim', floor: 10, goal: 20 },
  { workload: 'http-post', peer: 'redis', floor: 0.8, goal: 1 },
  { workload: 'http-get', peer: 'redis', floor: 0.9, goal: 1 },
  { workload: 'http-bulk', peer: 'redis', floor: 0.8, goal: 1.5 },
  { workload: 'queue-send-bulk', peer: 'bullmq', floor: 4, goal: 4 },
  { workload: 'queue-send-bulk', peer: 'limit', floor: 0.7, goal: 0.85 },
  { workload: 'queue-send', peer: 'bullmq', floor: 1, goal: 1 },
  { workload: 'queue-drain', peer: 'bullmq', floor: 2, goal: 2 },
  { workload: 'queue-drain', peer: 'pg-boss', floor: 2, goal: 2 },
  { workload: 'queue-drain', peer: 'graphile-worker', floor: 1, goal: 1 },
  { workload: 'queue-drain-full', peer: 'empty', floor: 0.9, goal: 0.9 },
  // With the feed of all groups, by the same without it.
  { workload: 'hot-feed', peer: 'without', floor: 0.7, goal: 0.7 },
  { workload: 'even-feed', peer: 'without', floor: 0.7, goal: 0.7 },
  // Within 1.2 times the time.
  { workload: 'feed-growth', peer: 'few', floor: 0.833, goal: 0.833 },
  // Of latencies: at most so many times as long.
  { workload: 'lone', peer: 'unbatched', floor: 1.1, goal: 1 },
]

export type Grade = 'goal met' | 'floor only' | 'missed'

export function targetOf(workload: string, peer: string): Target | undefined {
  return TARGETS.find((target) => target.workload === workload && target.peer === peer)
}

export function gradeOf({ floor, goal }: Target, ratio: number): Grade {
  const lowerIsBetter = goal < floor
  const meets = (limit: number) => (lowerIsBetter ? ratio <= limit : ratio >= limit)
  if (meets(goal)) return 'goal met'
  return meets(floor) ? 'floor only' : 'missed'
}

/** The targets that are no ratios: of recentn's own figure, in the workload's unit. */
export interface Limit {
  workload: string
  kind: 'over' | 'under'
  limit: number
}

export const LIMITS: readonly Limit[] = [
  // From a send to its handler in recentn's own worker.
  { workload: 'queue-latency', kind: 'under', limit: 10 },
  { workload: 'feed-publish', kind: 'over', limit: 50_000 },
  { workload: 'feed-read', kind: 'over', limit: 100_000 },
  { workload: 'feed-latency', kind: 'under', limit: 50 },
]

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
  { workload: 'even', peer: 'insert-and-trim', floor: 10, goal: 20 },
  { workload: 'http-post', peer: 'redis', floor: 0.8, goal: 1 },
  { workload: 'http-get', peer: 'redis', floor: 0.9, goal: 1 },
  { workload: 'http-bulk', peer: 'redis', floor: 0.8, goal: 1.5 },
  { workload: 'queue-send-bulk', peer: 'bullmq', floor: 4, goal: 4 },
  { workload: 'queue-send', peer: 'bullmq', floor: 1, goal: 1 },
  { workload: 'queue-drain', peer: 'bullmq', floor: 2, goal: 2 },
  { workload: 'queue-drain', peer: 'pg-boss', floor: 2, goal: 2 },
  { workload: 'queue-drain', peer: 'graphile-worker', floor: 1, goal: 1 },
  { workload: 'queue-drain-full', peer: 'empty', floor: 0.9, goal: 0.9 },
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

/** The one target that is no ratio: the median from a send to its handler in recentn's own worker, in milliseconds. */
export const QUEUE_LATENCY = { workload: 'queue-latency', mostMs: 10 }

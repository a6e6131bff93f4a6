/** All contenders of the work queues, recentn first. */
import type { QueueContender } from '../../types'
import { limitQueue } from '../limit/queues'
import { bullmq, bullmqAlways } from './bullmq'
import { graphileWorker } from './graphile-worker'
import { pgBoss } from './pg-boss'
import { emptyTables, recentnQueue, rest } from './recentn'

export const QUEUE_CONTENDERS: readonly QueueContender[] = [
  recentnQueue,
  emptyTables,
  rest,
  bullmq,
  bullmqAlways,
  pgBoss,
  graphileWorker,
  limitQueue,
]

export function queueContenderNamed(name: string): QueueContender {
  const found = QUEUE_CONTENDERS.find((contender) => contender.name === name)
  if (found === undefined) throw new Error(`no contender with a queue is named ${name}`)
  return found
}

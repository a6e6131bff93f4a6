/**
 * `client.queues.work`: where its messages come from. `shared/worker.ts` has the loop. It claims as many messages as its
 * handlers begin at once, and none ahead, because REST takes back no claim whose handler has not begun.
 */

import { WorkerLoop } from '../shared/worker'
import * as loops from './loops'
import { aFunction } from './options'
import type { QueueCalls } from './queues'
import { mayPass } from './retry'
import type { Message } from './wire'

const RULES = {
  ...loops.LOOP_RULES,
  concurrency: loops.whole(1, 1000),
  visibilityTimeoutSeconds: loops.whole(1, 43_200),
  onDone: aFunction,
  onDead: aFunction,
}

/** See `QueuesClient.work`. Throws `invalid_input`. */
export function startWorker(
  queues: QueueCalls,
  queue: string,
  handler: loops.Handler,
  options: loops.WorkOptions,
): loops.Running {
  loops.checkLoop(handler, options, RULES)
  return new WorkerLoop<Message>(queues, queue, handler, options, {
    ...loops.SURROUNDINGS,
    backoff: loops.pausesOf(options.backoff),
    again: mayPass,
    lastMs: 5000,
  })
}

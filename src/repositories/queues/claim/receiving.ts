/** A receive: it looks, and may wait and look again. */
import type { Message, ReceiveOptions } from '../../../shared/queue-types'
import type { Waits } from '../../runners'
import { type ClaimedMessages, messageOf } from '../rows'
import type { ReceiveRequest } from './claim'

export async function receiveIn(
  waits: Waits,
  run: (request: ReceiveRequest) => Promise<ClaimedMessages | null>,
  queue: string,
  options: ReceiveOptions,
  cursor: string | null,
): Promise<Message[]> {
  const { limit = 1, visibilityTimeoutSeconds, waitSeconds = 0, signal } = options
  const waiting = waits.enter(queue, { waitMs: waitSeconds * 1000, signal })
  try {
    // Events are mostly of messages that are ready: a look for due ones before the claim would only delay them.
    for (let mayLook = true; ; mayLook = false) {
      waiting.look()
      const request = { queue, visibilityTimeoutSeconds, cursor, limit, signal, mayLook }
      const claimed = await waiting.unlessAborted(run(request))
      if (claimed?.rows.length) return claimed.rows.map((row) => messageOf(claimed.head, row, options))
      if (!(await waiting.again(undefined, claimed?.nextInMs ?? undefined))) return []
    }
  } finally {
    waiting.leave()
  }
}

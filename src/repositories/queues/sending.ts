/** Sending the requests of many callers in one transaction, with a mark that tells whether it arrived. */
import type { Session, Statements, Tx } from '../../database/engine'
import { RecentnError } from '../../errors'
import { leaveMark, type Writer } from '../writers'
import type { OnReady } from './context'
import { takeStarts } from './flows'
import type { QueueMemory } from './memory'
import { aheadKey, type SendRequest, type StartsAhead, sendAll } from './send'
import type { Sent } from './types'

/** Queues and priorities of one batch: with more of them it costs less to take their starts in the transaction. */
const MAX_LEVELS = 2
/** Messages that take so long to insert that others should not wait for it: taking starts ahead is a commit more. */
const WORTH_A_COMMIT = 200

/** The requests of many callers: an outcome for each. */
export async function sendBatch(
  tx: Tx,
  requests: readonly SendRequest[],
  onReady: OnReady,
  { writer, prepared }: { writer: Writer; prepared: StartsAhead },
): Promise<(Sent[] | RecentnError)[]> {
  const outcomes = await sendAll(tx, requests, onReady, prepared)
  await leaveMark(tx, writer)
  return outcomes
}

/** One request, by itself. */
export async function sendAlone(session: Session, request: SendRequest, onReady: OnReady): Promise<Sent[]> {
  const [outcome] = await session.write((tx) => sendAll(tx, [request], onReady))
  if (outcome instanceof RecentnError) throw outcome
  return outcome as Sent[]
}

/** Messages without a group of one queue and priority, ready at once. */
interface Level {
  queue: string
  priority: number
  count: number
}

function levelsOf(requests: readonly SendRequest[]): Level[] {
  const levels = new Map<string, Level>()
  for (const { queue, rows } of requests) {
    for (const { priority, messageGroup, delayMs } of rows) {
      if (messageGroup !== null || delayMs > 0) continue
      const key = `${priority} ${queue}`
      const level = levels.get(key)
      if (level) level.count++
      else levels.set(key, { queue, priority, count: 1 })
    }
  }
  return [...levels.values()]
}

/** Takes the starts of messages without a group, where a statement can do that by itself. */
export async function takeAhead(
  session: Session,
  memory: QueueMemory,
  requests: readonly SendRequest[],
): Promise<StartsAhead> {
  const ahead = new Map<string, number>()
  const levels = levelsOf(requests)
  const count = levels.reduce((sum, level) => sum + level.count, 0)
  if (count < WORTH_A_COMMIT || levels.length > MAX_LEVELS) return ahead
  const take = async (statements: Statements) => {
    if (!statements.engine.remembers) return
    for (const { queue, priority, count } of levels) {
      // One that is gone is told to its callers by the transaction.
      const head = await memory.find(statements, queue)
      const start = head ? await takeStarts(statements, { queueId: head.id, priority }, count) : null
      if (head && start !== null) ahead.set(aheadKey(head.id, priority), start)
    }
  }
  // Whatever is in the way, the transaction meets it too, and knows what to make of it.
  await session.separately(take, { retryMs: 0 }).catch(() => {})
  return ahead
}

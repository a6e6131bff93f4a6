/**
 * Chooses the requests of a batch that are sent. Left out are those of a queue that is not there, and those that its `maxMessages`
 * has no room for, with the others of the batch before them. Messages that others send at the same moment are not seen.
 */
import type { Tx } from '../../../database/engine'
import { RecentnError } from '../../../shared/errors'
import { notFound, type QueueHead } from '../heads'
import type { SendRequest } from '../rows'
import { findDuplicates, type OutgoingMessage, outgoing } from './dedups'
import { type KeyPlan, planKeys } from './keyed'

/** After this time a send to a full queue may be tried again. */
const FULL_SECONDS = 5

/** The messages of each request, or why it is refused. After a refusal all are judged again: one may have been a duplicate of another that is not sent now. */
export async function admit(
  tx: Tx,
  requests: readonly SendRequest[],
  heads: ReadonlyMap<string, QueueHead>,
  nowMs: number,
): Promise<{ outcomes: (OutgoingMessage[] | RecentnError)[]; dedups: OutgoingMessage[]; keys: KeyPlan }> {
  const rooms = await roomsIn(tx, heads.values())
  const refused = new Map<SendRequest, RecentnError>()
  for (;;) {
    const left = new Map(rooms)
    const outcomes = requests.map((request) => {
      const head = heads.get(request.queue)
      if (head === undefined) return notFound(request.queue)
      return refused.get(request) ?? request.rows.map((row) => outgoing(head, row))
    })
    const all = outcomes.flatMap((outcome) => (outcome instanceof RecentnError ? [] : outcome))
    const dedups = await findDuplicates(tx, all, nowMs)
    const keys = await planKeys(tx, all, nowMs)
    const before = refused.size
    for (const [index, request] of requests.entries()) {
      const outcome = outcomes[index] as OutgoingMessage[] | RecentnError
      const head = heads.get(request.queue)
      if (outcome instanceof RecentnError || head === undefined || head.maxMessages === 0) continue
      const count = outcome.filter(({ sent }) => sent).length
      const room = (left.get(head.id) ?? 0) - count
      if (count > 0 && room < 0) refused.set(request, queueFull(head))
      else left.set(head.id, room)
    }
    if (refused.size === before) return { outcomes, dedups, keys }
  }
}

/** How many messages each queue with a `maxMessages` has room for. */
async function roomsIn(tx: Tx, heads: Iterable<QueueHead>): Promise<Map<bigint, number>> {
  const rooms = new Map<bigint, number>()
  for (const { id, maxMessages } of heads) {
    if (maxMessages === 0) continue
    const some = `SELECT 1 FROM ${tx.tables.queueMessages}${tx.engine.useIndex(tx.tables.index.messagesClaim)} WHERE queue_id = ? LIMIT ${maxMessages}`
    const [row] = await tx.rows(`SELECT COUNT(*) AS count FROM (${some}) AS counted`, [id])
    rooms.set(id, maxMessages - Number(row?.count))
  }
  return rooms
}

function queueFull({ queue, maxMessages }: QueueHead): RecentnError {
  const detail = `The queue ${JSON.stringify(queue)} has as many messages as its maxMessages allows: ${maxMessages}`
  return new RecentnError('queue_full', detail, { retryAfterSeconds: FULL_SECONDS })
}

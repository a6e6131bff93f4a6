/** Queues as callers see them: their settings, and how many messages they have. */
import type { Session } from '../../database/engine'
import { QUEUE_STATUS } from '../../fields/answers-queues'
import { RecentnError } from '../../shared/errors'
import type { QueuePage, QueueStatus } from '../../shared/queue-types'
import type { ListOptions } from '../../shared/types'
import { countLimited } from './counts'
import type { QueueMemory } from './memory'
import { listHeads, type NamedHead, namedHead } from './queues'
import { promoteDue } from './settle/promote'
import { queueOf } from './shown'

export async function readStatus(session: Session, memory: QueueMemory, queue: string): Promise<QueueStatus | null> {
  const named = await session.read((reader) => namedHead(reader, queue))
  if (named === null) return null
  await promoteDue(session, memory, queue).catch((error: unknown) => {
    if (!(error instanceof RecentnError && error.code === 'queue_not_found')) throw error
  })
  return statusOf(session, memory, named)
}

export async function listStatuses(
  session: Session,
  memory: QueueMemory,
  { limit, ...names }: ListOptions & { limit: number },
): Promise<QueuePage> {
  const heads = await session.read((reader) => listHeads(reader, { ...names, limit: limit + 1 }))
  const queues: QueueStatus[] = []
  for (const named of heads.slice(0, limit)) queues.push(await statusOf(session, memory, named))
  return { queues, nextAfter: heads.length > limit ? (queues.at(-1)?.queue ?? null) : null }
}

async function statusOf(
  session: Session,
  memory: QueueMemory,
  { head, deadLetterQueue, isDeadLetterQueue }: NamedHead,
): Promise<QueueStatus> {
  const totals = await session.read((reader) => memory.totals.of(reader, head))
  const limited = await session.read((reader) => countLimited(reader, head, totals.counts))
  return QUEUE_STATUS.of({ ...queueOf(head, deadLetterQueue), isDeadLetterQueue, ...totals, limited })
}

/** Everything that is wrong now, in all queues, feeds and schedules: read at once, and then cut for each caller. */
import type { Reader } from '../../database/engine'
import { OVERVIEW, TROUBLE, TROUBLES } from '../../fields/answers-overview'
import type { Overview, Trouble } from '../../shared/overview-types'
import { nowOf } from '../queues/history/read'
import type { FoundTrouble, QueuesLook } from '../queues/troubles'
import { feedTroubles } from './feed-troubles'
import { scheduleTroubles } from './schedule-troubles'

const MAX_TROUBLES = 500

/** Of feeds and schedules; `look` has those of queues. */
export async function readOtherTroubles(reader: Reader): Promise<FoundTrouble[]> {
  const nowMs = await nowOf(reader)
  return [...(await scheduleTroubles(reader, nowMs)), ...(await feedTroubles(reader, nowMs))]
}

function troubleOf({ sinceMs, ...found }: FoundTrouble): Trouble {
  const nothing = { deadLetterQueue: null, consumer: null, messageGroup: null, error: null }
  return TROUBLE.of({ ...nothing, ...found, beganAt: new Date(sinceMs) })
}

const rankOf = ({ kind }: Trouble) => TROUBLES.indexOf(kind)
const byWorst = (a: Trouble, b: Trouble) => rankOf(a) - rankOf(b) || b.count - a.count || (a.name < b.name ? -1 : 1)

/** The part of it that a caller sees, the worst first. */
export function overviewOf(look: QueuesLook, others: readonly FoundTrouble[], prefix: string): Overview {
  const seen = [...look.troubles, ...others].filter(({ name }) => name.startsWith(prefix))
  const troubles = seen.map(troubleOf).sort(byWorst).slice(0, MAX_TROUBLES)
  return OVERVIEW.of({ troubles, total: seen.length, lookedAt: new Date(look.nowMs) })
}

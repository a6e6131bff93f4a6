/** Everything that is wrong now, in all queues, feeds and schedules: read at once, and then cut for each caller. */
import type { Reader } from '../../database/engine'
import { OVERVIEW, TROUBLE, TROUBLES } from '../../fields/answers-overview'
import type { Overview, Trouble } from '../../shared/overview-types'
import type { KnownTotals } from '../queues/known-totals'
import { feedTroubles } from './feed-troubles'
import { type FoundTrouble, queueTroubles, scheduleTroubles } from './queue-troubles'

const MAX_TROUBLES = 500

/** All of it, the worst first. */
export async function readTroubles(
  reader: Reader,
  totals: KnownTotals,
): Promise<{ troubles: Trouble[]; lookedAt: Date }> {
  const [clock] = await reader.rows(`SELECT ${reader.now} AS now_ms FROM ${reader.tables.schema}`)
  const nowMs = Number(clock?.now_ms)
  const found = [
    ...(await queueTroubles(reader, nowMs, await totals.letters(reader), await totals.growth(reader))),
    ...(await scheduleTroubles(reader, nowMs)),
    ...(await feedTroubles(reader, nowMs)),
  ]
  return { troubles: found.map(troubleOf).sort(byWorst), lookedAt: new Date(nowMs) }
}

function troubleOf({ sinceMs, ...found }: FoundTrouble): Trouble {
  const nothing = { deadLetterQueue: null, consumer: null, messageGroup: null, error: null }
  return TROUBLE.of({ ...nothing, ...found, beganAt: new Date(sinceMs) })
}

const rankOf = ({ kind }: Trouble) => TROUBLES.indexOf(kind)
const byWorst = (a: Trouble, b: Trouble) => rankOf(a) - rankOf(b) || b.count - a.count || (a.name < b.name ? -1 : 1)

/** The part of it that a caller sees. */
export function overviewOf({ troubles, lookedAt }: Awaited<ReturnType<typeof readTroubles>>, prefix: string): Overview {
  const seen = prefix === '' ? troubles : troubles.filter(({ name }) => name.startsWith(prefix))
  return OVERVIEW.of({ troubles: seen.slice(0, MAX_TROUBLES), total: seen.length, lookedAt })
}

/** Everything that is wrong now, in all queues, feeds and schedules: read at once, and then cut for each caller. */
import type { Reader } from '../../database/engine'
import { OVERVIEW, TROUBLE, TROUBLES } from '../../fields/answers-process'
import type { Overview, Trouble } from '../../shared/overview-types'
import { FEED } from '../feeds/heads'
import { waitingFeeds } from '../feeds/status'
import { nowOf } from '../queues/history/read'
import type { FoundTrouble, QueuesLook } from '../queues/troubles'

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

/** A publisher runs several times a second. */
const UNPUBLISHED_MS = 60_000
const BEHIND_MS = 300_000
/** Sync ids. */
const FAR_BEHIND = 10_000

async function feedTroubles(reader: Reader, nowMs: number): Promise<FoundTrouble[]> {
  const waiting = (await waitingFeeds(reader)).filter(({ sinceMs }) => sinceMs <= nowMs - UNPUBLISHED_MS)
  const unpublished = waiting.map(({ feed: name, entries: count, sinceMs }): FoundTrouble => {
    return { kind: 'unpublished', name, count, sinceMs }
  })
  return [...unpublished, ...(await consumersBehind(reader, nowMs))]
}

/** The rows of a followed table do not say since when they can be read: what counts is when the consumer last moved. */
async function consumersBehind({ engine, tables, rows }: Reader, nowMs: number): Promise<FoundTrouble[]> {
  const unread = `FROM ${tables.feedEntries} e${engine.useIndex(tables.index.entriesSync)} WHERE e.feed_id = c.feed_id AND e.sync_id > c.cursor_id`
  const found = await rows(
    'SELECT f.feed AS feed, c.consumer AS consumer, s.value - c.cursor_id AS behind, c.updated_at_ms AS moved_ms, ' +
      `(SELECT e.unpublished_since_ms ${unread} ORDER BY e.sync_id LIMIT 1) AS unread_ms FROM ${tables.feedConsumers} c ` +
      `JOIN ${tables.feeds} f ON f.id = c.feed_id JOIN ${tables.sequences} s ON s.kind = '${FEED}' AND s.sequence_name = f.feed ` +
      'WHERE s.value > c.cursor_id',
  )
  return found.flatMap((row) => {
    const sinceMs = Number(row.unread_ms ?? row.moved_ms)
    const count = Number(row.behind)
    if (nowMs - sinceMs < BEHIND_MS && count < FAR_BEHIND) return []
    const [name, consumer] = [row.feed as string, row.consumer as string]
    return [{ kind: 'behind', name, count, sinceMs, consumer } as FoundTrouble]
  })
}

/** A tick that is due is sent within seconds. */
const TICK_MS = 120_000

async function scheduleTroubles({ tables, rows }: Reader, nowMs: number): Promise<FoundTrouble[]> {
  const found = await rows(
    `SELECT schedule, last_error, next_tick_ms FROM ${tables.schedules} WHERE last_error IS NOT NULL OR due_at_ms <= ?`,
    [nowMs - TICK_MS],
  )
  return found.map((row) => ({
    kind: 'schedule',
    name: row.schedule as string,
    count: 1,
    sinceMs: Number(row.next_tick_ms),
    error: row.last_error as string | null,
  }))
}

/** Everything that is wrong now, in all queues, feeds and schedules: read at once, and then cut for each caller. */
import type { Reader } from '../../database/engine'
import { OVERVIEW, TROUBLE, TROUBLES } from '../../fields/answers-overview'
import type { Overview, Trouble } from '../../shared/overview-types'
import { FEED } from '../feeds/heads'
import type { KnownTotals } from '../queues/known-totals'
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

export function overviewOf({ troubles, lookedAt }: Awaited<ReturnType<typeof readTroubles>>, prefix: string): Overview {
  const seen = prefix === '' ? troubles : troubles.filter(({ name }) => name.startsWith(prefix))
  return OVERVIEW.of({ troubles: seen.slice(0, MAX_TROUBLES), total: seen.length, lookedAt })
}

/** A publisher runs several times a second. */
const UNPUBLISHED_MS = 60_000
const BEHIND_MS = 300_000
/** Sync ids. */
const FAR_BEHIND = 10_000

async function feedTroubles(reader: Reader, nowMs: number): Promise<FoundTrouble[]> {
  return [...(await unpublished(reader, nowMs)), ...(await consumersBehind(reader, nowMs))]
}

async function unpublished({ engine, tables, rows }: Reader, nowMs: number): Promise<FoundTrouble[]> {
  // Asks the index for each feed, and counts only what waits.
  const ofFeed = `FROM ${tables.feedEntries} e${engine.useIndex(tables.index.entriesSync)} WHERE e.feed_id = f.id AND e.sync_id = 0`
  const found = await rows(
    'SELECT waiting.feed AS feed, waiting.since_ms AS since_ms, waiting.entries AS entries FROM (' +
      `SELECT f.feed AS feed, (SELECT MIN(e.unpublished_since_ms) ${ofFeed}) AS since_ms, (SELECT COUNT(*) ${ofFeed}) AS entries ` +
      `FROM ${tables.feeds} f) waiting WHERE waiting.since_ms <= ?`,
    [nowMs - UNPUBLISHED_MS],
  )
  return found.map((row) => ({
    kind: 'unpublished',
    name: row.feed as string,
    count: Number(row.entries),
    sinceMs: Number(row.since_ms),
  }))
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
    return [
      { kind: 'behind', name: row.feed as string, count, sinceMs, consumer: row.consumer as string },
    ] as FoundTrouble[]
  })
}

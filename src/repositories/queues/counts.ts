/** How many messages a queue has in each state, counted along the claims index. */
import type { Reader, Row } from '../../database/engine'
import type { MessageCounts } from '../../shared/queue-types'
import { CachedCount, CachedCounts } from '../cached-count'
import { diedIn, type Letters, readLetters } from './dead/deaths'
import { type QueueHead, takesTurns } from './heads'
import { type Growths, growthIn, readGrowth } from './history/read'
import { STATE } from './rows'
import { lookAtQueues, type QueuesLook } from './troubles'

/** How many messages a rate, or a hold of the queue, keeps waiting. Other queues cost no statement. */
export async function countLimited(
  reader: Reader,
  head: QueueHead,
  { ready, blocked }: MessageCounts,
): Promise<number> {
  if (!takesTurns(head)) return 0
  const { engine, tables, now } = reader
  const [row] = await reader.rows(
    `SELECT (SELECT COUNT(*) FROM ${tables.queueMessages}${engine.useIndex(tables.index.messagesClaim)} ` +
      `WHERE queue_id = ? AND state = ${STATE.delayed} AND group_place = ?) AS later, ` +
      `(SELECT held_until_ms FROM ${tables.queueTurns} WHERE queue_id = ? AND message_group = '') > ${now} AS is_held`,
    [head.id, -head.groupLimitId, head.id],
  )
  const ofGroups = head.groupRateLimit === null ? 0 : Number(row?.later) + blocked
  return ofGroups + (head.heldMs > 0 || Number(row?.is_held ?? 0) === 1 ? ready : 0)
}

export interface QueueTotals {
  counts: MessageCounts
  /** Of the oldest message that is ready, blocked or in flight; null when there is none. */
  oldestAgeSeconds: number | null
}

/** Takes the longer the more messages there are. `QueueMemory` keeps what it resolves to for a few seconds. */
async function countMessages(reader: Reader, id: bigint): Promise<QueueTotals> {
  const { engine } = reader
  const rows = await reader.rows(
    `SELECT state, COUNT(*) AS messages, ${engine.bigint('MIN(id)')} AS oldest ` +
      `FROM ${reader.tables.queueMessages}${engine.useIndex(reader.tables.index.messagesClaim)} WHERE queue_id = ? GROUP BY state`,
    [id],
  )
  const [archive] = await reader.rows(
    `SELECT COUNT(*) AS messages FROM ${reader.tables.queueArchive} WHERE queue_id = ?`,
    [id],
  )
  return totalsOf(reader, rows, archive)
}

/** For all queues together. In a dead-letter queue all messages that are not archived count as dead: no receiver waits for them. */
export async function countAllMessages(reader: Reader): Promise<QueueTotals> {
  const rows = await reader.rows(countAllSql(reader))
  const [archive] = await reader.rows(`SELECT COUNT(*) AS messages FROM ${reader.tables.queueArchive}`)
  return totalsOf(reader, rows, archive)
}

/** One scan of the index, in its order, and one of the queues. */
export function countAllSql({ engine, tables }: Pick<Reader, 'engine' | 'tables'>): string {
  return (
    `SELECT CASE WHEN letters.id IS NULL THEN counted.state ELSE ${STATE.dead} END AS state, ` +
    `SUM(counted.messages) AS messages, ${engine.bigint('MIN(counted.oldest)')} AS oldest ` +
    'FROM (SELECT queue_id, state, COUNT(*) AS messages, MIN(id) AS oldest ' +
    `FROM ${tables.queueMessages}${engine.useIndex(tables.index.messagesClaim)} GROUP BY queue_id, state) counted ` +
    `LEFT JOIN (SELECT DISTINCT dead_letter_queue_id AS id FROM ${tables.queues} WHERE dead_letter_queue_id IS NOT NULL) letters ` +
    `ON letters.id = counted.queue_id GROUP BY CASE WHEN letters.id IS NULL THEN counted.state ELSE ${STATE.dead} END`
  )
}

async function totalsOf(reader: Reader, rows: readonly Row[], archive: Row | undefined): Promise<QueueTotals> {
  const byState = new Map(rows.map((row) => [Number(row.state), row]))
  const of = (state: number) => Number(byState.get(state)?.messages ?? 0)
  const waiting = [STATE.ready, STATE.blocked, STATE.inFlight].flatMap((state) => byState.get(state)?.oldest ?? [])
  return {
    counts: countsBy(of, Number(archive?.messages ?? 0)),
    oldestAgeSeconds: waiting.length === 0 ? null : await ageOf(reader, waiting as string[]),
  }
}

/** `of`: how many are in a state. */
export function countsBy(of: (state: number) => number, archived: number): MessageCounts {
  const [ready, inFlight, delayed] = [of(STATE.ready), of(STATE.inFlight), of(STATE.delayed)]
  return { ready, inFlight, delayed, blocked: of(STATE.blocked), dead: of(STATE.dead), archived }
}

/** The oldest has the smallest id, whatever the queue. */
async function ageOf(reader: Reader, ids: readonly string[]): Promise<number | null> {
  const [oldest] = ids.map((id) => BigInt(id)).sort((a, b) => Number(a - b)) as [bigint]
  const [row] = await reader.rows(
    `SELECT sent_at_ms, ${reader.now} AS now_ms FROM ${reader.tables.queueMessages} WHERE id = ?`,
    [oldest],
  )
  return row ? Math.max(0, Math.floor((Number(row.now_ms) - Number(row.sent_at_ms)) / 1000)) : null
}

export class KnownTotals {
  /** Kept for 4 seconds, however long they take. */
  readonly #counts = new CachedCounts<QueueTotals>(0)
  readonly #growth = new CachedCount<Growths>()
  readonly #letters = new CachedCount<readonly Letters[]>()
  readonly #look = new CachedCount<QueuesLook>()

  /** `isKept`: false in a transaction, which must see its own changes. */
  constructor(private readonly isKept: boolean) {}

  async of(reader: Reader, head: QueueHead): Promise<QueueTotals & { died: number; growthPerMinute: number | null }> {
    const count = () => countMessages(reader, head.id)
    const totals = await (this.isKept ? this.#counts.get(head.id, count) : count())
    const died = diedIn(head.id, totals.counts.dead, await this.#kept(this.#letters, () => readLetters(reader)))
    const growth = await this.#kept(this.#growth, () => readGrowth(reader))
    return { ...totals, died, growthPerMinute: growthIn(growth, head.id)?.perMinute ?? null }
  }

  /** All queues: their messages and troubles. */
  look(reader: Reader): Promise<QueuesLook> {
    return this.#kept(this.#look, () => lookAtQueues(reader))
  }

  #kept<T>(count: CachedCount<T>, read: () => Promise<T>): Promise<T> {
    return this.isKept ? count.get(read) : read()
  }

  /** The queue is gone. */
  delete(id: bigint): void {
    this.#counts.delete(id)
  }
}

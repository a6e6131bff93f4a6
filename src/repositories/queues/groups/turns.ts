/**
 * Turns: how many messages a rate still allows, by a log of the receives that count, in a queue (the group '') and in its message
 * groups. It owns recentn_queue_turns.
 *
 * Invariant: in no span of `perSeconds` are there more receives than `messages`. A message of a group gets its turn together with its
 * place (`places.ts`), and the time before which it is not ready. Then enough receives count no more: those that still
 * do, those that wait for theirs and this one are within the rate. A message with a turn is counted as waiting until
 * it is received. The queue's own turns are given by the claim that takes them, which locks their row before anything else.
 */

import type { Parameter, Row, Session, StatementAnswer, Tx } from '../../../database/engine'
import { anyOf } from '../../chunks'
import type { PollFacts } from '../../reminders'
import type { QueueHead, Rate } from '../heads'
import { NamedRows } from '../named-rows'

/** The receives of a greater rate are logged together, at the end of their part of the span. */
const MAX_PIECES = 50
const RADIX = 36
/** The queue's own turns: no group has an empty name. */
export const OWN = ''

/** The columns, without the limit. */
interface TurnsRow {
  waiting: number
  receives: string
  heldUntilMs: number
  /** When they were read. */
  nowMs: number
}

export class Turns {
  /** The messages that have a turn and are not received yet. */
  waiting: number
  /** Before, nothing of the group is handed out. */
  readonly heldUntilMs: number
  readonly nowMs: number
  readonly #rate: Rate
  #receives: { atMs: number; count: number }[]

  constructor(rate: Rate, { waiting, receives, heldUntilMs, nowMs }: TurnsRow) {
    this.nowMs = nowMs
    this.#rate = rate
    this.waiting = waiting
    this.heldUntilMs = heldUntilMs
    this.#receives = receives.split(',').flatMap((piece) => {
      const [at, count] = piece.split(':').map((part) => Number.parseInt(part, RADIX))
      return at === undefined || count === undefined ? [] : [{ atMs: at, count }]
    })
  }

  get #spanMs(): number {
    return this.#rate.perSeconds * 1000
  }

  get #counting() {
    return this.#receives.filter(({ atMs }) => atMs + this.#spanMs >= this.nowMs)
  }

  /** How many more may be received now. */
  get free(): number {
    const counting = this.#counting
    return this.#rate.messages - this.waiting - counting.reduce((sum, { count }) => sum + count, 0)
  }

  /** When one more may be received; 0 for at once, null while as many wait. */
  get nextMs(): number | null {
    const most = this.#rate.messages - this.waiting - 1
    if (most < 0) return null
    let counting = this.#receives.reduce((sum, { count }) => sum + count, 0)
    let nextMs = 0
    for (const { atMs, count } of this.#receives) {
      if (counting <= most) break
      counting -= count
      nextMs = atMs + this.#spanMs + 1
    }
    return nextMs
  }

  received(atMs: number, count: number): void {
    const step = this.#rate.messages > MAX_PIECES ? Math.ceil(this.#spanMs / MAX_PIECES) : 1
    const endMs = Math.ceil(atMs / step) * step
    const same = this.#receives.find((piece) => piece.atMs === endMs)
    if (same) same.count += count
    else this.#receives.push({ atMs: endMs, count })
    this.#receives.sort((a, b) => a.atMs - b.atMs)
  }

  /** Receives that count no more are left out. */
  columns(): Pick<TurnsRow, 'receives'> & { keptUntilMs: number } {
    const kept = this.#counting
    const receives = kept.map(({ atMs, count }) => `${atMs.toString(RADIX)}:${count.toString(RADIX)}`).join(',')
    return { receives, keptUntilMs: Math.max(this.heldUntilMs, (kept.at(-1)?.atMs ?? 0) + this.#spanMs) }
  }
}

/** When the turn of a message comes, and how long that is from now. */
export interface Turn {
  atMs: number
  inMs: number
}

interface NamedTurns {
  head: QueueHead
  group: string
}

/** Of groups: their rows in recentn_queue_message_groups are locked already. */
export const TURNS = new NamedRows<{ head: Pick<QueueHead, 'id'>; group: string }>(
  'queueTurns',
  'message_group',
  { limit_id: 0, waiting: 0, receives: '', held_until_ms: 0, kept_until_ms: 0 },
  ({ head, group }) => [head.id, group],
)

const rateOf = ({ head, group }: NamedTurns) => (group === OWN ? head.rateLimit : head.groupRateLimit) as Rate

export async function lockTurns<Named extends NamedTurns>(tx: Tx, all: readonly Named[]): Promise<Map<Named, Turns>> {
  const turns = new Map<Named, Turns>()
  for (const chunk of TURNS.chunks(all)) {
    const columns = `limit_id, waiting, receives, held_until_ms, ${tx.now} AS now_ms`
    const select = TURNS.select(tx, chunk, columns, tx.engine.forUpdate)
    const [, locked] = (await tx.together([TURNS.make(tx, chunk), select])) as [unknown, StatementAnswer]
    const found = new Map(locked.rows.map((row) => [TURNS.keyIn(row), row]))
    for (const one of chunk) {
      const row = found.get(TURNS.keyOf(one))
      const isCurrent = Number(row?.limit_id) === one.head.groupLimitId
      const given = {
        waiting: isCurrent ? Number(row?.waiting) : 0,
        receives: String(row?.receives ?? ''),
        heldUntilMs: Number(row?.held_until_ms),
        nowMs: Number(row?.now_ms),
      }
      turns.set(one, new Turns(rateOf(one), given))
    }
  }
  return turns
}

/** Writes them back. Those of the queue itself say when the next one is, where it is not now. */
export async function saveTurns(tx: Tx, turns: ReadonlyMap<NamedTurns, Turns>): Promise<void> {
  const all = [...turns].map(([{ head, group }, one]) => ({ head, group, one }))
  await TURNS.save(tx, all, ({ head, group, one }) => {
    const { receives, keptUntilMs } = one.columns()
    const heldUntilMs = group === OWN ? (one.nextMs ?? 0) : one.heldUntilMs
    return [head.groupLimitId, one.waiting, receives, heldUntilMs, keptUntilMs]
  })
}

const SWEPT = 200

/** Those that say nothing any more. */
export const oldTurnsSql = ({ tables, now }: PollFacts, what: string) =>
  `SELECT ${what} FROM ${tables.queueTurns} WHERE kept_until_ms <= ${now} AND waiting = 0`

/** Removes them; resolves to whether there may be more. */
export async function sweepTurns(session: Session): Promise<boolean> {
  const old = await session.read((reader) => {
    const columns = `${reader.engine.bigint('queue_id')} AS queue_id, message_group, ${reader.now} AS now_ms`
    return reader.rows(`${oldTurnsSql(reader, columns)} LIMIT ${SWEPT}`)
  })
  if (old.length === 0) return false
  // One by one: a row that is written again until then stays.
  const isOld = '(queue_id = ? AND message_group = ? AND kept_until_ms <= ? AND waiting = 0)'
  const valuesOf = (row: Row) => [row.queue_id, row.message_group, Number(row.now_ms)] as Parameter[]
  const { sql, parameters } = anyOf(old, isOld, valuesOf)
  await session.write((tx) => tx.later(`DELETE FROM ${tx.tables.queueTurns} WHERE ${sql}`, parameters))
  return old.length >= SWEPT
}

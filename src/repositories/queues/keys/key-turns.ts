/**
 * The ends of messages with keys. When one ends, or would wait again, the one that waits behind it has its turn. One that would wait while a newer one does gives way: it is superseded, and removed.
 */
import type { Reader, Session, Tx } from '../../../database/engine'
import { groupedBy } from '../../chunks'
import { changePlaces, type GivenPlaces, type MessageMove, makeNextReady, moveOf } from '../groups/places'
import { holdHead, type QueueHead, type ReadHead, readHeadById } from '../heads'
import type { QueueMemory } from '../memory'
import { removeRows } from '../removal'
import { BEHIND, STATE } from '../rows'
import { NO_RECEIPT, type Receipt } from '../settle/receipts'
import { holdWithMessages, type LockedRow, lockHeld, makeReady, type NotReady, updateRows } from '../settle/transitions'
import {
  heldKey,
  type KeyName,
  keysBefore,
  type LockedKey,
  type LockedKeys,
  lockFreeKeys,
  lockKeys,
  nameOfKey,
  saveKeys,
} from './key-locks'

export const NO_KEYS: LockedKeys = new Map()

interface Turned {
  head: QueueHead
  row: LockedRow
}

/** The changes of one transaction, which has locked the keys. First all messages are named, then their places change, then `finish`. */
export class KeyTurns {
  readonly #changed = new Set<LockedKey>()
  readonly #superseded: (Turned & { from: QueueHead })[] = []
  readonly #released: Turned[] = []
  readonly #behind: Turned[] = []

  constructor(private readonly keys: LockedKeys) {}

  /** The messages are done, dead or removed. */
  end(head: QueueHead, rows: readonly LockedRow[]): void {
    for (const row of rows) {
      const key = this.#keyOf(head, heldKey(row))
      if (key !== null) this.#leave(key, row)
    }
  }

  /**
   * The messages would wait in the queue `head`: those that do. The others are superseded, or wait behind one in flight. `from`:
   * where they are; dead ones come back with their keys.
   */
  again(head: QueueHead, rows: readonly LockedRow[], from = head): LockedRow[] {
    const isBack = (row: LockedRow) => from !== head || row.state === STATE.dead
    return rows.filter((row) => {
      const key = this.#keyOf(head, isBack(row) ? row.messageKey : heldKey(row))
      if (key === null) return true
      if (key.inFlight?.id === row.id) this.#leave(key, row)
      if (key.waiting !== null && key.waiting.id !== row.id) {
        this.#superseded.push({ head, row, from })
        return false
      }
      if (key.waiting === null) this.#changed.add(key)
      key.waiting = row
      if (key.inFlight === null) return true
      this.#behind.push({ head, row })
      return false
    })
  }

  #keyOf(head: QueueHead, key: string | null): LockedKey | null {
    return key === null ? null : (this.keys.get(nameOfKey(head, key)) ?? null)
  }

  #leave(key: LockedKey, row: LockedRow): void {
    if (key.waiting?.id === row.id) key.waiting = null
    else if (key.inFlight?.id === row.id) {
      key.inFlight = null
      this.#release(key)
    } else return
    this.#changed.add(key)
  }

  #release({ head, waiting }: LockedKey): void {
    if (waiting?.state === STATE.blocked && waiting.isBehind) this.#released.push({ head, row: waiting })
  }

  /** Those that wait behind a message that ended without these locks have their turn. */
  releaseOverdue(): void {
    for (const key of this.keys.values()) {
      if (key.inFlight !== null) continue
      this.#release(key)
      this.#changed.add(key)
    }
  }

  /** How the places of groups change with this. */
  moves(nowMs: number): MessageMove[] {
    return [
      ...this.#superseded.map(({ row, from }) => moveOf(row, from, null)),
      ...this.#released.filter(({ row }) => row.visibleAtMs <= nowMs).map(({ head, row }) => moveOf(row, head, head)),
    ]
  }

  /** The messages that become ready. */
  get released(): readonly LockedRow[] {
    return this.#released.map(({ row }) => row)
  }

  /** `back`: what is set in messages that come back, and wait behind another. */
  async finish(tx: Tx, memory: QueueMemory, nowMs: number, given: NotReady, back = ''): Promise<void> {
    const superseded = this.#superseded.map(({ row }) => row)
    await removeRows(tx, superseded, tx.tables.queueMessages)
    if (superseded.length > 0) tx.afterCommit(memory.counting('messagesSuperseded', superseded.length))
    for (const [head, rows] of byHead(this.#behind)) {
      const place = `queue_id = ${head.id}, state = ${STATE.blocked}, sort_major = ${BEHIND.major}, sort_minor = ${BEHIND.minor}`
      await updateRows(tx, `${place}, cycle_queue_id = 0, group_place = NULL, receipt = '${NO_RECEIPT}'${back}`, rows)
    }
    for (const [head, rows] of byHead(this.#released)) {
      const later = rows.filter(({ visibleAtMs }) => visibleAtMs > nowMs)
      await updateRows(tx, `state = ${STATE.delayed}, sort_major = visible_at_ms, sort_minor = 0`, later)
      const waits = later.map(({ visibleAtMs }) => visibleAtMs - nowMs)
      await memory.reminders.remindFirst(tx, head.id, waits)
      const ready = rows.filter((row) => !later.includes(row))
      await makeReady(tx, head, ready, '', memory, given)
    }
    const changed = [...this.#changed].map(({ head, key, waiting, inFlight }) => {
      const aheadId = waiting === null ? 0n : (inFlight?.id ?? 0n)
      return { head, key, messageId: waiting?.id ?? inFlight?.id ?? 0n, aheadId }
    })
    await saveKeys(tx, changed)
  }
}

function byHead(turned: readonly Turned[]): Map<QueueHead, LockedRow[]> {
  const groups = groupedBy(turned, ({ head }) => head)
  return new Map([...groups].map(([head, some]) => [head, some.map(({ row }) => row)]))
}

/**
 * Moves messages, and writes by `work` what becomes of them. The places of groups that become free go to the next ones, as do the
 * turns of keys. `back`: as in `finish`.
 */
export async function moving(
  tx: Tx,
  memory: QueueMemory,
  { nowMs, turns, back }: { nowMs: number; turns: KeyTurns; back?: string },
  moves: readonly MessageMove[],
  work: (given: GivenPlaces) => Promise<unknown>,
): Promise<void> {
  const given = await changePlaces(tx, [...moves, ...turns.moves(nowMs)])
  await work(given)
  await turns.finish(tx, memory, nowMs, given, back)
  await makeNextReady(tx, given, memory)
}

interface HeldWithKeys extends ReadHead {
  rows: LockedRow[]
  turns: KeyTurns
}

/** The queue's head, held, the messages that the receipts hold in it, and their keys, locked. Throws `queue_not_found`. */
export async function holdWithKeys(
  tx: Tx,
  memory: QueueMemory,
  queue: string,
  receipts: readonly Receipt[],
): Promise<HeldWithKeys> {
  if (memory.seen(queue)?.isKeyed !== true) {
    const held = await holdWithMessages(tx, queue, receipts)
    const { head, rows } = held
    return { ...held, turns: head.isKeyed ? await turnsOf(tx, head, rows, NO_KEYS) : new KeyTurns(NO_KEYS) }
  }
  const { head, nowMs } = await holdHead(tx, queue)
  const ids = receipts.map(({ id }) => id)
  const keys = await lockKeys(tx, await keysBefore(tx, head, ids))
  const rows = await lockHeld(tx, head.id, receipts)
  return { head, nowMs, rows, turns: await turnsOf(tx, head, rows, keys) }
}

/** With the keys that were not seen before: in an old snapshot, or because the queue's first key was new. */
async function turnsOf(tx: Tx, head: QueueHead, rows: readonly LockedRow[], known: LockedKeys): Promise<KeyTurns> {
  const missing = namesOf(head, rows).filter(({ key }) => !known.has(nameOfKey(head, key)))
  return new KeyTurns(missing.length === 0 ? known : new Map([...known, ...(await lockKeys(tx, missing))]))
}

/** The keys that the messages of the queue hold. */
export function namesOf(head: QueueHead, rows: readonly LockedRow[]): KeyName[] {
  return rows.flatMap((row) => {
    const key = heldKey(row)
    return key === null ? [] : [{ head, key }]
  })
}

const PAGE = 200
const { ready, inFlight, delayed, blocked } = STATE

/** Messages that wait behind one that is gone: a process of a schema without keys has acknowledged it. Found by the claims index. `which`: SQL of the queues, by their ids. */
export function selectOverdueSql({ engine, tables }: Pick<Reader, 'engine' | 'tables'>, which: string): string {
  const { queues, queueMessages: messages, queueKeys: keys } = tables
  const ahead =
    `SELECT 1 FROM ${keys} JOIN ${messages} ahead ON ahead.id = ahead_id AND ahead.queue_id = ${keys}.queue_id ` +
    `AND ahead.state IN (${ready}, ${inFlight}, ${delayed}) ` +
    `WHERE ${keys}.queue_id = behind.queue_id AND ${keys}.message_key = behind.message_key`
  return (
    `SELECT ${engine.bigint(`${queues}.id`)} AS id, behind.message_key AS message_key FROM ${queues} ` +
    `${engine.joinNext} ${messages} behind${engine.useIndex(tables.index.messagesClaim)} ON behind.queue_id = ${queues}.id ` +
    `AND behind.state = ${blocked} AND behind.sort_major = ${BEHIND.major} AND behind.sort_minor = ${BEHIND.minor} ` +
    `WHERE ${queues}.keyed = 1 AND ${queues}.id ${which} AND NOT EXISTS (${ahead}) LIMIT ${PAGE}`
  )
}

/** Has them handed out. It reads all messages of these queues that wait behind others, so call it seldom. */
export async function releaseOverdue(session: Session, memory: QueueMemory, which: string): Promise<void> {
  const found = await session.read((reader) => reader.rows(selectOverdueSql(reader, which)))
  for (const [id, some] of groupedBy(found, (row) => String(row.id))) {
    const release = async (tx: Tx) => {
      const head = await readHeadById(tx, BigInt(id), tx.engine.forShare)
      if (head === null) return
      const names = some.map(({ message_key }) => ({ head, key: message_key as string }))
      const turns = new KeyTurns(await lockFreeKeys(tx, names))
      turns.releaseOverdue()
      await moving(tx, memory, { nowMs: head.readAtMs, turns }, [], async () => {})
    }
    // A key that another transaction has locked is found again.
    await session.write(release, { arrived: async () => false, retryMs: 0 })
  }
}

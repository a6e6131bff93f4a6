/**
 * The dead messages that a queue holds: its own, and dead letters of other queues. Which of them a call chooses, how many they
 * are, and going through them in small transactions.
 *
 * Invariant: what is done to a message is done under its lock, and only if it is still chosen then.
 */
import type { Reader, Row, Session, Tx } from '../../../database/engine'
import { rowsAmong } from '../../chunks'
import { holdHead, lastMessageId, type QueueHead, type ReadHead, requireHead } from '../heads'
import { type MessagePlace, pageAfter, pagesOf } from '../pages'
import { MAX_IDS } from '../rows'
import { type LockedRow, lockChosen } from '../settle/transitions'
import { chosenColumns, type DeadChoice, type DeadRange, deadRanges, IS_DEAD, isChosen } from './dead-choice'

const BATCH = 200
/** Messages that are only counted, in one statement. */
const COUNTED = 2000

type DeadWork = (tx: Tx, held: ReadHead, rows: readonly LockedRow[]) => Promise<number>

/**
 * Does the work with the chosen dead messages, in the order of the claims. Resolves to the sum of what the work resolved to.
 * Messages that die during the call are left.
 */
export async function withDead(
  session: Session,
  queue: string,
  choice: DeadChoice,
  work: DeadWork,
  ranges?: readonly DeadRange[],
): Promise<number> {
  const { ids, limit } = choice
  if (ids !== null) return session.write((tx) => workOn(tx, queue, ids, choice, work, limit, tx.engine.forUpdate))
  return session.whole(async (whole) => {
    const { head, bound } = await whole.read(async (reader) => {
      const head = await requireHead(reader, queue)
      return { head, bound: boundOf(await lastMessageId(reader), head.readAtMs) }
    })
    let done = 0
    for (const range of deadRanges(head, ranges)) {
      if (done >= limit) break
      const read = (after: MessagePlace | null) =>
        whole.read((reader) => pageOf(reader, head, range, bound, BATCH, after))
      for await (const rows of pagesOf(read)) {
        const found = rows.filter((row) => isChosen(row, queue, choice)).map(({ id }) => BigInt(id as string))
        if (found.length > 0)
          done += await whole.write((tx) => workOn(tx, queue, found, choice, work, limit - done, tx.engine.forNext))
        if (done >= limit) break
      }
    }
    return done
  })
}

/** SQL: a message that was there, and dead, when the walk began. */
const boundOf = (last: bigint, nowMs: number) => ` AND id <= ${last} AND COALESCE(dead_at_ms, 0) <= ${nowMs}`

function pageOf(
  reader: Reader,
  { id }: QueueHead,
  { state, where }: DeadRange,
  bound: string,
  limit: number,
  after: MessagePlace | null,
): Promise<Row[]> {
  const range = { columns: chosenColumns(reader), queueId: id, state, where: where + bound, lock: '', limit }
  return pageAfter(reader, range, after)
}

/** Locks those of the messages that are chosen still, and does the work with up to `most` of them, in the order given. */
async function workOn(
  tx: Tx,
  queue: string,
  ids: readonly bigint[],
  choice: DeadChoice,
  work: DeadWork,
  most: number,
  lock: string,
): Promise<number> {
  const held = await holdHead(tx, queue)
  const locked = new Map((await lockChosen(tx, held.head, ids, IS_DEAD, lock)).map((row) => [row.id, row]))
  const kept = await stillChosen(tx, queue, [...locked.keys()], choice)
  const rows = [...new Set(ids)].flatMap((id) => (kept.has(id) ? (locked.get(id) ?? []) : []))
  return rows.length === 0 ? 0 : work(tx, held, rows.slice(0, most))
}

async function stillChosen(tx: Tx, queue: string, ids: readonly bigint[], choice: DeadChoice): Promise<Set<bigint>> {
  const { error, from, prefix } = choice
  if (error === null && from === null && prefix === '') return new Set(ids)
  const select = `SELECT ${chosenColumns(tx)} FROM ${tx.tables.queueMessages} WHERE id IN`
  const rows = await rowsAmong(tx, ids, MAX_IDS, (some) => `${select} ${some}${tx.engine.forUpdate}`)
  return new Set(rows.filter((row) => isChosen(row, queue, choice)).map(({ id }) => BigInt(id as string)))
}

/** How many dead messages are chosen now. `mayCount`: whether one counts. */
export async function countDead(
  session: Session,
  queue: string,
  choice: DeadChoice,
  mayCount: (message: { state: number; isGone: boolean }) => boolean = () => true,
): Promise<number> {
  const head = await session.read((reader) => requireHead(reader, queue))
  const isGone = (row: Row) => Number(row.is_own) !== 1 && row.died_in === null
  const counted = (rows: readonly Row[], state: number) =>
    rows.filter((row) => isChosen(row, queue, choice) && mayCount({ state, isGone: isGone(row) })).length
  const { ids } = choice
  if (ids !== null) {
    const rows = await session.read((reader) => {
      const select = `SELECT state, ${chosenColumns(reader)} FROM ${reader.tables.queueMessages} WHERE queue_id = ? AND ${IS_DEAD}`
      return rowsAmong(reader, ids, MAX_IDS, (some) => `${select} AND id IN ${some}`, { before: [head.id] })
    })
    const all = rows.reduce((sum, row) => sum + counted([row], Number(row.state)), 0)
    return Math.min(choice.limit, all)
  }
  let found = 0
  for (const range of deadRanges(head)) {
    if (found >= choice.limit) break
    const read = (after: MessagePlace | null) =>
      session.read((reader) => pageOf(reader, head, range, '', COUNTED, after))
    for await (const rows of pagesOf(read)) {
      found += counted(rows, range.state)
      if (found >= choice.limit) break
    }
  }
  return Math.min(choice.limit, found)
}

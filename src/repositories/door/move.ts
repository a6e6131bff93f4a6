/**
 * One transaction that moves rows of a table of the door: each is sent or appended, and deleted. A row that is refused stays, with
 * the reason.
 *
 * Invariant: a transaction that moves rows of a table holds the table's lock, a row of `recentn_sequences`, to its end. It moves
 * those of one queue or group by their ids, all that were committed when they were looked for: none whose turn has come is
 * passed over. So a writer's rows keep their order: each has a greater id than those that the writer has committed before.
 * It waits for no writer: it locks only rows that were seen, by their ids.
 *
 * Order of the locks: the table's, its rows, then those of a send or an append.
 */
import type { Reader, Row, Tx } from '../../database/engine'
import { keptError } from '../../fields/queues'
import { RecentnError } from '../../shared/errors'
import { rowsAmong } from '../chunks'
import { makeSequence, readSequence, setSequence } from '../sequences'
import type { Door } from './doors'

/** The fate of a row, as the column `stuck` has it. */
export const STUCK = { not: 0, forNow: 1, refused: 2 } as const

/** With some hundreds of ids in a statement a server may scan the whole table, and wait for a writer. */
const MAX_IDS = 100

export interface SeenRow {
  id: bigint
  /** Its queue or group. */
  key: unknown
  /** The length of its texts. */
  units: number
}

/** The results of a transaction's rows; a failure leaves behind as much as is known. */
export interface MoveTry {
  /** Whether it had the table's lock, which another process may have. */
  isLocked: boolean
  requests: readonly { key: unknown; request: unknown }[]
}

export interface Moved {
  count: number
  /** Queues and groups whose rows wait. */
  waiting: ReadonlySet<unknown>
}

interface Mark {
  id: bigint
  stuck: number
  error: string
}

/** Moves those of the rows that can be moved; null where another transaction has the table's lock. */
export async function moveRows(tx: Tx, door: Door, seen: readonly SeenRow[], tried: MoveTry): Promise<Moved | null> {
  const value = await lockTable(tx, door)
  tried.isLocked = value !== null
  if (value === null) return null
  const rows = await lockRows(tx, door, seen)
  const marks: Mark[] = []
  const waiting = new Set<unknown>()
  const judged: { id: bigint; key: unknown; request: unknown }[] = []
  for (const { id, key } of seen) {
    const row = rows.get(id)
    // A transaction is changing it, or it is gone: those behind it wait.
    if (row === undefined) waiting.add(key)
    if (row === undefined || waiting.has(key) || Number(row.stuck) === STUCK.refused) continue
    try {
      judged.push({ id, key, request: door.requestOf(row) })
    } catch (error) {
      marks.push({ id, stuck: STUCK.refused, error: keptError(error) })
    }
  }
  tried.requests = judged
  const requests = judged.map(({ request }) => request)
  const outcomes = requests.length === 0 ? [] : await door.run(tx, requests)
  const moved: bigint[] = []
  for (const [index, { id, key }] of judged.entries()) {
    const outcome = outcomes[index]
    if (!(outcome instanceof RecentnError)) moved.push(id)
    else {
      if (outcome.code === 'queue_full') waiting.add(key)
      marks.push({ id, stuck: stuckBy(outcome), error: keptError(outcome) })
    }
  }
  // Row by row: by a list of ids a server may scan a small table, and wait for writers. On our own connections all go together.
  for (const id of moved) await tx.later(`DELETE FROM ${tx.tables[door.table]} WHERE id = ?`, [id])
  const changed = marks.filter((one) => isNew(rows.get(one.id) as Row, one))
  await mark(tx, door, changed)
  // On a Galera node this change is the lock: two nodes cannot both commit it.
  await setSequence(tx, 'door', door.table, { value: value + BigInt(moved.length) })
  return { count: moved.length, waiting }
}

/** A row that fails by itself: for now, unless it is one that calls are refused for. */
export async function refuseRow(tx: Tx, door: Door, id: bigint, error: unknown): Promise<void> {
  const stuck = error instanceof RecentnError ? stuckBy(error) : STUCK.forNow
  await mark(tx, door, [{ id, stuck, error: keptError(error) }])
}

/** How many rows were ever moved; null where another transaction has the lock. */
async function lockTable(tx: Tx, { table }: Door): Promise<bigint | null> {
  const held = await readSequence(tx, 'door', table, tx.engine.forNext)
  if (held !== null) return held.value
  if ((await readSequence(tx, 'door', table)) !== null) return null
  await makeSequence(tx, 'door', table)
  return (await readSequence(tx, 'door', table, tx.engine.forUpdate))?.value ?? null
}

/** Without those that a transaction is changing. */
async function lockRows(tx: Tx, door: Door, seen: readonly SeenRow[]): Promise<Map<bigint, Row>> {
  const { engine } = tx
  const ids = seen.map(({ id }) => id)
  const select =
    `SELECT ${engine.bigint('id')} AS id, ${door.key}, stuck, error, ${door.columns(engine)} ` +
    `FROM ${tx.tables[door.table]}${engine.useIndex('PRIMARY')} WHERE id IN`
  const rows = await rowsAmong(tx, ids, MAX_IDS, (some) => `${select} ${some}${engine.forNext}`)
  return new Map(rows.map((row) => [BigInt(row.id as string), row]))
}

async function mark(tx: Tx, door: Door, marks: readonly Mark[]): Promise<void> {
  const sql = `UPDATE ${tx.tables[door.table]} SET stuck = ?, error = ? WHERE id = ?`
  for (const { id, stuck, error } of marks) await tx.later(sql, [stuck, error, id])
}

function stuckBy({ code }: RecentnError): number {
  if (code === 'queue_full') return STUCK.not
  return code === 'queue_not_found' ? STUCK.forNow : STUCK.refused
}

const isNew = (row: Row, { stuck, error }: Mark): boolean => Number(row.stuck) !== stuck || row.error !== error

interface DoorCounts {
  waiting: number
  /** Rows that stay until they are changed, or their queue is made. */
  stuck: number
}

export type DoorTotals = Record<Door['table'], DoorCounts>

/** How many rows are in the tables, counted along their indexes. */
export async function doorTotals(reader: Reader): Promise<DoorTotals> {
  return {
    sends: await countRows(reader, 'sends', 'sendsWaiting'),
    appends: await countRows(reader, 'appends', 'appendsWaiting'),
  }
}

async function countRows(
  { engine, tables, rows }: Reader,
  table: Door['table'],
  index: Door['index'],
): Promise<DoorCounts> {
  const [row] = await rows(
    `SELECT COUNT(*) AS counted, COALESCE(SUM(CASE WHEN stuck = ${STUCK.not} THEN 1 ELSE 0 END), 0) AS waiting ` +
      `FROM ${tables[table]}${engine.useIndex(tables.index[index])}`,
  )
  const waiting = Number(row?.waiting)
  return { waiting, stuck: Number(row?.counted) - waiting }
}

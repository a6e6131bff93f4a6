/**
 * Writes the history of all queues: each process adds what it did in the step that has ended, and one process counts the
 * messages. Nothing here locks a queue or a message.
 *
 * Invariant: one process counts at a time (the row of the step 0 is taken by one UPDATE). Counting takes a small part of the time,
 * whichever process does it.
 */
import type { Parameter, Reader, Session, Tx } from '../../../database/engine'
import { performance } from '../../../shared/platform'
import { chunksOf, groupedBy } from '../../chunks'
import { diedIn, readLetters } from '../dead/deaths'
import type { QueueMemory } from '../memory'
import { MAX_IDS, STATE } from '../rows'
import { oldestIn, readStates } from '../troubles'
import { ALL_QUEUES, COUNTS, GAUGES, type HistoryRing, KEY, lastAt, RINGS, slotOf, type Traffic } from './read'

const { hour: FINE, week: COARSE } = RINGS
const STEP_MS = FINE.stepSeconds * 1000
/** At most one part in this many of the time goes into counting. */
const SHARE = 20
const ROWS = 500
/** SQL: the row by which one process counts at a time. */
const IS_TURN = `step_seconds = 0 AND slot = 0 AND queue_id = ${ALL_QUEUES}`

/** One round, shortly after the end of a step. Resolves to when the next step ends, in milliseconds from now. */
export async function recordHistory(session: Session, memory: QueueMemory): Promise<number> {
  const { nowMs, isAny, nextMs } = await session.read(readClock)
  const atMs = lastAt(nowMs, FINE)
  await recordTraffic(session, memory, atMs)
  if (isAny && nextMs <= atMs && (await isClaimed(session, atMs))) await countAll(session, memory, atMs, nowMs)
  return atMs + STEP_MS - nowMs
}

/** Adds the numbers of this process since the last time. If it is not known whether they were written, they count as written. */
async function recordTraffic(session: Session, memory: QueueMemory, atMs: number): Promise<void> {
  const taken = memory.traffic?.take()
  if (taken === undefined || taken.size === 0) return
  try {
    await session.write((tx) => addTraffic(tx, taken, atMs), { arrived: async () => true, retryMs: 0 })
  } catch (error) {
    memory.traffic?.giveBack(taken)
    throw error
  }
}

/** The rest, before the store is closed: it belongs to the step that has not ended. */
export async function recordRest(tx: Tx, { traffic }: QueueMemory): Promise<void> {
  if (traffic?.isEmpty !== false) return
  const { nowMs } = await readClock(tx)
  await addTraffic(tx, traffic.take(), lastAt(nowMs, FINE))
}

async function readClock({ rows, now, tables }: Reader) {
  const next = `SELECT at_ms FROM ${tables.queueHistory} WHERE ${IS_TURN}`
  const [row] = await rows(
    `SELECT ${now} AS now_ms, EXISTS (SELECT 1 FROM ${tables.queues}) AS is_any, (${next}) AS next_ms FROM ${tables.schema}`,
  )
  return { nowMs: Number(row?.now_ms), isAny: Number(row?.is_any) === 1, nextMs: Number(row?.next_ms ?? 0) }
}

/** Queues that are gone get no row. */
async function addTraffic(tx: Tx, taken: ReadonlyMap<string, Traffic>, atMs: number): Promise<void> {
  const { engine, tables } = tx
  for (const names of chunksOf([...taken.keys()], MAX_IDS)) {
    const list = engine.list(names)
    const found = await tx.rows(
      `SELECT ${engine.bigint('id')} AS id, queue FROM ${tables.queues} WHERE queue IN (${list.sql}) ORDER BY id`,
      list.parameters,
    )
    const rows = found.map(({ id, queue }) => {
      const { sent, acked, failed } = taken.get(queue as string) as Traffic
      return [...keyOf(atMs, FINE, BigInt(id as string)), sent, acked, failed]
    })
    const same = `at_ms = ${engine.proposed('at_ms')}`
    const sets = [
      ...COUNTS.map((one) => `${one} = ${engine.proposed(one)} + CASE WHEN ${same} THEN ${one} ELSE 0 END`),
      ...GAUGES.map((one) => `${one} = CASE WHEN ${same} THEN ${one} END`),
    ]
    await write(tx, COUNTS, sets, rows)
  }
}

/** Takes the count of this step, unless another process has. */
async function isClaimed(session: Session, atMs: number): Promise<boolean> {
  return session.write(
    async (tx) => {
      const table = tx.tables.queueHistory
      const take = () => tx.run(`UPDATE ${table} SET at_ms = ${atMs + STEP_MS} WHERE ${IS_TURN} AND at_ms <= ${atMs}`)
      if ((await take()) > 0) return true
      const [there] = await tx.rows(`SELECT at_ms FROM ${table} WHERE ${IS_TURN}`)
      if (there !== undefined) return false
      const first = tx.engine.upsert(table, KEY, [...KEY.split(', '), 'at_ms'], ['step_seconds'], [[0, 0, 0, 0]])
      await tx.run(first.sql, first.parameters)
      return (await take()) > 0
    },
    { arrived: async () => false, retryMs: 0 },
  )
}

async function countAll(session: Session, memory: QueueMemory, atMs: number, nowMs: number): Promise<void> {
  const since = performance.now()
  const counted = await session.read((reader) => gaugesOf(reader, nowMs))
  const nextMs = atMs + Math.max(STEP_MS, Math.ceil((performance.now() - since) * SHARE))
  // Nothing of it needs an answer, so that it is one packet.
  const count = async (tx: Tx) => {
    await clear(tx, FINE, atMs)
    const sets = [
      ...COUNTS.map((one) => `${one} = CASE WHEN at_ms = ${tx.engine.proposed('at_ms')} THEN ${one} ELSE 0 END`),
      ...GAUGES.map((one) => `${one} = ${tx.engine.proposed(one)}`),
    ]
    const rows = [...counted].map(([id, gauges]) => [...keyOf(atMs, FINE, id), ...gauges])
    await write(tx, GAUGES, sets, rows)
    await write(tx, [], [], [keyOf(atMs, FINE, ALL_QUEUES)])
    if (nextMs > atMs + STEP_MS) {
      await tx.later(`UPDATE ${tx.tables.queueHistory} SET at_ms = ? WHERE ${IS_TURN}`, [nextMs])
    }
  }
  await session.write(count, { arrived: async () => true, retryMs: 0 })
  const endMs = lastAt(atMs - STEP_MS, COARSE)
  if (memory.traffic?.roundedMs === endMs) return
  await session.write((tx) => roundOff(tx, endMs), { arrived: async () => true, retryMs: 0 })
  if (memory.traffic) memory.traffic.roundedMs = endMs
}

/** Rows of an earlier round of the ring, such as those of queues that were dropped since. */
async function clear(tx: Tx, ring: HistoryRing, atMs: number): Promise<void> {
  await tx.later(`DELETE FROM ${tx.tables.queueHistory} WHERE step_seconds = ? AND slot = ? AND at_ms < ?`, [
    ring.stepSeconds,
    slotOf(atMs, ring),
    atMs,
  ])
}

/** Makes a coarse point of the fine ones of the last coarse step, once all processes have reported them. */
async function roundOff(tx: Tx, endMs: number): Promise<void> {
  const { tables, engine } = tx
  const table = tables.queueHistory
  const [step, slot, queue] = keyOf(endMs, COARSE, ALL_QUEUES)
  const [there] = await tx.rows(
    `SELECT at_ms FROM ${table} WHERE step_seconds = ? AND slot = ? AND queue_id = ? AND at_ms = ?`,
    [step, slot, queue, endMs] as Parameter[],
  )
  if (there !== undefined) return
  await clear(tx, COARSE, endMs)
  const beginMs = endMs - COARSE.stepSeconds * 1000
  const slots = Array.from({ length: COARSE.stepSeconds / FINE.stepSeconds }, (_, n) =>
    slotOf(beginMs + (n + 1) * STEP_MS, FINE),
  )
  const columns = [...COUNTS, ...GAUGES]
  const rounded = columns.map((one) => `${(COUNTS as readonly string[]).includes(one) ? 'SUM' : 'MAX'}(${one})`)
  await tx.later(
    `INSERT INTO ${table} (${KEY}, at_ms, ${columns.join(', ')}) ` +
      `SELECT ${step}, ${slot}, queue_id, ${endMs}, ${rounded.join(', ')} FROM ${table} fine ` +
      `WHERE step_seconds = ${FINE.stepSeconds} AND slot IN (${slots.join(', ')}) AND fine.at_ms > ${beginMs} AND fine.at_ms <= ${endMs} ` +
      // The row of the queue 0 comes with them.
      `GROUP BY queue_id ${engine.onDuplicate(KEY)} at_ms = ${endMs}`,
  )
}

const keyOf = (atMs: number, ring: HistoryRing, id: bigint): Parameter[] => [
  ring.stepSeconds,
  slotOf(atMs, ring),
  id,
  atMs,
]

/** `sets`: in rows that are there. They compare with the time that the row has, which is set last. */
async function write(
  tx: Tx,
  columns: readonly string[],
  sets: readonly string[],
  rows: readonly Parameter[][],
): Promise<void> {
  const { engine, tables } = tx
  const names = [KEY, 'at_ms', ...columns].join(', ')
  const all = [...sets, `at_ms = ${engine.proposed('at_ms')}`].join(', ')
  for (const chunk of chunksOf(rows, ROWS)) {
    const sql = (values: string) =>
      `INSERT INTO ${tables.queueHistory} (${names}) VALUES ${values} ${engine.onDuplicate(KEY)} ${all}`
    await tx.later(engine.insert(sql, chunk))
  }
}

/** The gauges of the queues that have messages, in the order of their ids: one scan of the claims index. */
async function gaugesOf(reader: Reader, nowMs: number): Promise<Map<bigint, Parameter[]>> {
  const byQueue = groupedBy(await readStates(reader), ({ queueId }) => queueId)
  // Only these may have dead letters: not all queues are looked at.
  const letters = await readLetters(reader, [...byQueue.keys()])
  for (const { sourceId } of letters) if (!byQueue.has(sourceId)) byQueue.set(sourceId, [])
  const ids = [...byQueue.keys()].sort((a, b) => (a < b ? -1 : 1))
  return new Map(
    ids.map((id) => {
      const states = byQueue.get(id) ?? []
      const of = (state: number) => states.find((one) => one.state === state)?.messages ?? 0
      const oldestMs = oldestIn(states)
      const age = oldestMs && Math.max(0, Math.floor((nowMs - oldestMs) / 1000))
      const died = diedIn(id, of(STATE.dead), letters)
      return [id, [of(STATE.ready), of(STATE.inFlight), of(STATE.delayed), of(STATE.blocked), died, age]]
    }),
  )
}

/**
 * This store as a receiver of messages: the numbers of its claims begin with its id, and twice a minute it reports for which queues
 * it is there. So a message in flight tells who holds it, and no claim or settlement costs a further write. Of more than 1,000
 * queues those it asked last are reported; the holder of messages in the others is unknown.
 */
import { randomInt } from 'node:crypto'
import { hostname } from 'node:os'
import type { Session, Tx } from '../../../database/engine'
import { performance } from '../../../shared/platform'
import { chunksOf, writeAmong } from '../../chunks'
import { MAX_IDS } from '../rows'

const REPORT_MS = 30_000
/** A receiver that has missed two reports is gone. */
export const GONE_MS = 3 * REPORT_MS
/** No claim lasts longer, unless it is extended: then the queue of the message is reported no more. */
const FORGET_MS = 43_200_000
const KEPT_MS = 86_400_000
const REMOVAL_MS = 3_600_000
/** In place of the time when it asked for messages: its store has closed. */
export const LEFT_AT = 0
/** Queues of one report. */
const MAX_REPORTED = 1000

/** SQL: the receiver of a claim, by the claim's number. */
export const RECEIVER_OF = 'sort_minor >> 32'
/** Numbers that older processes draw are below 2^48: those of no receiver. */
export const LEAST_RECEIVER = 2 ** 16

interface AskedQueue {
  atMs: number
  /** Messages since the last report, and before it. */
  received: number
  before: number
}

interface ReceiveReport {
  queueId: bigint
  received: number
  /** Since it asked for messages. */
  idleMs: number
}

export class OwnReceiver {
  readonly id = randomInt(LEAST_RECEIVER, 2 ** 31)
  readonly name = `${hostname().slice(0, 160)}:${process.pid}`
  /** Called when it begins to receive from a queue. */
  onBegin = () => {}
  #claims = randomInt(2 ** 32)
  readonly #queues = new Map<bigint, AskedQueue>()
  removedAt = Number.NEGATIVE_INFINITY
  /** The queues of the last report. */
  reported: readonly bigint[] = []

  /** Another one for each claim that may be in flight. */
  newClaimNumber(): bigint {
    this.#claims = (this.#claims + 1) >>> 0
    return (BigInt(this.id) << 32n) | BigInt(this.#claims)
  }

  /** It has asked for messages of the queue, and got this number of them. */
  asked(queueId: bigint, received: number): void {
    const known = this.#queues.get(queueId)
    if (known) {
      known.atMs = performance.now()
      known.received += received
      return
    }
    this.#queues.set(queueId, { atMs: performance.now(), received, before: 0 })
    this.onBegin()
  }

  report(): ReceiveReport[] {
    const now = performance.now()
    const all = [...this.#queues].map(([queueId, asked]) => {
      const received = asked.received + asked.before
      asked.before = asked.received
      asked.received = 0
      if (now - asked.atMs > FORGET_MS) this.#queues.delete(queueId)
      return { queueId, received, idleMs: now - asked.atMs }
    })
    return all.sort((one, other) => one.idleMs - other.idleMs).slice(0, MAX_REPORTED)
  }
}

/** One report. Resolves to when the next one is due, in milliseconds from now; null where there is nothing to report. */
export async function reportReceives(session: Session, receiver: OwnReceiver): Promise<number | null> {
  const reports = receiver.report()
  if (reports.length === 0) return null
  await session.write((tx) => write(tx, receiver, reports), { arrived: async () => true, retryMs: 0 })
  receiver.reported = reports.map(({ queueId }) => queueId)
  if (performance.now() - receiver.removedAt > REMOVAL_MS) {
    await session.write(removeOld, { arrived: async () => true, retryMs: 0 })
    receiver.removedAt = performance.now()
  }
  return REPORT_MS
}

/** Nothing of it needs an answer, so that it is one packet. Queues that are gone get no row. */
async function write(tx: Tx, receiver: OwnReceiver, reports: readonly ReceiveReport[]): Promise<void> {
  const { tables, engine, now } = tx
  const { id, name, reported } = receiver
  for (const chunk of chunksOf(reports, MAX_IDS)) {
    const ids = chunk.map(({ queueId }) => queueId)
    const received = (of: string) =>
      `CASE ${of} ${chunk.map((one) => `WHEN ${one.queueId} THEN ${one.received}`).join(' ')} END`
    const asked = chunk.filter(({ idleMs }) => idleMs < REPORT_MS).map(({ queueId }) => queueId)
    const askedAt =
      asked.length === 0 ? '' : `asked_at_ms = CASE WHEN queue_id IN (${asked}) THEN ${now} ELSE asked_at_ms END, `
    await tx.later(
      `INSERT INTO ${tables.queueReceivers} (queue_id, receiver_id, name, since_ms, seen_at_ms, asked_at_ms, received) ` +
        `SELECT id, ${id}, ?, ${now}, ${now}, ${now}, ${received('id')} FROM ${tables.queues} WHERE id IN (${ids}) ` +
        `${engine.onDuplicate('queue_id, receiver_id')} ${askedAt}seen_at_ms = ${now}, received = ${received('queue_id')}`,
      [name],
    )
  }
  // The row of a queue that is reported no more would say that the receiver is gone.
  const known = new Set(reports.map(({ queueId }) => queueId))
  const left = reported.filter((queueId) => !known.has(queueId))
  const remove = `DELETE FROM ${tables.queueReceivers} WHERE receiver_id = ${id} AND queue_id IN`
  await writeAmong(tx, left, MAX_IDS, (some) => `${remove} ${some}`)
}

/** Before the store closes: it is gone at once. Its rows stay, as they say who holds its messages. */
export function leaveReceiver(tx: Tx, { id, reported }: OwnReceiver): Promise<void> {
  const set = `seen_at_ms = ${tx.now}, asked_at_ms = ${LEFT_AT}`
  const update = `UPDATE ${tx.tables.queueReceivers} SET ${set} WHERE receiver_id = ${id} AND queue_id IN`
  return writeAmong(tx, reported, MAX_IDS, (some) => `${update} ${some}`)
}

/** By their keys: so it waits for no other receiver. */
async function removeOld(tx: Tx): Promise<void> {
  const { engine, tables } = tx
  const old = await tx.rows(
    `SELECT ${engine.bigint('queue_id')} AS queue_id, receiver_id FROM ${tables.queueReceivers} WHERE seen_at_ms < ${tx.now} - ${KEPT_MS} LIMIT 1000`,
  )
  for (const { queue_id: queue, receiver_id: receiver } of old) {
    await tx.later(`DELETE FROM ${tables.queueReceivers} WHERE queue_id = ? AND receiver_id = ?`, [
      BigInt(queue as string),
      Number(receiver),
    ])
  }
}

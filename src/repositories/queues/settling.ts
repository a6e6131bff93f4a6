/**
 * Settling, as operations of their own transactions: what the handles name, what became of each, and what is done when
 * a connection is lost around a commit. Settling twice is told from settling once by the receipts, which are gone then.
 */
import type { WriteOptions } from '../../database/engine'
import type { QueueContext } from './context'
import type { QueueMemory } from './memory'
import { type Receipt, receiptOf } from './rows'
import {
  archiveAll,
  extendAll,
  giveBackAll,
  isSettled,
  lockHeld,
  type Release,
  releaseAll,
  removeAll,
  type Settled,
} from './settle'
import type { FailedReceipt } from './types'

export interface SettleOutcome {
  done: string[]
  failed: FailedReceipt[]
}

/** What the handles name; each handle once, null for what is none of this queue's. */
export function readHandles(
  { session, memory }: Omit<QueueContext, 'onReady'>,
  queue: string,
  handles: readonly string[],
): Promise<Map<string, Receipt | null>> {
  return session.read(async (reader) => {
    const read = (id: bigint) => new Map(handles.map((handle) => [handle, receiptOf(id, handle)]))
    const known = read((await memory.headOf(reader, queue)).id)
    // They may be of a queue that was made anew since.
    return [...known.values()].includes(null) ? read((await memory.refresh(reader, queue)).id) : known
  })
}

export function validOf(receipts: ReadonlyMap<string, Receipt | null>): Receipt[] {
  return [...receipts.values()].filter((receipt) => receipt !== null)
}

export function outcomeOf(receipts: ReadonlyMap<string, Receipt | null>, settled: Settled): SettleOutcome {
  const outcome: SettleOutcome = { done: [], failed: [] }
  for (const [handle, receipt] of receipts) {
    if (receipt !== null && settled.has(receipt.receipt)) outcome.done.push(handle)
    else outcome.failed.push({ receiptHandle: handle, code: receipt === null ? 'invalid_receipt' : 'stale_receipt' })
  }
  return outcome
}

/** Removes or archives what the receipts hold, as the queue says. */
export async function removeHeld(
  { session, memory }: Omit<QueueContext, 'onReady'>,
  queue: string,
  receipts: readonly Receipt[],
): Promise<Settled> {
  const settled: Settled = new Set()
  const unsure = new Set<string>()
  const removed = await session.separately(async (statements) => {
    if (!statements.separate) {
      settled.clear()
      unsure.clear()
    }
    for (;;) {
      const head = await memory.headOf(statements, queue)
      if (head.onDelete === 'archive') return null
      if (await removeAll(statements, head, receipts, { settled, unsure })) return settled
      await memory.refresh(statements, queue)
    }
  })
  if (removed !== null) return removed
  const left = receipts.filter(({ receipt }) => !settled.has(receipt))
  const archived = await session.write((tx) => archiveAll(tx, queue, left), untilSettled(memory, queue, left))
  return new Set([...settled, ...archived])
}

export function releaseHeld(
  { session, memory, onReady }: QueueContext,
  queue: string,
  receipts: readonly Receipt[],
  release: Release,
): Promise<Settled> {
  return session.write((tx) => releaseAll(tx, queue, receipts, release, onReady), untilSettled(memory, queue, receipts))
}

export function giveBackHeld(
  { session, memory, onReady }: QueueContext,
  queue: string,
  receipts: readonly Receipt[],
): Promise<Settled> {
  return session.write((tx) => giveBackAll(tx, queue, receipts, onReady), untilSettled(memory, queue, receipts))
}

export function extendHeld(
  { session, memory }: Omit<QueueContext, 'onReady'>,
  queue: string,
  receipts: readonly Receipt[],
  visibilityMs: number,
): Promise<Settled> {
  return session.write((tx) => extendAll(tx, queue, receipts, visibilityMs), {
    // Extending twice is extending once; but not before the first time has ended.
    arrived: async (tx) => {
      await lockHeld(tx, (await memory.headOf(tx, queue)).id, receipts)
      return false
    },
  })
}

function untilSettled(memory: QueueMemory, queue: string, receipts: readonly Receipt[]): WriteOptions {
  return { arrived: async (tx) => isSettled(tx, (await memory.headOf(tx, queue)).id, receipts) }
}

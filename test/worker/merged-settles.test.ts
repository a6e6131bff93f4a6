import { RecentnError } from '../../src'
import type { Session } from '../../src/database/engine'
import { MergedCalls } from '../../src/kit/merged-calls'
import { QueueMemory } from '../../src/repositories/queues/memory'
import type { Receipt } from '../../src/repositories/queues/settle/receipts'
import {
  MAX_REMOVED,
  type SettledReceipts,
  type SettleRequest,
  settling,
} from '../../src/repositories/queues/settle/settle'

const request = (from: number, count: number): SettleRequest => ({
  queue: 'q',
  receipts: Array.from({ length: count }, (_, n) => ({ id: BigInt(from + n), receipt: `r${from + n}` })),
})

/** Acks as a store merges them; `settle` is what its statements do. */
function mergedAcks(settle: (all: readonly Receipt[]) => Promise<SettledReceipts>) {
  const operation = settling<SettleRequest>(
    ({ queue }) => queue,
    (_session, _memory, { receipts }) => settle(receipts),
  )
  const acks = new MergedCalls<SettleRequest, SettledReceipts>({
    ...operation,
    atOnce: 1,
    maxPendingSize: 100_000,
    run: (requests) => operation.run({} as Session, new QueueMemory(), requests),
  })
  return (from: number, count: number) =>
    new Promise<SettledReceipts>((resolve, reject) => acks.hand(request(from, count), { resolve, reject }))
}

describe('receipts of many callers', () => {
  it('go together no more than one statement deletes: a failure is reported only to the calls that it met', async () => {
    const done = new Set<string>()
    const sizes: number[] = []
    const add = mergedAcks(async (all) => {
      sizes.push(all.length)
      await new Promise(setImmediate)
      // As the statements do it: each by itself, and the third one fails.
      for (let at = 0; at < all.length; at += MAX_REMOVED) {
        if (done.size > MAX_REMOVED && at < MAX_REMOVED * 2) throw new RecentnError('outcome_unknown')
        for (const { receipt } of all.slice(at, at + MAX_REMOVED)) done.add(receipt)
      }
      return new Set(all.map(({ receipt }) => receipt))
    })
    const outcomes = await Promise.allSettled(Array.from({ length: 1200 }, (_, n) => add(n, 1)))
    const reported = outcomes.flatMap((outcome, n) => (outcome.status === 'fulfilled' ? [`r${n}`] : []))
    expect(new Set(reported)).toEqual(done)
    expect(reported.length).toBeGreaterThan(MAX_REMOVED)
    expect(Math.max(...sizes)).toBe(MAX_REMOVED)
  })

  it('of one call are not parted, however many', async () => {
    const sizes: number[] = []
    const add = mergedAcks(async (all) => {
      sizes.push(all.length)
      return new Set(all.map(({ receipt }) => receipt))
    })
    const answers = await Promise.all([add(0, 1), add(1, 1000), add(2000, 3)])
    expect(answers.map(({ size }) => size)).toEqual([1, 1000, 3])
    expect(sizes).toEqual([1, 1000, 3])
  })

  it('that two calls have in common are settled by one statement at a time', async () => {
    const left = new Set(['r0', 'r1', 'r2'])
    let running = 0
    const add = mergedAcks(async (all) => {
      expect(++running).toBe(1)
      const settled = all.map(({ receipt }) => receipt).filter((receipt) => left.delete(receipt))
      await new Promise(setImmediate)
      running--
      return new Set(settled)
    })
    const answers = await Promise.all([add(0, 2), add(1, 2)])
    expect(answers.map((settled) => [...settled])).toEqual([['r0', 'r1'], ['r2']])
  })
})

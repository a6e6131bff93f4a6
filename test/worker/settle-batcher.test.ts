import { RecentnError } from '../../src'
import { MAX_REMOVED, type Receipt } from '../../src/repositories/queues/rows'
import { SettleBatcher } from '../../src/store/settle-batcher'

const receipts = (from: number, count: number): Receipt[] =>
  Array.from({ length: count }, (_, n) => ({ handle: `h${from + n}`, id: BigInt(from + n), receipt: `r${from + n}` }))

describe('receipts of many callers', () => {
  it('go together no more than one statement deletes: a failure is told to those only whom it met', async () => {
    const batcher = new SettleBatcher({ atOnce: 1, maxPending: 100_000 })
    const done = new Set<string>()
    const sizes: number[] = []
    const settle = async (all: readonly Receipt[]) => {
      sizes.push(all.length)
      await new Promise(setImmediate)
      // As the statements do it: each by itself, and the third one fails.
      for (let at = 0; at < all.length; at += MAX_REMOVED) {
        if (done.size > MAX_REMOVED && at < MAX_REMOVED * 2) throw new RecentnError('outcome_unknown')
        for (const { receipt } of all.slice(at, at + MAX_REMOVED)) done.add(receipt)
      }
      return new Set(all.map(({ receipt }) => receipt))
    }
    const calls = Array.from({ length: 1200 }, (_, n) => batcher.add('delete q', receipts(n, 1), settle))
    const outcomes = await Promise.allSettled(calls)
    const told = outcomes.flatMap((outcome, n) => (outcome.status === 'fulfilled' ? [`r${n}`] : []))
    expect(new Set(told)).toEqual(done)
    expect(told.length).toBeGreaterThan(MAX_REMOVED)
    expect(Math.max(...sizes)).toBe(MAX_REMOVED)
  })

  it('of one call are not parted, however many', async () => {
    const batcher = new SettleBatcher({ atOnce: 1, maxPending: 100_000 })
    const sizes: number[] = []
    const settle = async (all: readonly Receipt[]) => {
      sizes.push(all.length)
      return new Set(all.map(({ receipt }) => receipt))
    }
    const answers = await Promise.all([
      batcher.add('delete q', receipts(0, 1), settle),
      batcher.add('delete q', receipts(1, 1000), settle),
      batcher.add('delete q', receipts(2000, 3), settle),
    ])
    expect(answers.map(({ size }) => size)).toEqual([1, 1000, 3])
    expect(sizes).toEqual([1, 1000, 3])
  })
})

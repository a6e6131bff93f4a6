import type { Store } from '../../../src/index'
import type { Sequences } from '../../../src/repositories/sequences'
import { type Context, refusal, sleep } from '../context'
import { byNumber, range } from '../queues/tools'
import { feedTools } from './tools'

const LAST = 2n ** 63n - 1n

export function describeSequences(context: Context): void {
  const sequences = () => context.store.sequences
  const boom = new Error('boom')

  /** The sequence as it is after it has given out `last`. */
  async function usedUpTo(last: bigint): Promise<string> {
    const name = context.unique('s')
    await sequences().next(name)
    await context.store.dataSource.query(`UPDATE recentn_sequences SET value = ${last} WHERE sequence_name = ?`, [name])
    return name
  }

  describe('sequences', () => {
    it('begin with 1, and answer the first of the numbers they give', async () => {
      const [a, b] = [context.unique('s'), context.unique('s')]
      expect(await sequences().next(a)).toBe(1n)
      expect(await sequences().next(a)).toBe(2n)
      expect(await sequences().next(a, 10)).toBe(3n)
      expect(await sequences().next(a, 1)).toBe(13n)
      expect(await sequences().next(b, 1_000_000)).toBe(1n)
      expect(await sequences().next(b)).toBe(1_000_001n)
      expect(await (await context.open()).sequences.next(a)).toBe(14n)
    })

    it('of names that are not the same bytes are others', async () => {
      const base = context.unique('s')
      for (const name of ['a', 'A', 'a ', 'ä', 'a\u0308', '😀']) expect(await sequences().next(base + name)).toBe(1n)
    })

    it('give each caller its own numbers, also of a sequence that is new', async () => {
      const name = context.unique('s')
      const other = await context.open()
      const takes = range(1, 40).map(async (n) => {
        const count = 1 + (n % 7)
        const first = await (n % 2 ? context.store : other).sequences.next(name, count)
        return range(0, count - 1).map((more) => first + BigInt(more))
      })
      const numbers = (await Promise.all(takes)).flat().sort(byNumber)
      expect(numbers).toEqual(range(1, numbers.length).map(BigInt))
    })

    it('in a transaction that is rolled back give the numbers again, and others wait for its end', async () => {
      const name = context.unique('s')
      await sequences().next(name)
      const other = context.engine === 'sqlite' ? context.store : await context.open()
      const numbers: bigint[] = []
      let taken = () => {}
      const isTaken = new Promise<void>((resolve) => {
        taken = resolve
      })
      const failed = context.store.transaction(async (tx) => {
        numbers.push(await tx.sequences.next(name, 5), await tx.sequences.next(name))
        taken()
        await sleep(200)
        throw boom
      })
      const settled = expect(failed).rejects.toBe(boom)
      await isTaken
      const after = other.sequences.next(name)
      await settled
      expect(numbers).toEqual([2n, 7n])
      expect(await after).toBe(2n)
      const within = (store: Store, work: (inner: Sequences) => Promise<bigint>) =>
        store.dataSource.transaction((manager) => work(store.within(manager).sequences))
      expect(await within(context.store, (inner) => inner.next(name, 3))).toBe(3n)
      const begun = context.unique('s')
      const rolledBack = within(context.store, async (inner) => {
        expect(await inner.next(begun)).toBe(1n)
        throw boom
      })
      await expect(rolledBack).rejects.toBe(boom)
      expect(await sequences().next(begun)).toBe(1n)
      expect(await sequences().next(name)).toBe(6n)
    })

    it('end with 2^63 - 1', async () => {
      const name = await usedUpTo(LAST - 5n)
      expect((await refusal(sequences().next(name, 6))).code).toBe('sequence_exhausted')
      expect(await sequences().next(name, 4)).toBe(LAST - 4n)
      expect(await sequences().next(name)).toBe(LAST)
      expect((await refusal(sequences().next(name))).code).toBe('sequence_exhausted')
      expect((await refusal(sequences().next(name, 1_000_000))).code).toBe('sequence_exhausted')
      expect(await sequences().next(await usedUpTo(9_007_199_254_740_991n), 3)).toBe(9_007_199_254_740_992n)
    })

    it('have nothing to do with the feed of the name', async () => {
      const { filled, lastOf, published } = feedTools(context)
      const feed = await filled(['a', 'b'])
      expect(await sequences().next(feed, 100)).toBe(1n)
      await context.store.feeds.put(feed, 'a', 2)
      await published(feed)
      expect(await lastOf(feed)).toBe(3n)
      expect(await sequences().next(feed)).toBe(101n)
    })

    it('refuse what is no name and no count', async () => {
      const name = context.unique('s')
      const wrong: [string, number, string[]][] = [
        ['', 1, ['name']],
        ['x'.repeat(192), 0, ['count', 'name']],
        [name, 1_000_001, ['count']],
        [name, 1.5, ['count']],
        [name, '1' as unknown as number, ['count']],
      ]
      for (const [given, count, parameters] of wrong) {
        const error = await refusal(sequences().next(given, count))
        expect(error.code).toBe('invalid_input')
        expect(error.faults.map(({ parameter }) => parameter).sort()).toEqual(parameters)
      }
      expect(await sequences().next(name)).toBe(1n)
    })
  })
}

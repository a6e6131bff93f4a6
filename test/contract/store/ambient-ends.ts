import type { Transaction } from '../../../src/index'
import { innerOf } from '../../../src/store/inner'
import { moment } from '../../support/timing'
import { type Context, refusal, sleep } from '../context'
import { boom, INSERT, type Joining, until } from './joining'

/** Where transactions end: by themselves, inside of others, and before the calls that were begun inside of them. */
export function describeAmbientEnds(context: Context, joining: Joining): void {
  const { store, source, isNoted, idsIn } = joining

  function describeEnds(): void {
    it('a call that was begun after the end of its transaction is an error, and stores nothing', async () => {
      const group = context.unique()
      const late: Promise<unknown>[] = []
      const over = moment()
      await source().transaction(async () => {
        await store().groups.append(group)
        late.push(refusal(over.reached.then(() => store().groups.append(group))))
        late.push(refusal(over.reached.then(() => store().transaction((tx) => tx.groups.append(group)))))
      })
      over.come()
      for (const error of await Promise.all(late)) expect(error).toMatchObject({ code: 'closed' })
      expect(await idsIn(group)).toBe(1)
    })

    it.each([false, true])(
      'what is left running is stored as a whole or not at all; rolled back: %s',
      async (fails) => {
        const group = context.unique()
        await context.store.groups.append(group)
        for (let turns = 0; turns < 12; turns++) {
          const batch = context.unique()
          let left: Promise<boolean> = Promise.resolve(false)
          const whole = source().transaction(async (manager) => {
            await manager.query(INSERT, [batch])
            left = store()
              .groups.appendMany(Array.from({ length: 3 }, (_, n) => ({ group: `${batch}${n}` })))
              .then(
                () => true,
                () => false,
              )
            for (let turn = 0; turn < turns; turn++) await new Promise(setImmediate)
            if (fails) throw boom
          })
          await whole.catch((error) => expect(error).toBe(boom))
          const isStored = await left
          const counts = await Promise.all([0, 1, 2].map((n) => idsIn(`${batch}${n}`)))
          expect(counts).toEqual(Array(3).fill(isStored && !fails ? 1 : 0))
          expect(await isNoted(batch)).toBe(!fails)
          if (!fails) expect(isStored).toBe(true)
        }
        expect((await context.store.groups.append(group)).id).toBe(1n)
      },
    )

    it('a call that was begun in a savepoint which has ended does not take part in the outer transaction', async () => {
      const group = context.unique()
      await source().transaction(async (manager) => {
        let late: Promise<unknown> = Promise.resolve()
        let isOver = false
        await manager.transaction(async () => {
          await store().groups.append(group)
          late = refusal(until(() => isOver).then(() => store().groups.append(group)))
        })
        isOver = true
        expect(await late).toMatchObject({ code: 'closed' })
        await store().groups.append(group)
      })
      expect(await idsIn(group)).toBe(2)
    })

    it('a transaction of the caller that ends in the callback takes no later call', async () => {
      const group = context.unique()
      const { code } = await source().transaction(async ({ queryRunner }) => {
        await store().groups.append(group)
        await queryRunner?.commitTransaction()
        const error = await refusal(store().groups.append(group))
        await queryRunner?.startTransaction()
        return error
      })
      expect([code, await idsIn(group)]).toEqual(['closed', 1])
    })
  }

  /** `store.transaction` inside of a transaction: a savepoint. */
  function describeInner(begin: (work: () => Promise<unknown>) => Promise<unknown>): void {
    it('is rolled back by itself, with what it was to wake', async () => {
      const group = context.unique()
      const counted = () => innerOf(store()).counts().itemsAppended
      const before = counted()
      await begin(async () => {
        await store().groups.append(group, { payload: 'outer' })
        const failed = store().transaction(async (tx) => {
          await tx.groups.append(group, { payload: 'tx' })
          await store().groups.append(group, { payload: 'store' })
          await tx.manager.query(INSERT, [group])
          throw boom
        })
        await expect(failed).rejects.toBe(boom)
        await store().transaction(async (tx) => {
          await tx.groups.append(group, { payload: 'kept' })
          const inner = store().transaction(async () => {
            await store().groups.append(group, { payload: 'inner' })
            throw boom
          })
          await expect(inner).rejects.toBe(boom)
          await store().transaction(() => store().groups.append(group, { payload: 'kept inside' }))
          await store().groups.append(group, { payload: 'after' })
        })
      })
      const { items } = await context.store.groups.recent(group)
      expect(items.map(({ payload }) => payload)).toEqual(['after', 'kept inside', 'kept', 'outer'])
      expect([counted() - before, await isNoted(group)]).toEqual([4, false])
    })

    it('calls beside it wait for it, and are not rolled back with it', async () => {
      const group = context.unique()
      await begin(() =>
        Promise.allSettled(
          Array.from({ length: 12 }, (_, n) => {
            if (n % 3 === 0) return store().groups.append(group, { payload: n })
            return store().transaction(async (tx) => {
              await tx.groups.append(group, { payload: n })
              await sleep(n % 4)
              await Promise.all([tx.groups.append(group, { payload: n }), store().groups.append(group, { payload: n })])
              if (n % 3 === 1) throw boom
            })
          }),
        ),
      )
      const { items } = await context.store.groups.recent(group, { limit: 100 })
      const payloads = items.map(({ payload }) => Number(payload)).sort((a, b) => a - b)
      // The group keeps ten.
      expect(new Set(payloads).size).toBeGreaterThan(3)
      for (const n of payloads) expect(n % 3).not.toBe(1)
      expect((await context.store.groups.get(group))?.totalAppended).toBe(4n + 4n * 3n)
    })

    it('what it left running is refused, and its end waits for what it has begun', async () => {
      const group = context.unique()
      await begin(async () => {
        let late: Promise<unknown> = Promise.resolve()
        let kept: Transaction | undefined
        let isOver = false
        await store().transaction(async (tx) => {
          kept = tx
          void tx.groups.append(group)
          late = refusal(until(() => isOver).then(() => store().groups.append(group)))
        })
        isOver = true
        expect(await late).toMatchObject({ code: 'closed' })
        expect(await refusal((kept as Transaction).groups.append(group))).toMatchObject({ code: 'closed' })
      })
      expect(await idsIn(group)).toBe(1)
    })
  }

  describe('the end of a transaction that is joined', () => {
    describeEnds()
    describe('store.transaction inside dataSource.transaction', () =>
      describeInner((work) => source().transaction(work)))
    describe('store.transaction inside store.transaction', () => describeInner((work) => store().transaction(work)))

    it('within the manager of the transaction is in the same turns', async () => {
      const group = context.unique()
      await source().transaction((manager) =>
        store().transaction(async () => {
          await store().within(manager).groups.append(group)
          await Promise.all([store().groups.append(group), store().within(manager).groups.append(group)])
          await manager.transaction((inner) => store().within(inner).groups.append(group))
        }),
      )
      expect(await idsIn(group)).toBe(4)
    })
  })
}

import { DataSource, type EntitySubscriberInterface, EventSubscriber } from 'typeorm'
import { attachStore, JsonText, openStore, type Store } from '../../../src/index'
import { moment, stopwatch } from '../../support/timing'
import { type Context, down, idsOf, refusal, userSource } from '../context'
import { statementsOf } from '../statements'
import { answersOf, byId, outcomesOf, refusalsOf, times, up } from './batched'

const LAST = 9_223_372_036_854_775_807n

/** A fault of one append hurts no other append of the same batch. */
export function describeBatchedFaults(context: Context): void {
  const groups = () => context.store.groups

  /** Appends to these groups, which nothing is wrong with, to go side by side with others. */
  const healthy = (store: Store, names: readonly string[], count: number) =>
    times(count, (n) => store.groups.append(names[n % names.length] as string, { member: `m${n}`, payload: n }))

  async function expectDense(store: Store, name: string, count: number): Promise<void> {
    const recent = await store.groups.recent(name, { limit: 10_000 })
    expect([recent.totalAppended, idsOf(recent)]).toEqual([
      BigInt(count),
      down(count - 1, Math.min(count, recent.capacity)),
    ])
  }

  describe('one bad append among many', () => {
    it('that lacks a member fails alone, and takes no number', async () => {
      const prefix = context.unique('d')
      await context.store.policies.put(prefix, { capacity: 500, mode: 'distinct' })
      context.afterwards(() => context.store.policies.drop(prefix))
      const [a, b, plain] = [`${prefix}a`, `${prefix}b`, context.unique()]
      const bad = times(6, () => groups().append(a, { payload: 'no member' }))
      const good = healthy(context.store, [a, b, plain], 90)
      const many = [
        groups().appendMany([{ group: plain }, { group: a, member: 'x' }, { group: b, member: 'x' }, { group: b }]),
        groups().appendMany([{ group: `${prefix}new` }, { group: plain }, { group: `${prefix}new` }]),
        groups().appendMany([{ group: plain, member: 'y' }]),
      ]
      const single = [groups().append(`${prefix}new`), groups().append(`${prefix}newer`, { eventId: 'e' })]
      for (const error of refusalsOf(await outcomesOf([...bad, ...single]))) {
        expect(error).toMatchObject({ code: 'invalid_input', faults: [{ pointer: '/member' }] })
      }
      expect(refusalsOf(await outcomesOf([...bad, ...single]))).toHaveLength(8)
      const [first, second, third] = await outcomesOf(many)
      expect(first).toMatchObject({ code: 'invalid_input', faults: [{ pointer: '/3/member' }] })
      expect(second).toMatchObject({ faults: [{ pointer: '/0/member' }, { pointer: '/2/member' }] })
      expect(third).toMatchObject([{ member: 'y' }])
      expect(refusalsOf(await outcomesOf(good))).toEqual([])
      await expectDense(context.store, a, 30)
      await expectDense(context.store, b, 30)
      expect((await groups().recent(plain)).totalAppended).toBe(31n)
      expect(await groups().get(`${prefix}new`)).toBeNull()
      expect(await groups().get(`${prefix}newer`)).toBeNull()
    })

    it('that nothing but refused requests named a group leaves none', async () => {
      const [group, other] = [context.unique('none'), context.unique('d')]
      await groups().put(other, { mode: 'distinct' })
      const outcomes = await outcomesOf(times(20, () => groups().appendMany([{ group }, { group: other }])))
      expect(refusalsOf(outcomes)).toHaveLength(20)
      expect(await groups().get(group)).toBeNull()
      expect(await groups().recent(other)).toMatchObject({ totalAppended: 0n, items: [] })
      expect((await groups().list({ prefix: group })).groups).toEqual([])
      expect((await groups().append(group)).id).toBe(0n)
    })

    it.each(['history', 'distinct'] as const)('beyond the end of a sequence (%s) fails alone', async (mode) => {
      const [ending, a, b] = [context.unique('end'), context.unique(), context.unique()]
      await groups().put(ending, { mode, capacity: 20 })
      await context.store.dataSource.query(`UPDATE recentn_groups SET last_id = ${LAST - 5n} WHERE group_key = ?`, [
        ending,
      ])
      const one = (n: number) => ({ group: ending, member: `m${n}` })
      const before = groups().appendMany([one(1), one(2)])
      const tooMany = groups().appendMany([...times(6, one), { group: a }])
      const single = times(12, (n) => groups().append(ending, { member: `s${n}` }))
      const others = healthy(context.store, [a, b], 80)
      expect((await before).map(({ id }) => id)).toEqual([LAST - 4n, LAST - 3n])
      expect((await refusal(tooMany)).code).toBe('sequence_exhausted')
      const outcomes = await outcomesOf(single)
      expect(answersOf(outcomes).map(({ id }) => id)).toEqual([LAST - 2n, LAST - 1n, LAST])
      expect(refusalsOf(outcomes).map(({ code }) => code)).toEqual(Array(9).fill('sequence_exhausted'))
      expect(refusalsOf(await outcomesOf(others))).toEqual([])
      for (const group of [a, b]) await expectDense(context.store, group, 40)
      const recent = await groups().recent(ending)
      expect([recent.totalAppended, idsOf(recent)]).toEqual([LAST + 1n, down(LAST, 5)])
    })

    it.each(['history', 'distinct'] as const)(
      'requests beyond the end of a sequence (%s) run by themselves, and leave nothing behind',
      async (mode) => {
        const { store, statements } = await statementsOf(context)
        const [ending, made, ...names] = times(5, () => context.unique()) as [string, string, ...string[]]
        await store.groups.put(ending, { mode, capacity: 20 })
        await store.groups.append(ending, { member: 'first', eventId: 'e', payload: 'first' })
        await store.dataSource.query(`UPDATE recentn_groups SET last_id = ${LAST - 3n} WHERE group_key = ?`, [ending])
        await store.dataSource.query(
          `UPDATE recentn_items SET id = ${LAST - 3n}, slot = ${(LAST - 3n) % 20n} WHERE group_key = ?`,
          [ending],
        )
        await store.groups.appendMany(names.map((group) => ({ group, member: 'm', payload: -1 })))
        const good = (n: number) => ({ group: names[n % 3] as string, member: `m${n}`, payload: n })
        statements.length = 0

        const refused: Promise<unknown>[] = []
        const fine: Promise<{ group: string; id: bigint }>[] = []
        // Three ids are left: too few for each of these, in whatever order it names its groups.
        for (let n = 0; n < 10; n++) {
          const mine = times(4, (at) => ({ group: ending, member: `n${at % 3}`, eventId: `${n}-${at}` }))
          const others = [good(n), { group: made }]
          refused.push(store.groups.appendMany(n % 2 ? [...others, ...mine] : [...mine, ...others]))
        }
        const again = store.groups.appendMany([{ group: ending, member: 'x', eventId: 'e' }, good(0)])
        const last = store.groups.appendMany(times(3, (n) => ({ group: ending, member: `l${n}` })))
        for (let n = 0; n < 60; n++) {
          refused.push(store.groups.append(ending, { member: `r${n}`, eventId: n % 2 ? `r${n}` : null }))
          const { group, ...item } = good(n)
          fine.push(store.groups.append(group, item))
        }
        expect(refusalsOf(await outcomesOf(refused)).map(({ code }) => code)).toEqual(
          Array(70).fill('sequence_exhausted'),
        )
        expect((await last).map(({ id }) => id)).toEqual([LAST - 2n, LAST - 1n, LAST])
        const [known, beside] = await again
        expect(known).toMatchObject({ appended: false, member: 'first', payload: 'first', id: LAST - 3n })
        const items = [beside as { group: string; id: bigint }, ...(await Promise.all(fine))]
        const transactions = statements.filter((sql) => /^(START|BEGIN) TRANSACTION/.test(sql))

        for (const name of names) {
          const mine = byId(items.filter(({ group }) => group === name))
          expect(mine.map(({ id }) => id)).toEqual(up(1, mine.length))
          await expectDense(store, name, mine.length + 1)
        }
        expect(idsOf(await store.groups.recent(ending))).toEqual(down(LAST, 4))
        expect(await store.groups.get(made)).toBeNull()
        // Halving the batches takes at most two for each of the 132 calls, and each then runs alone.
        expect(transactions.length).toBeLessThanOrEqual(3 * 132)
      },
    )

    it('that the database refuses fails alone, whatever it is refused for', async () => {
      const url = await context.emptyDatabase()
      const store = await context.open({ url })
      await store.dataSource.query(
        context.engine === 'sqlite'
          ? "CREATE TRIGGER no_poison BEFORE INSERT ON recentn_items WHEN NEW.member = 'poison' BEGIN SELECT RAISE(ABORT, 'poisoned'); END"
          : "CREATE TRIGGER no_poison BEFORE INSERT ON recentn_items FOR EACH ROW IF NEW.member = 'poison' THEN SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'poisoned'; END IF",
      )
      await store.policies.put('g', { capacity: 1000, mode: 'history' })
      const poisoned: Promise<unknown>[] = []
      const good: Promise<{ id: bigint; group: string }>[] = []
      for (let n = 0; n < 150; n++) {
        const group = `g${n % 4}`
        if (n % 50 === 7) poisoned.push(store.groups.append(group, { member: 'poison' }))
        if (n % 50 === 9) {
          const batch = [{ group }, { group: 'g0' }, { group: 'g-new', member: 'poison' }]
          poisoned.push(store.groups.appendMany(batch))
        }
        good.push(store.groups.append(group, { member: `m${n}`, payload: n }))
      }
      for (const outcome of await Promise.allSettled(poisoned)) {
        expect(outcome).toMatchObject({ status: 'rejected', reason: { message: expect.stringMatching(/poisoned/) } })
      }
      const items = await Promise.all(good)
      expect(poisoned).toHaveLength(6)
      for (const name of ['g0', 'g1', 'g2', 'g3']) {
        const mine = byId(items.filter(({ group }) => group === name))
        expect(mine.map(({ id }) => id)).toEqual(up(0, mine.length))
        await expectDense(store, name, mine.length)
      }
      expect(await store.groups.get('g-new')).toBeNull()
      expect((await store.groups.memberItems('poison')).items).toEqual([])
    })

    it('whose own answer cannot be made fails alone: no item is appended twice', async () => {
      const [broken, group] = [context.unique('broken'), context.unique()]
      const good = healthy(context.store, [group], 10)
      const bad = context.store.groups.append(broken, { payload: new JsonText('{"its maker": "vouched for it') })
      good.push(...healthy(context.store, [group], 10))
      await expect(bad).rejects.toThrow(SyntaxError)
      expect((await Promise.all(good)).map(({ id }) => id)).toEqual(up(0, 20))
      await expectDense(context.store, group, 20)
      expect((await groups().get(broken))?.totalAppended).toBe(1n)
      await groups().drop(broken)
    })

    it('that is committed is not run again, whatever the code of the user makes of a commit', async () => {
      @EventSubscriber()
      class Angry implements EntitySubscriberInterface {
        afterTransactionCommit() {
          throw new Error('a subscriber has failed')
        }
      }
      const source = new DataSource({ ...userSource(context.url).options, subscribers: [Angry] })
      await source.initialize()
      context.afterwards(() => source.destroy())
      const store = await attachStore(source, { sweep: false })
      context.afterwards(() => store.close())
      const group = context.unique()
      const outcomes = await Promise.allSettled(times(20, (n) => store.groups.append(group, { member: `m${n}` })))
      await expectDense(context.store, group, 20)
      expect(outcomes.map(({ status }) => status)).toEqual(Array(20).fill('fulfilled'))
    })

    it('for a locked group makes only those of that group wait', async () => {
      if (context.engine === 'sqlite') return // one writer at a time: all others wait for the one that has the lock
      const store = await context.open({ batching: { lanes: 1 } })
      const [held, free] = [context.unique('held'), context.unique()]
      await store.groups.appendMany([{ group: held }, { group: free }])
      let letGo = () => {}
      const locked = moment()
      const holding = context.store.transaction(async (tx) => {
        await tx.groups.append(held)
        locked.come()
        await new Promise<void>((resolve) => {
          letGo = resolve
        })
      })
      await locked.reached
      const waiting = store.groups.append(held)
      const others = times(20, () => store.groups.append(free))
      const watch = stopwatch()
      await Promise.all(others)
      const isLate = watch.isBeyond(9000)
      letGo()
      await holding
      expect((await waiting).id).toBe(2n)
      expect(isLate).toBe(false)
    })
  })

  describe('too many appends at once', () => {
    it('are refused as overloaded beyond the bound of items, and taken again after', async () => {
      const store = await context.open({ batching: { maxPendingItems: 5 } })
      const names = [context.unique(), context.unique()]
      const outcomes = await outcomesOf(healthy(store, names, 50))
      const refused = refusalsOf(outcomes)
      expect(refused).toHaveLength(45)
      for (const error of refused) expect(error).toMatchObject({ code: 'overloaded', retryAfterSeconds: 1 })
      const totals = (await store.groups.recentMany(names)).map(({ totalAppended }) => totalAppended)
      expect(totals).toEqual([3n, 2n])
      const [many, one] = await outcomesOf<unknown>([
        // More than the bound by itself: taken, because nothing else waits.
        store.groups.appendMany(times(8, (n) => ({ group: names[n % 2] as string }))),
        store.groups.append(names[0] as string),
      ])
      expect(many).toHaveLength(8)
      expect(one).toMatchObject({ code: 'overloaded' })
      expect((await store.groups.append(names[0] as string)).id).toBe(7n)
    })

    it('are refused as overloaded beyond the bound of bytes, and taken again after', async () => {
      const store = await context.open({ batching: { maxPendingBytes: 20_000 } })
      const group = context.unique()
      const large = () => store.groups.append(group, { payload: 'x'.repeat(8000) })
      const outcomes = await outcomesOf([...times(6, large), store.groups.append(group)])
      expect(refusalsOf(outcomes).map(({ code }) => code)).toEqual(Array(4).fill('overloaded'))
      // The small one found room.
      expect(outcomes[6]).toMatchObject({ id: 2n })
      expect((await store.groups.recent(group)).totalAppended).toBe(3n)
      expect(await large()).toMatchObject({ id: 3n })
    })

    it('never take more than the bound while callers come and go', async () => {
      const store = await context.open({ batching: { maxPendingItems: 20 } })
      const group = context.unique()
      let appended = 0
      const caller = async () => {
        for (let n = 0; n < 20; n++) {
          const [outcome] = await outcomesOf([store.groups.append(group)])
          if (refusalsOf([outcome]).length === 0) appended++
          else expect(outcome).toMatchObject({ code: 'overloaded' })
        }
      }
      await Promise.all(times(40, caller))
      expect(appended).toBeGreaterThanOrEqual(20)
      expect((await store.groups.recent(group)).totalAppended).toBe(BigInt(appended))
    })

    it('have bounds that must be whole numbers: every fault of the options is named', async () => {
      const open = (batching: object) => openStore({ url: 'sqlite::memory:', defaultCapacity: 0, batching })
      const error = await refusal(open({ lanes: 17, maxPendingItems: 1.5, maxPendingBytes: -1 }))
      expect(error.code).toBe('invalid_input')
      expect(error.faults.map(({ pointer }) => pointer).sort()).toEqual([
        '/batching/lanes',
        '/batching/maxPendingBytes',
        '/batching/maxPendingItems',
        '/defaultCapacity',
      ])
      for (const lanes of [0, '2', null, Number.NaN]) {
        const { code, faults } = await refusal(open({ lanes }))
        expect([code, faults.map(({ pointer }) => pointer)]).toEqual([
          'invalid_input',
          ['/defaultCapacity', '/batching/lanes'],
        ])
      }
    })
  })
}

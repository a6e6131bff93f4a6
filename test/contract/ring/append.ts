import { type Context, down, expectSound, idsOf, membersOf, refusal } from '../context'

export function describeAppend(context: Context): void {
  const groups = () => context.store.groups

  describe('append', () => {
    it('creates the group and answers the whole item', async () => {
      const group = context.unique()
      const before = Date.now()
      const item = await groups().append(group, {
        member: 'user-7',
        payload: { page: 3 },
        occurredAt: new Date('2001-02-03T04:05:06.789Z'),
        eventId: 'e-1',
      })
      expect(item).toMatchObject({
        group,
        id: 0n,
        slot: 0,
        member: 'user-7',
        payload: { page: 3 },
        occurredAt: new Date('2001-02-03T04:05:06.789Z'),
        eventId: 'e-1',
        appended: true,
      })
      expect(Math.abs(item.createdAt.getTime() - context.clock.offsetMs - before)).toBeLessThan(60_000)
      const { appended: _, ...stored } = item
      expect((await groups().recent(group)).items).toEqual([stored])
    })

    it('takes an item of which nothing is given, and answers null for all of it', async () => {
      const group = context.unique()
      const first = await groups().append(group)
      const second = await groups().append(group, {})
      const third = await groups().append(group, { member: null, payload: null, occurredAt: null, eventId: null })
      for (const item of [first, second, third]) {
        expect(item).toMatchObject({ member: null, payload: null, occurredAt: null, eventId: null })
      }
      expect([first.id, second.id, third.id]).toEqual([0n, 1n, 2n])
      expect(idsOf(await groups().recent(group))).toEqual([2n, 1n, 0n])
    })

    it('keeps the last capacity items, each in slot id mod capacity', async () => {
      const group = context.unique()
      for (let n = 0; n < 23; n++) {
        const item = await groups().append(group, { payload: n })
        expect(item).toMatchObject({ id: BigInt(n), slot: n % 10 })
      }
      const recent = await groups().recent(group, { limit: 100 })
      expect(recent).toMatchObject({ group, capacity: 10, mode: 'history', totalAppended: 23n, nextBefore: null })
      expect(recent.items.map((item) => item.payload)).toEqual([22, 21, 20, 19, 18, 17, 16, 15, 14, 13])
      expectSound(recent)
    })

    it('keeps the times from 1970 to 9999 to the millisecond', async () => {
      const group = context.unique()
      const times = ['1970-01-01T00:00:00.000Z', '1969-12-31T23:59:59.999Z', '9999-12-31T23:59:59.999Z']
      const [first, tooEarly, last] = times.map((time) => new Date(time))
      await groups().append(group, { occurredAt: first })
      await groups().append(group, { occurredAt: last })
      expect((await refusal(groups().append(group, { occurredAt: tooEarly }))).code).toBe('invalid_input')
      expect((await groups().recent(group)).items.map((item) => item.occurredAt)).toEqual([last, first])
    })

    it('gives every one of many concurrent callers its own id, without a gap', async () => {
      const group = context.unique()
      const items = await Promise.all(
        Array.from({ length: 60 }, (_, n) => groups().append(group, { member: `m${n}`, payload: n })),
      )
      const byId = [...items].sort((a, b) => Number(a.id - b.id))
      expect(byId.map((item) => item.id)).toEqual(down(59, 60).reverse())
      const recent = await groups().recent(group)
      expect(membersOf(recent)).toEqual(
        byId
          .slice(-10)
          .reverse()
          .map((item) => item.member),
      )
      expectSound(recent)
    })
  })

  describe('appends of several stores on one database', () => {
    it('share the ids, and every reader sees a whole window', async () => {
      const other = await context.open()
      const names = [context.unique('a'), context.unique('b')]
      const ids: bigint[][] = [[], []]
      const writers = [context.store, other].map(async (store, writer) => {
        for (let n = 0; n < 20; n++) {
          const items = await store.groups.appendMany(names.map((group) => ({ group, payload: writer })))
          for (const [place, item] of items.entries()) ids[place]?.push(item.id)
        }
      })
      let writing = true
      const reader = (async () => {
        while (writing) {
          for (const recent of await other.groups.recentMany(names)) {
            const count = recent.totalAppended < 10n ? Number(recent.totalAppended) : 10
            expect(idsOf(recent)).toEqual(down(recent.totalAppended - 1n, count))
          }
        }
      })()
      await Promise.all(writers).finally(() => {
        writing = false
      })
      await reader
      for (const given of ids) expect(given.sort((a, b) => Number(b - a))).toEqual(down(39, 40))
    })
  })

  describe('appendMany', () => {
    it('answers in the order given, across groups', async () => {
      const [a, b] = [context.unique('a'), context.unique('b')]
      await groups().append(b)
      const items = await groups().appendMany([
        { group: a, payload: 0 },
        { group: b, payload: 1 },
        { group: a, payload: 2 },
        { group: b, payload: 3, member: 'm' },
      ])
      expect(items.map((item) => [item.group, item.id, item.slot, item.payload, item.appended])).toEqual([
        [a, 0n, 0, 0, true],
        [b, 1n, 1, 1, true],
        [a, 1n, 1, 2, true],
        [b, 2n, 2, 3, true],
      ])
      expect((await groups().recent(b)).items.map((item) => item.payload)).toEqual([3, 1, null])
    })

    it('gives ids to a batch larger than the capacity, and keeps the last of it', async () => {
      const [a, b, c] = [context.unique('a'), context.unique('b'), context.unique('c')]
      await groups().put(a, { capacity: 3 })
      await groups().put(b, { capacity: 1 })
      const names = [a, b, c]
      const batch = Array.from({ length: 1000 }, (_, n) => ({ group: names[n % 3] as string, payload: n }))
      const items = await groups().appendMany(batch)
      const next = new Map(names.map((name) => [name, 0n]))
      const capacity = new Map([
        [a, 3n],
        [b, 1n],
        [c, 10n],
      ])
      for (const [n, item] of items.entries()) {
        const group = batch[n]?.group as string
        const id = next.get(group) as bigint
        next.set(group, id + 1n)
        expect([item.group, item.id, item.slot]).toEqual([group, id, Number(id % (capacity.get(group) as bigint))])
      }
      for (const recent of await groups().recentMany(names)) {
        expect(recent.totalAppended).toBe(next.get(recent.group))
        expect(idsOf(recent)).toEqual(down(recent.totalAppended - 1n, recent.capacity))
        expect(recent.items.map((item) => item.payload)).toEqual(
          items
            .filter((item) => item.group === recent.group)
            .slice(-recent.capacity)
            .reverse()
            .map((item) => item.payload),
        )
        expectSound(recent)
      }
    })

    it('stores nothing when one item of it is refused', async () => {
      const [a, b, c] = [context.unique('a'), context.unique('b'), context.unique('c')]
      await groups().append(a, { payload: 'there' })
      await groups().put(b, { mode: 'distinct' })
      const error = await refusal(
        groups().appendMany([{ group: a }, { group: c }, { group: b, member: 'm' }, { group: b }, { group: a }]),
      )
      expect(error.code).toBe('invalid_input')
      expect(error.faults).toHaveLength(1)
      expect(error.faults[0]?.pointer).toMatch(/\/3\/member$/)
      expect(idsOf(await groups().recent(a))).toEqual([0n])
      expect(idsOf(await groups().recent(b))).toEqual([])
      expect(await groups().get(c)).toBeNull()
      expect((await groups().append(a)).id).toBe(1n)
    })

    it('never deadlocks with others who name the same groups in another order', async () => {
      const names = Array.from({ length: 6 }, () => context.unique())
      const batches = Array.from({ length: 24 }, (_, n) => {
        const turned = [...names.slice(n % 6), ...names.slice(0, n % 6)]
        return (n % 2 ? turned.reverse() : turned).map((group) => ({ group, payload: n }))
      })
      await Promise.all(batches.map((batch) => groups().appendMany(batch)))
      for (const recent of await groups().recentMany(names)) {
        expect(recent.totalAppended).toBe(24n)
        expect(idsOf(recent)).toEqual(down(23, 10))
      }
    })
  })
}

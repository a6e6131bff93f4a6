import type { Recent, RecentOptions, Store } from '../../../src/index'
import type { Context } from '../context'
import { statementsOf } from '../statements'

/** A process that remembers groups saves statements; callers do not notice it otherwise. */
export function describeWindows(context: Context): void {
  const items = /_items\b/i
  const groups = () => context.store.groups

  async function counted(): Promise<{ store: Store; readingItems(): number }> {
    const { store, statements } = await statementsOf(context)
    const readingItems = () => statements.splice(0).filter((sql) => items.test(sql) && /^\(?SELECT/i.test(sql)).length
    return { store, readingItems }
  }

  const payloadsOf = (page: Recent) => page.items.map(({ payload }) => payload)

  describe('windows that are remembered', () => {
    it.each(['history', 'distinct'] as const)('a page of a %s group is confirmed by its head', async (mode) => {
      const group = context.unique()
      await groups().put(group, { mode, capacity: 3 })
      await groups().appendMany(['a', 'b', 'c', 'd'].map((member) => ({ group, member, payload: member })))
      const { store, readingItems } = await counted()
      expect(payloadsOf(await store.groups.recent(group))).toEqual(['d', 'c', 'b'])
      expect(readingItems()).toBe(1)
      expect(payloadsOf(await store.groups.recent(group))).toEqual(['d', 'c', 'b'])
      expect(payloadsOf(await store.groups.recent(group, { limit: 2, before: 3n }))).toEqual(['c', 'b'])
      const [page] = await store.groups.recentMany([group], { exclude: ['c'] })
      expect(payloadsOf(page as Recent)).toEqual(['d', 'b'])
      expect(readingItems()).toBe(0)
      await groups().append(group, { member: 'e', payload: 'e' })
      expect(payloadsOf(await store.groups.recent(group))).toEqual(['e', 'd', 'c'])
    })

    it('its own appends and removals are seen at once, and appends without reading', async () => {
      const group = context.unique()
      await groups().put(group, { mode: 'distinct', capacity: 3 })
      const { store, readingItems } = await counted()
      for (const member of ['a', 'b', 'c']) await store.groups.append(group, { member, payload: { member } })
      expect(payloadsOf(await store.groups.recent(group))).toHaveLength(3)
      readingItems()
      for (const member of ['b', 'd', 'a']) await store.groups.append(group, { member, payload: { again: member } })
      expect((await store.groups.recent(group)).items).toEqual((await groups().recent(group)).items)
      expect(readingItems()).toBe(0)
      await store.groups.remove(group, 4n)
      expect((await store.groups.recent(group)).items.map(({ member }) => member)).toEqual(['b', 'a'].reverse())
    })

    it('each caller has its own payloads', async () => {
      const group = context.unique()
      const text = '{"list":[1,{"deep":[null,0]}],"__proto__":{"a":1},"n":null}'
      const written = [text, '"word"', '[[]]', `["${'x'.repeat(2000)}"]`, '7'].map((one) => JSON.parse(one))
      await groups().appendMany(written.map((payload) => ({ group, payload })))
      const { store, readingItems } = await counted()
      await store.groups.recent(group)
      readingItems()
      for (let time = 0; time < 3; time++) {
        const page = await store.groups.recent<{ list: { deep: unknown }[]; n: unknown }>(group)
        expect(payloadsOf(page)).toStrictEqual(written.toReversed())
        expect(JSON.stringify(page.items[4]?.payload)).toBe(JSON.stringify(written[0]))
        const { payload } = page.items[4] as (typeof page.items)[0]
        Object.assign(payload.list[1] as object, { deep: 'changed' })
        payload.n = 'changed'
        page.items.length = 0
      }
      expect(readingItems()).toBe(0)
    })

    it('an append to a distinct group reads the window where another process has changed it', async () => {
      const group = context.unique()
      await groups().put(group, { mode: 'distinct', capacity: 2 })
      const { store, readingItems } = await counted()
      await store.groups.append(group, { member: 'a' })
      await store.groups.append(group, { member: 'b' })
      readingItems()
      await store.groups.append(group, { member: 'a' })
      expect(readingItems()).toBe(0)
      await groups().append(group, { member: 'c' })
      await store.groups.append(group, { member: 'a' })
      expect(readingItems()).toBe(1)
      const { items: left } = await groups().recent(group)
      expect(left.map(({ member }) => member)).toEqual(['a', 'c'])
    })

    it('a transaction that is rolled back leaves nothing behind', async () => {
      const group = context.unique()
      const { store } = await counted()
      await store.groups.append(group, { payload: 1 })
      await store.groups.recent(group)
      const undone = store.transaction(async (tx) => {
        await tx.groups.append(group, { payload: 'undone' })
        expect(payloadsOf(await tx.groups.recent(group))).toEqual(['undone', 1])
        throw new Error('no')
      })
      await expect(undone).rejects.toThrow('no')
      await groups().append(group, { payload: 2 })
      expect(payloadsOf(await store.groups.recent(group))).toEqual([2, 1])
    })

    // SQLite has no connection that ends when another copy takes over.
    if (context.engine !== 'sqlite')
      it('a copy of the database that has lost commits is read again', async () => {
        const group = context.unique()
        const [store, plain] = [await context.open({ poolSize: 1 }), await context.open({ groupMemoryBytes: 0 })]
        for (const payload of ['a', 'lost']) await plain.groups.append(group, { payload })
        for (let time = 0; time < 2; time++) expect(payloadsOf(await store.groups.recent(group))).toEqual(['lost', 'a'])
        const run = (sql: string, values?: unknown[]) => context.store.dataSource.query(sql, values)
        const [{ id }] = await store.dataSource.query('SELECT CONNECTION_ID() AS id')
        await run('UPDATE recentn_groups SET version = version - 1, last_id = last_id - 1 WHERE group_key = ?', [group])
        await run('DELETE FROM recentn_items WHERE group_key = ? AND id = 1', [group])
        await plain.groups.append(group, { payload: 'b' })
        await run(`KILL ${id}`)
        expect(payloadsOf(await store.groups.recent(group))).toEqual(['b', 'a'])
      })

    it('two stores with windows answer what one without them does, whatever happens', async () => {
      const plain = await context.open({ groupMemoryBytes: 0 })
      const stores = [await context.open(), await context.open({ groupMemoryBytes: 20_000 })]
      const prefix = context.unique('w')
      const names = Array.from({ length: 6 }, (_, n) => `${prefix}:${n}`)
      const below = (n: number) => Math.floor(Math.random() * n)
      const change = async ({ groups }: Store, group: string) => {
        const member = `m${below(14)}`
        const turn = below(24)
        const mode = below(2) ? 'history' : 'distinct'
        if (turn === 0) await groups.clear(group)
        else if (turn === 1) await groups.drop(group)
        else if (turn === 2)
          await groups.put(group, { mode, capacity: 1 + below(80), ttlSeconds: below(3) ? null : 600 })
        else if (turn === 4) await groups.eraseMember(member, { prefix })
        else if (turn === 5) context.clock.offsetMs += 200_000
        else if (turn === 6) await groups.remove(group, BigInt(below(50)))
        else
          await groups.append(group, {
            member,
            payload: { n: below(1e6) },
            ...(below(3) ? {} : { eventId: `e${below(9)}` }),
          })
      }
      const options = (): RecentOptions => ({
        limit: 1 + below(20),
        ...(below(4) ? {} : { before: BigInt(below(40)) }),
        ...(below(4) ? {} : { exclude: ['m1', 'm2'] }),
        payloads: below(4) ? 'value' : 'none',
      })
      for (let round = 0; round < 200; round++) {
        const group = names[below(names.length)] as string
        await change(stores[below(2)] as Store, group)
        const how = options()
        const expected = await plain.groups.recent(group, how)
        for (const { groups } of stores) expect(await groups.recent(group, how)).toEqual(expected)
      }
    })
  })
}

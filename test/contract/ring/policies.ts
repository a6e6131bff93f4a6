import { type Context, down, eventually, expectSound, idsOf, membersOf, rowsOf } from '../context'

/** The promise of api.md for reads of groups that exist, with room for a slow machine. */
const OBEY_MS = 5500

export function describePolicies(context: Context): void {
  const groups = () => context.store.groups

  async function policy(
    prefix: string,
    capacity: number,
    mode: 'history' | 'distinct' = 'history',
    ttl?: number | null,
  ) {
    context.afterwards(() => context.store.policies.drop(prefix))
    return context.store.policies.put(prefix, { capacity, mode, ...(ttl === undefined ? {} : { ttlSeconds: ttl }) })
  }

  const obeys = (group: string, capacity: number, store = context.store) =>
    eventually(OBEY_MS, `${group} has capacity ${capacity}`, async () => {
      return (await store.groups.recent(group)).capacity === capacity
    })

  describe('policies', () => {
    it('are created, replaced, read and deleted', async () => {
      const prefix = context.unique('p')
      expect(await context.store.policies.get(prefix)).toBeNull()
      const times = { ttlSeconds: null, forgetEmptySeconds: null, tag: expect.any(String) }
      expect(await policy(prefix, 3)).toEqual({ prefix, capacity: 3, mode: 'history', ...times, created: true })
      expect(await policy(prefix, 4, 'distinct', 60)).toMatchObject({ capacity: 4, ttlSeconds: 60, created: false })
      expect(await context.store.policies.get(prefix)).toEqual({
        prefix,
        capacity: 4,
        mode: 'distinct',
        ...times,
        ttlSeconds: 60,
      })
      expect(await policy(prefix, 5)).toMatchObject({ ttlSeconds: null })
      expect(await context.store.policies.drop(prefix)).toBe(true)
      expect(await context.store.policies.drop(prefix)).toBe(false)
      expect(await context.store.policies.get(prefix)).toBeNull()
    })

    it('are listed by prefix in code point order, page by page', async () => {
      const base = context.unique('lp')
      const prefixes = ['', 'a', 'B', '\uff5e', '😀'].map((ending) => base + ending)
      for (const [n, prefix] of prefixes.entries()) await policy(prefix, n + 1)
      const seen: [string, number][] = []
      let after: string | undefined
      do {
        const page = await context.store.policies.list({ limit: 2, after })
        seen.push(...page.policies.map((one): [string, number] => [one.prefix, one.capacity]))
        after = page.nextAfter ?? undefined
      } while (after !== undefined)
      expect(seen.filter(([prefix]) => prefix.startsWith(base))).toEqual([
        [base, 1],
        [`${base}B`, 3],
        [`${base}a`, 2],
        [`${base}\uff5e`, 4],
        [`${base}😀`, 5],
      ])
    })

    it('the longest prefix wins, the whole name counts as one, and case does', async () => {
      const base = context.unique('p')
      await policy(base, 2)
      await policy(`${base}ab`, 3, 'distinct')
      await policy(`${base}abc`, 4)
      await policy(`${base}AB`, 5)
      const capacityOf = async (name: string) => (await groups().put(name)).capacity
      expect(await capacityOf(base)).toBe(2)
      expect(await capacityOf(`${base}a`)).toBe(2)
      expect(await capacityOf(`${base}ab`)).toBe(3)
      expect(await capacityOf(`${base}abx`)).toBe(3)
      expect(await capacityOf(`${base}abc`)).toBe(4)
      expect(await capacityOf(`${base}abcd`)).toBe(4)
      expect(await capacityOf(`${base}ABc`)).toBe(5)
      expect(await capacityOf(`x${base}`)).toBe(10)
      expect(await groups().get(`${base}abx`)).toMatchObject({ mode: 'distinct' })
    })

    it('a group made after the answer follows it at once, on every store', async () => {
      const other = await context.open()
      for (const capacity of [2, 5, 3]) {
        const prefix = context.unique('p')
        // Both stores have read, and may have cached, that there is no such policy.
        await Promise.all([groups().recent(`${prefix}x`), other.groups.append(`${prefix}old`)])
        await policy(prefix, capacity)
        for (const [n, store] of [other, context.store].entries()) {
          const group = `${prefix}${n}`
          await store.groups.appendMany(Array.from({ length: 9 }, () => ({ group })))
          const recent = await store.groups.recent(group)
          expect([recent.capacity, idsOf(recent)]).toEqual([capacity, down(8, capacity)])
          expectSound(recent)
        }
      }
    })

    it('reads of groups that exist follow it within 5 seconds, on every store, before any write', async () => {
      const other = await context.open()
      const prefix = context.unique('p')
      const group = `${prefix}a`
      await groups().appendMany('abcabdabef'.split('').map((member) => ({ group, member })))
      await Promise.all([groups().recent(group), other.groups.recent(group)])
      await policy(prefix, 4, 'distinct')
      await Promise.all([obeys(group, 4), obeys(group, 4, other)])
      for (const store of [context.store, other]) {
        const recent = await store.groups.recent(group)
        expect([recent.mode, membersOf(recent), recent.nextBefore]).toEqual(['distinct', ['f', 'e', 'b', 'a'], null])
        expect(await store.groups.get(group)).toMatchObject({ capacity: 4, mode: 'distinct' })
        expect(membersOf((await store.groups.recentMany([group]))[0] ?? recent)).toEqual(['f', 'e', 'b', 'a'])
      }
    })

    it('the rows wait for the next write: a policy raised again before it shows what still fits', async () => {
      const prefix = context.unique('p')
      const group = `${prefix}a`
      await groups().appendMany(Array.from({ length: 10 }, () => ({ group, member: 'm' })))
      await policy(prefix, 3)
      await obeys(group, 3)
      expect(idsOf(await groups().recent(group, { limit: 100 }))).toEqual(down(9, 3))
      await policy(prefix, 6)
      await obeys(group, 6)
      expect(idsOf(await groups().recent(group, { limit: 100 }))).toEqual(down(9, 6))
      expect(await rowsOf(context.store, group)).toHaveLength(10)
      await policy(prefix, 4)
      await obeys(group, 4)
      await groups().append(group)
      expectSound(await groups().recent(group))
      expect(await rowsOf(context.store, group)).toHaveLength(4)
      await policy(prefix, 12)
      await obeys(group, 12)
      expect(idsOf(await groups().recent(group, { limit: 100 }))).toEqual(down(10, 4))
    })

    it('a write follows the policy of the moment: an older one that a store still knows takes nothing away', async () => {
      const other = await context.open()
      const prefix = context.unique('p')
      const [a, b] = [`${prefix}a`, `${prefix}b`]
      await groups().appendMany(Array.from({ length: 20 }, (_, n) => ({ group: n % 2 ? a : b, member: 'm' })))
      await policy(prefix, 3)
      await obeys(a, 3, other)
      await policy(prefix, 12)
      await other.groups.append(a)
      await other.groups.put(b, { ttlSeconds: null })
      await Promise.all([obeys(a, 12), obeys(b, 12)])
      expect(idsOf(await groups().recent(a, { limit: 100 }))).toEqual(down(10, 11))
      expect(idsOf(await groups().recent(b, { limit: 100 }))).toEqual(down(9, 10))
    })

    it('own settings win, one by one', async () => {
      const prefix = context.unique('p')
      const [a, b] = [`${prefix}a`, `${prefix}b`]
      await groups().put(a, { capacity: 8 })
      await groups().put(b, { mode: 'history', ttlSeconds: null })
      await policy(prefix, 2, 'distinct', 500)
      await obeys(b, 2)
      expect(await groups().get(a)).toMatchObject({ capacity: 8, mode: 'distinct', ttlSeconds: 500 })
      expect(await groups().get(b)).toMatchObject({ capacity: 2, mode: 'history', ttlSeconds: null })
    })

    it('a policy deleted gives its groups back to the next longest, and to the default', async () => {
      const prefix = context.unique('p')
      const group = `${prefix}abc`
      await policy(prefix, 4)
      await policy(`${prefix}ab`, 2)
      await groups().append(group)
      expect(await groups().recent(group)).toMatchObject({ capacity: 2 })
      await context.store.policies.drop(`${prefix}ab`)
      await obeys(group, 4)
      await context.store.policies.drop(prefix)
      await obeys(group, 10)
    })

    it('a default capacity of the store applies where no policy is', async () => {
      const store = await context.open({ defaultCapacity: 3 })
      const group = context.unique()
      await store.groups.appendMany(Array.from({ length: 5 }, () => ({ group })))
      expect(await store.groups.recent(group)).toMatchObject({ capacity: 3 })
      expect(idsOf(await store.groups.recent(group))).toEqual([4n, 3n, 2n])
      expect(await store.groups.recent(context.unique())).toMatchObject({ capacity: 3, totalAppended: 0n })
    })
  })
}

import type { OwnSettings, PolicySettings } from '../../../src/shared/group-types'
import type { Context } from '../context'

/** The answer of `losses` is compared with what is gone once the settings are put. */
export function describeLosses(context: Context): void {
  const unique = (base: string) => context.unique(base)

  async function fill(group: string, members: string): Promise<void> {
    await context.store.groups.appendMany([...members].map((member) => ({ group, member })))
  }

  async function shownIn(groups: readonly string[], { groups: of } = context.store): Promise<number[]> {
    const pages = await of.recentMany(groups, { limit: 100 })
    return pages.map(({ items }) => items.length)
  }

  describe('losses', () => {
    test.each<[string, OwnSettings]>([
      ['a smaller capacity', { capacity: 4, mode: 'history' }],
      ['a larger one', { capacity: 20, mode: 'history' }],
      ['each member once', { capacity: 8, mode: 'distinct' }],
      ['the last members', { capacity: 2, mode: 'distinct' }],
      ['the settings of the policy again', {}],
    ])('of a group that gets %s are what is removed', async (_, own) => {
      const group = unique('g')
      await context.store.groups.put(group, { capacity: 12 })
      await fill(group, 'abcabcabcd')
      await context.store.groups.remove(group, 8n)
      const [before = 0] = await shownIn([group])
      const losses = await context.store.groups.losses(group, own)
      expect(await shownIn([group])).toEqual([before])
      await context.store.groups.put(group, own)
      const [after = 0] = await shownIn([group])
      const items = before - after
      expect(losses).toEqual({ groups: 1, losingGroups: items > 0 ? 1 : 0, items, isExact: true })
    })

    it('of a group that does not exist are none', async () => {
      expect(await context.store.groups.losses(unique('none'), { capacity: 1 })).toEqual({
        ...{ groups: 0, losingGroups: 0, items: 0, isExact: true },
      })
    })

    test.each<[string, PolicySettings | undefined]>([
      ['changed to a smaller capacity', { capacity: 3, mode: 'history' }],
      ['changed to each member once', { capacity: 3, mode: 'distinct' }],
      ['dropped', undefined],
    ])('of a policy that is %s are those of its groups', async (_, settings) => {
      const prefix = unique('p:')
      const [first, own, longer, full] = ['1', 'own', 'long:1', 'full'].map((name) => `${prefix}${name}`) as [
        ...[string, string, string, string],
      ]
      context.afterwards(() => context.store.policies.drop(prefix))
      context.afterwards(() => context.store.policies.drop(`${prefix}long:`))
      await context.store.policies.put(prefix, { capacity: 30, mode: 'history' })
      await context.store.policies.put(`${prefix}long:`, { capacity: 30, mode: 'history' })
      await context.store.groups.put(own, { capacity: 30 })
      const all = { capacity: 30, mode: 'history', ttlSeconds: null, forgetEmptySeconds: null } as const
      await context.store.groups.put(full, all)
      const groups = [first, own, longer, full]
      for (const group of groups) await fill(group, 'abcdeabcdeabc')
      const before = await shownIn(groups)
      const losses = await context.store.policies.losses(prefix, settings)
      expect(await shownIn(groups)).toEqual(before)
      if (settings === undefined) await context.store.policies.drop(prefix)
      else await context.store.policies.put(prefix, settings)
      // A new store knows no older policies.
      const after = await shownIn(groups, await context.open())
      const gone = before.map((count, i) => count - (after[i] ?? 0))
      expect(losses).toEqual({
        groups: 2,
        losingGroups: gone.filter((count) => count > 0).length,
        items: gone.reduce((sum, count) => sum + count, 0),
        isExact: true,
      })
      // One has a longer prefix, and one has all its settings itself.
      expect([losses.items > 0, gone[2], gone[3]]).toEqual([true, 0, 0])
    })

    it('of a policy count more groups than a page of the list has', async () => {
      const prefix = unique('many:')
      context.afterwards(() => context.store.policies.drop(prefix))
      await context.store.policies.put(prefix, { capacity: 5, mode: 'history' })
      const items = Array.from({ length: 1000 }, (_, i) => ({ group: `${prefix}${1000 + i}` }))
      await context.store.groups.appendMany(items)
      await context.store.groups.appendMany(items.slice(0, 3).map(({ group }) => ({ group })))
      await context.store.groups.appendMany(items.map((_, i) => ({ group: `${prefix}${3000 + i}` })))
      expect(await context.store.policies.losses(prefix, { capacity: 1, mode: 'history' })).toEqual({
        ...{ groups: 2000, losingGroups: 3, items: 3, isExact: true },
      })
    })

    it('of what expires sooner are the items that are older', async () => {
      const group = unique('ttl')
      await context.store.groups.put(group, { capacity: 10, ttlSeconds: 1000 })
      await fill(group, 'ab')
      context.clock.offsetMs += 100_000
      await fill(group, 'c')
      expect(await context.store.groups.losses(group, { capacity: 10, ttlSeconds: 50 })).toMatchObject({ items: 2 })
      expect(await context.store.groups.losses(group, { capacity: 10, ttlSeconds: 500 })).toMatchObject({ items: 0 })
    })
  })
}

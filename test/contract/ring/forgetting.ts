import { sweepGroups } from '../../support/opened'
import { type Context, idsOf } from '../context'
import { following } from './watch-tools'

export function describeForgetting(context: Context): void {
  const groups = () => context.store.groups
  const pass = (seconds: number) => {
    context.clock.offsetMs += seconds * 1000
  }
  const sweep = () => sweepGroups(context.store)
  const isThere = async (group: string) => (await groups().get(group)) !== null

  async function forgetful(more: object = {}): Promise<string> {
    const prefix = context.unique('p')
    await context.store.policies.put(prefix, { capacity: 10, mode: 'history', forgetEmptySeconds: 100, ...more })
    context.afterwards(() => context.store.policies.drop(prefix))
    return prefix
  }

  describe('forgetEmptySeconds', () => {
    it.each<[string, (group: string) => Promise<unknown>]>([
      ['removed', (group) => groups().remove(group, 0n)],
      ['cleared', (group) => groups().clear(group)],
      ['erased', (group) => groups().eraseMember(`of ${group}`)],
    ])('forgets a group so long after its last item was %s, and not before', async (_, empty) => {
      const group = `${await forgetful()}a`
      await groups().append(group, { member: `of ${group}` })
      const { tag } = await groups().recent(group)
      pass(200)
      await sweep()
      await empty(group)
      pass(90)
      await sweep()
      expect(await isThere(group)).toBe(true)
      pass(20)
      await sweep()
      expect(await isThere(group)).toBe(false)
      expect((await groups().append(group, { member: `of ${group}` })).id).toBe(0n)
      expect((await groups().recent(group)).tag).not.toBe(tag)
      await sweep()
      expect(idsOf(await groups().recent(group))).toEqual([0n])
    })

    it('counts from the sweep of the last item that expires, and items of a group that was empty expire as others', async () => {
      const group = `${await forgetful({ ttlSeconds: 50, forgetEmptySeconds: 1000 })}a`
      await groups().append(group)
      pass(60)
      await sweep()
      await groups().append(group)
      pass(60)
      await sweep()
      expect(
        await context.store.dataSource.query(`SELECT slot FROM recentn_items WHERE group_key = '${group}'`),
      ).toEqual([])
      pass(990)
      await sweep()
      expect(await isThere(group)).toBe(true)
      pass(20)
      await sweep()
      expect(await isThere(group)).toBe(false)
    })

    it('counts again after each append', async () => {
      const group = `${await forgetful()}a`
      for (let round = 0n; round < 3n; round++) {
        expect((await groups().append(group)).id).toBe(round)
        await groups().clear(group)
        pass(80)
        await sweep()
      }
      pass(30)
      await sweep()
      expect(await isThere(group)).toBe(false)
    })

    it('of a group that `put` has made; its own setting goes before the policy', async () => {
      const prefix = await forgetful()
      const [never, soon, left] = [`${prefix}never`, `${prefix}soon`, `${prefix}left`]
      await groups().put(never, { forgetEmptySeconds: null })
      await groups().put(soon, { forgetEmptySeconds: 10 })
      await groups().put(left, { capacity: 3 })
      expect(await groups().get(never)).toMatchObject({ forgetEmptySeconds: null, own: { forgetEmptySeconds: null } })
      expect(await groups().get(left)).toMatchObject({ forgetEmptySeconds: 100, own: { capacity: 3 } })
      pass(20)
      await sweep()
      expect(await Promise.all([never, soon, left].map(isThere))).toEqual([true, false, true])
      pass(90)
      await sweep()
      expect(await Promise.all([never, soon, left].map(isThere))).toEqual([true, false, false])
    })

    it('counts from the change where a policy begins to say so, and not at all where it no longer does', async () => {
      const prefix = context.unique('p')
      const group = `${prefix}a`
      const policy = (forgetEmptySeconds: number | null) =>
        context.store.policies.put(prefix, { capacity: 10, mode: 'history', forgetEmptySeconds })
      context.afterwards(() => context.store.policies.drop(prefix))
      await groups().append(group)
      await groups().clear(group)
      pass(1000)
      await policy(100)
      await sweep()
      pass(60)
      await policy(null)
      await sweep()
      pass(60)
      await sweep()
      expect(await isThere(group)).toBe(true)
      expect(await context.store.policies.get(prefix)).toMatchObject({ forgetEmptySeconds: null })
      await policy(100)
      await sweep()
      pass(110)
      await sweep()
      expect(await isThere(group)).toBe(false)
    })

    it('sends `reset` to those that watch the group', async () => {
      const group = `${await forgetful()}a`
      await groups().append(group)
      await groups().clear(group)
      const heard = following(context, groups().watch(group))
      await heard.ready
      pass(110)
      await sweep()
      await heard.until(1)
      await groups().append(group)
      await heard.until(2)
      expect(heard.told).toEqual(['reset 10 0', '+0'])
    })

    it('loses no append that meets it, and repeats no id of a group that is there', async () => {
      const group = `${await forgetful()}a`
      const other = await context.open()
      for (let round = 0; round < 25; round++) {
        await groups().append(group)
        await groups().clear(group)
        pass(110)
        const [item, tx] = await Promise.all([
          groups().append(group, { payload: round }),
          other.transaction(({ groups: inside }) => inside.append(group, { payload: round })),
          sweepGroups(context.store),
          sweepGroups(other),
        ])
        const { items, totalAppended } = await groups().recent(group, { limit: 2 })
        expect(idsOf({ items })).toEqual([item.id, tx.id].sort((a, b) => (a < b ? 1 : -1)))
        expect(totalAppended).toBe((items[0]?.id as bigint) + 1n)
      }
    })
  })
}

import { sweepGroups } from '../../support/opened'
import { type Context, eventually, idsOf, membersOf, rowsOf } from '../context'

export function describeExpiry(context: Context): void {
  const groups = () => context.store.groups
  const pass = (seconds: number) => {
    context.clock.offsetMs += seconds * 1000
  }

  describe('expiry', () => {
    it('hides an item from every read as soon as its time has passed', async () => {
      const group = context.unique()
      const member = context.unique('m')
      await groups().put(group, { ttlSeconds: 100 })
      await groups().append(group, { member, occurredAt: new Date(0) })
      pass(60)
      await groups().append(group, { member, occurredAt: new Date('9999-01-01T00:00:00Z') })
      expect(idsOf(await groups().recent(group))).toEqual([1n, 0n])
      pass(60)
      const recent = await groups().recent(group)
      expect([idsOf(recent), recent.totalAppended, recent.nextBefore]).toEqual([[1n], 2n, null])
      expect((await groups().recent(group, { limit: 1 })).nextBefore).toBeNull()
      expect(idsOf((await groups().recentMany([group]))[0] ?? recent)).toEqual([1n])
      expect(idsOf(await groups().memberItems(member))).toEqual([1n])
      expect(await groups().remove(group, 0n)).toBe(false)
      pass(60)
      expect(await groups().recent(group)).toMatchObject({ items: [], totalAppended: 2n })
      expect((await groups().append(group)).id).toBe(2n)
    })

    it('forgets the eventId of an expired item', async () => {
      const group = context.unique()
      await groups().put(group, { ttlSeconds: 10 })
      await groups().append(group, { eventId: 'e' })
      pass(11)
      expect(await groups().append(group, { eventId: 'e' })).toMatchObject({ id: 1n, appended: true })
      expect(await groups().append(group, { eventId: 'e' })).toMatchObject({ id: 1n, appended: false })
    })

    it('lets no expired member hold a place in a distinct group', async () => {
      const group = context.unique()
      await groups().put(group, { ttlSeconds: 100, mode: 'distinct', capacity: 3 })
      await groups().appendMany(['a', 'b'].map((member) => ({ group, member })))
      pass(60)
      await groups().append(group, { member: 'c' })
      await groups().append(group, { member: 'a' })
      pass(60)
      expect(membersOf(await groups().recent(group))).toEqual(['a', 'c'])
      await groups().append(group, { member: 'd' })
      expect(membersOf(await groups().recent(group))).toEqual(['d', 'a', 'c'])
    })

    it('counts from createdAt also when the ttl is set or changed later', async () => {
      const group = context.unique()
      await groups().append(group)
      pass(100)
      await groups().append(group)
      await groups().put(group, { ttlSeconds: 150 })
      expect(idsOf(await groups().recent(group))).toEqual([1n, 0n])
      await groups().put(group, { ttlSeconds: 50 })
      expect(idsOf(await groups().recent(group))).toEqual([1n])
      await groups().put(group, { ttlSeconds: null })
      expect(idsOf(await groups().recent(group))).toContain(1n)
    })

    it('comes from the policy where the group does not set one', async () => {
      const prefix = context.unique('p')
      await context.store.policies.put(prefix, { capacity: 5, mode: 'history', ttlSeconds: 20 })
      context.afterwards(() => context.store.policies.drop(prefix))
      await groups().put(`${prefix}never`, { ttlSeconds: null })
      await groups().appendMany([{ group: `${prefix}a` }, { group: `${prefix}never` }])
      pass(21)
      const answers = await groups().recentMany([`${prefix}a`, `${prefix}never`])
      expect(answers.map(idsOf)).toEqual([[], [0n]])
    })

    it('a longer ttl of the policy loses nothing that readers see, whatever is written next', async () => {
      const prefix = context.unique('p')
      const names = ['append', 'put', 'remove', 'erase', 'still'].map((end) => prefix + end)
      const [append, put, remove, erase] = names as [string, string, string, string]
      const member = context.unique('m')
      await context.store.policies.put(prefix, { capacity: 5, mode: 'history', ttlSeconds: 10 })
      context.afterwards(() => context.store.policies.drop(prefix))
      await groups().appendMany(names.map((group) => ({ group })))
      pass(1)
      await groups().appendMany([{ group: remove }, { group: erase, member }])
      await context.store.policies.put(prefix, { capacity: 5, mode: 'history', ttlSeconds: null })
      pass(20)
      const seen = (await groups().recentMany(names)).map(idsOf)
      expect(seen).toEqual([[0n], [0n], [1n, 0n], [1n, 0n], [0n]])
      await groups().append(append)
      await groups().put(put, { capacity: 7 })
      await groups().remove(remove, 1n)
      await groups().eraseMember(member)
      expect((await groups().recentMany(names)).map(idsOf)).toEqual([[1n, 0n], [0n], [0n], [0n], [0n]])
    })

    it('a longer ttl of the policy loses nothing to the sweeper, which reaches most groups later', async () => {
      const prefix = context.unique('p')
      const member = context.unique('m')
      await sweepGroups(context.store) // what other tests have left
      await context.store.policies.put(prefix, { capacity: 5, mode: 'history', ttlSeconds: 10 })
      context.afterwards(() => context.store.policies.drop(prefix))
      const names = Array.from({ length: 220 }, (_, n) => `${prefix}${String(n).padStart(3, '0')}`)
      await groups().appendMany(names.map((group) => ({ group, member })))
      pass(9.5)
      await context.store.policies.put(prefix, { capacity: 5, mode: 'history', ttlSeconds: 100 })
      pass(1)
      await sweepGroups(context.store)
      expect((await groups().memberItems(member, { limit: 1000 })).items).toHaveLength(220)
      pass(100)
      await sweepGroups(context.store)
      expect(await rowsOf(context.store, names[0] as string)).toEqual([])
      expect(await rowsOf(context.store, names[219] as string)).toEqual([])
    })

    it('the sweeper deletes the rows, of own and of policy ttl, and no others', async () => {
      const prefix = context.unique('p')
      const [own, byPolicy, never] = [context.unique(), `${prefix}a`, context.unique()]
      await context.store.policies.put(prefix, { capacity: 5, mode: 'history', ttlSeconds: 30 })
      context.afterwards(() => context.store.policies.drop(prefix))
      await groups().put(own, { ttlSeconds: 30 })
      const all = [own, byPolicy, never]
      await groups().appendMany(all.map((group) => ({ group, payload: 'old' })))
      pass(31)
      await groups().appendMany(all.map((group) => ({ group, payload: 'new' })))
      expect(await Promise.all(all.map(async (group) => (await rowsOf(context.store, group)).length))).toEqual([
        2, 2, 2,
      ])
      const tags = (await groups().recentMany(all)).map((recent) => recent.tag)
      const sweeping = await context.open({ sweep: true })
      await eventually(20_000, 'the expired rows are deleted', async () => {
        const left = await Promise.all([own, byPolicy].map((group) => rowsOf(sweeping, group)))
        return left.every((rows) => rows.length === 1)
      })
      expect(await rowsOf(context.store, never)).toHaveLength(2)
      const answers = await groups().recentMany(all)
      expect(answers.map(idsOf)).toEqual([[1n], [1n], [1n, 0n]])
      expect(answers[2]?.tag).toBe(tags[2])
      expect((await groups().append(own)).id).toBe(2n)
    })
  })
}

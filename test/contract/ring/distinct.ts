import { type Context, expectSound, idsOf, membersOf, refusal } from '../context'

export function describeDistinct(context: Context): void {
  const groups = () => context.store.groups

  async function distinct(capacity: number, ...members: string[]): Promise<string> {
    const group = context.unique()
    await groups().put(group, { mode: 'distinct', capacity })
    for (const member of members) await groups().append(group, { member })
    return group
  }

  describe('distinct mode', () => {
    it('moves a member seen again to the front under a new id, and pushes no item out', async () => {
      const group = await distinct(3, 'a', 'b', 'c')
      for (let n = 0; n < 10; n++) {
        expect(await groups().append(group, { member: 'b', payload: n })).toMatchObject({ id: BigInt(3 + n) })
        const recent = await groups().recent(group)
        expect(membersOf(recent)).toEqual(['b', 'c', 'a'])
        expectSound(recent)
      }
      expect((await groups().recent(group)).items[0]?.payload).toBe(9)
      expect((await groups().recent(group)).totalAppended).toBe(13n)
    })

    it('pushes out the member not seen for longest', async () => {
      const group = await distinct(3, 'a', 'b', 'c', 'a', 'd')
      const recent = await groups().recent(group)
      expect(membersOf(recent)).toEqual(['d', 'a', 'c'])
      expectSound(recent)
      await groups().append(group, { member: 'b' })
      expect(membersOf(await groups().recent(group))).toEqual(['b', 'd', 'a'])
    })

    it('holds one member', async () => {
      const group = await distinct(1, 'a', 'a', 'b', 'b')
      expect((await groups().recent(group)).items.map((item) => [item.member, item.id, item.slot])).toEqual([
        ['b', 3n, 0],
      ])
    })

    it('works in a batch as it does one by one', async () => {
      const members = 'abcadbbcaefgaacb'.split('')
      const one = await distinct(4, ...members)
      const many = await distinct(4)
      const items = await groups().appendMany(members.map((member) => ({ group: many, member })))
      expect(items.map((item) => item.id)).toEqual(members.map((_, n) => BigInt(n)))
      for (const item of items) expect(item.slot).toBeLessThan(4)
      const [first, second] = await groups().recentMany([one, many])
      expect(second && [membersOf(second), idsOf(second)]).toEqual(first && [membersOf(first), idsOf(first)])
      if (second) expectSound(second)
    })

    it('shows each member once to readers, whatever is written at the same time', async () => {
      const group = await distinct(5)
      const writers = Array.from({ length: 6 }, async (_, writer) => {
        for (let n = 0; n < 10; n++) await groups().append(group, { member: `m${(writer + n) % 8}` })
      })
      const reader = (async () => {
        for (let n = 0; n < 15; n++) expectSound(await groups().recent(group))
      })()
      await Promise.all([...writers, reader])
      const recent = await groups().recent(group)
      expectSound(recent)
      expect(recent).toMatchObject({ totalAppended: 60n })
      expect(recent.items).toHaveLength(5)
    })

    it('refuses an item without member, and stores nothing', async () => {
      const group = await distinct(3, 'a')
      for (const item of [{}, { member: null }, { payload: 1 }]) {
        const error = await refusal(groups().append(group, item))
        expect(error.code).toBe('invalid_input')
        expect(error.faults).toHaveLength(1)
        expect(error.faults[0]?.pointer).toMatch(/\/member$/)
      }
      expect(await groups().recent(group)).toMatchObject({ totalAppended: 1n })
    })

    it('refuses it also where a policy makes the group distinct, and does not make the group', async () => {
      const prefix = context.unique('p')
      await context.store.policies.put(prefix, { capacity: 3, mode: 'distinct' })
      context.afterwards(() => context.store.policies.drop(prefix))
      expect((await refusal(groups().append(`${prefix}new`))).code).toBe('invalid_input')
      expect(await groups().get(`${prefix}new`)).toBeNull()
    })
  })
}

import { type Context, down, expectSound, idsOf, membersOf, rowsOf } from '../context'

export function describeRemoval(context: Context): void {
  const groups = () => context.store.groups

  async function filled(count: number, settings = {}): Promise<string> {
    const group = context.unique()
    await groups().put(group, settings)
    await groups().appendMany(Array.from({ length: count }, (_, n) => ({ group, member: `m${n}`, payload: n })))
    return group
  }

  describe('remove', () => {
    it('takes one item out, once, and never gives its id again', async () => {
      const group = await filled(5)
      expect(await groups().remove(group, 4n)).toBe(true)
      expect(await groups().remove(group, 4n)).toBe(false)
      expect(idsOf(await groups().recent(group))).toEqual([3n, 2n, 1n, 0n])
      expect((await groups().recent(group)).totalAppended).toBe(5n)
      expect((await groups().append(group)).id).toBe(5n)
      expect(idsOf(await groups().recent(group))).toEqual([5n, 3n, 2n, 1n, 0n])
    })

    it('knows only the items of the window', async () => {
      const group = await filled(15)
      expect(await groups().remove(group, 4n)).toBe(false)
      expect(await groups().remove(group, 15n)).toBe(false)
      expect(await groups().remove(context.unique(), 0n)).toBe(false)
      expect(await groups().remove(group, 5n)).toBe(true)
    })

    it('leaves a hole in a history, which no older item fills', async () => {
      const group = await filled(15)
      for (const id of [14n, 10n, 5n]) await groups().remove(group, id)
      expect(idsOf(await groups().recent(group))).toEqual([13n, 12n, 11n, 9n, 8n, 7n, 6n])
      await groups().append(group)
      const recent = await groups().recent(group)
      expect(idsOf(recent)).toEqual([15n, 13n, 12n, 11n, 9n, 8n, 7n, 6n])
      expectSound(recent)
    })

    it('leaves room in a distinct group, which the next member takes', async () => {
      const group = await filled(4, { capacity: 4, mode: 'distinct' })
      await groups().remove(group, 2n)
      await groups().append(group, { member: 'new' })
      const recent = await groups().recent(group)
      expect(idsOf(recent)).toEqual([4n, 3n, 1n, 0n])
      expectSound(recent)
      await groups().append(group, { member: 'newer' })
      expect(idsOf(await groups().recent(group))).toEqual([5n, 4n, 3n, 1n])
    })
  })

  describe('remove under a policy that the rows do not have yet', () => {
    async function under(capacity: number, mode: 'history' | 'distinct', members: string): Promise<string> {
      const group = context.unique()
      await groups().appendMany(members.split('').map((member) => ({ group, member })))
      await context.store.policies.put(group, { capacity, mode })
      context.afterwards(() => context.store.policies.drop(group))
      return group
    }

    it('brings back no item: neither one that was superseded nor one that was pushed out', async () => {
      const group = await under(2, 'distinct', 'abcda')
      expect(membersOf(await groups().recent(group))).toEqual(['a', 'd'])
      expect(await groups().remove(group, 4n)).toBe(true)
      expect(membersOf(await groups().recent(group))).toEqual(['d'])
      await context.store.policies.put(group, { capacity: 10, mode: 'history' })
      const recent = await groups().recent(group)
      expect([recent.mode, idsOf(recent)]).toEqual(['history', [3n]])
      await groups().append(group)
      expectSound(await groups().recent(group))
    })

    it('brings back no item in a transaction either', async () => {
      const group = await under(2, 'distinct', 'abcab')
      await context.store.transaction(async (tx) => {
        expect(await tx.groups.remove(group, 4n)).toBe(true)
        expect(membersOf(await tx.groups.recent(group))).toEqual(['a'])
      })
      expect(membersOf(await groups().recent(group))).toEqual(['a'])
    })

    it('changes nothing where it removes nothing', async () => {
      const group = await under(2, 'distinct', 'abcda')
      for (const id of [0n, 2n, 5n]) expect(await groups().remove(group, id)).toBe(false)
      expect(await rowsOf(context.store, group)).toHaveLength(5)
    })

    it('is no other for the erasure of a member', async () => {
      const group = await under(2, 'distinct', 'abcd')
      const member = context.unique('m')
      await groups().append(group, { member })
      await context.store.policies.put(group, { capacity: 1, mode: 'distinct' })
      expect(await groups().eraseMember(member)).toEqual({ deleted: 1 })
      expect(await groups().recent(group)).toMatchObject({ items: [], totalAppended: 5n })
    })
  })

  describe('clear', () => {
    it('removes all items; ids continue', async () => {
      const group = await filled(13)
      expect(await groups().clear(group)).toEqual({ deleted: 10 })
      expect(await groups().recent(group)).toMatchObject({ totalAppended: 13n, items: [], nextBefore: null })
      expect(await groups().clear(group)).toEqual({ deleted: 0 })
      expect(await groups().append(group)).toMatchObject({ id: 13n, slot: 3 })
    })

    it('keeps the settings of the group', async () => {
      const group = await filled(3, { capacity: 77, mode: 'distinct' })
      await groups().clear(group)
      expect(await groups().get(group)).toMatchObject({ capacity: 77, mode: 'distinct', totalAppended: 3n })
    })

    it('does not make a group', async () => {
      const group = context.unique()
      expect(await groups().clear(group)).toEqual({ deleted: 0 })
      expect(await groups().get(group)).toBeNull()
    })

    it('empties a window of 3,000', async () => {
      const group = await filled(1000, { capacity: 3000 })
      for (let n = 0; n < 2; n++) await groups().appendMany(Array.from({ length: 1000 }, () => ({ group })))
      expect(await groups().clear(group)).toEqual({ deleted: 3000 })
      expect(await rowsOf(context.store, group)).toEqual([])
    })
  })

  describe('delete', () => {
    it('forgets the group, its items and its settings; one made later begins at 0', async () => {
      const group = await filled(7, { capacity: 5 })
      expect(await groups().drop(group)).toBe(true)
      expect(await groups().drop(group)).toBe(false)
      expect(await groups().get(group)).toBeNull()
      expect(await groups().recent(group)).toMatchObject({ totalAppended: 0n, capacity: 10, items: [] })
      expect(await rowsOf(context.store, group)).toEqual([])
      expect(await groups().append(group)).toMatchObject({ id: 0n, slot: 0 })
      expect(idsOf(await groups().recent(group))).toEqual([0n])
    })

    it('is met by appends at the same time without a fault', async () => {
      const group = context.unique()
      await Promise.all(
        Array.from({ length: 30 }, (_, n) => (n % 5 === 4 ? groups().drop(group) : groups().append(group))),
      )
      const recent = await groups().recent(group, { limit: 100 })
      expectSound(recent)
      if (recent.totalAppended > 0n) expect(idsOf(recent)).toEqual(down(recent.totalAppended - 1n, recent.items.length))
      expect(BigInt(recent.items.length)).toBe(recent.totalAppended < 10n ? recent.totalAppended : 10n)
    })
  })
}

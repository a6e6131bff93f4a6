import { type Context, idsOf, refusal } from '../context'

export function describeEventIds(context: Context): void {
  const groups = () => context.store.groups

  describe('eventId', () => {
    it('appends once, and answers the item that is there', async () => {
      const group = context.unique()
      const first = await groups().append(group, { eventId: 'e', member: 'a', payload: 1 })
      await groups().append(group)
      const again = await groups().append(group, { eventId: 'e', member: 'b', payload: 2 })
      expect(again).toEqual({ ...first, appended: false })
      expect((await groups().recent(group)).totalAppended).toBe(2n)
    })

    it('is known while the window holds the item, and no longer', async () => {
      const group = context.unique()
      await groups().put(group, { capacity: 2 })
      await groups().append(group, { eventId: 'e' })
      await groups().append(group, { eventId: 'f' })
      expect(await groups().append(group, { eventId: 'e' })).toMatchObject({ id: 0n, appended: false })
      await groups().append(group)
      expect(await groups().append(group, { eventId: 'e' })).toMatchObject({ id: 3n, appended: true })
    })

    it('is forgotten with the item that is removed, and when the group is emptied', async () => {
      const group = context.unique()
      await groups().append(group, { eventId: 'e' })
      await groups().remove(group, 0n)
      expect(await groups().append(group, { eventId: 'e' })).toMatchObject({ id: 1n, appended: true })
      await groups().clear(group)
      expect(await groups().append(group, { eventId: 'e' })).toMatchObject({ id: 2n, appended: true })
    })

    it('belongs to its group', async () => {
      const [a, b] = [context.unique('a'), context.unique('b')]
      const items = await groups().appendMany([
        { group: a, eventId: 'e' },
        { group: b, eventId: 'e' },
      ])
      expect(items.map((item) => item.appended)).toEqual([true, true])
    })

    it('counts within a batch as it does between calls', async () => {
      const group = context.unique()
      const other = context.unique()
      await groups().append(group, { eventId: 'old', payload: 'old' })
      const items = await groups().appendMany([
        { group, eventId: 'a', payload: 1 },
        { group: other, eventId: 'a', payload: 2 },
        { group, eventId: 'old', payload: 3 },
        { group, eventId: 'a', payload: 4 },
        { group, payload: 5 },
      ])
      expect(items.map((item) => [item.group, item.id, item.slot, item.payload, item.appended])).toEqual([
        [group, 1n, 1, 1, true],
        [other, 0n, 0, 2, true],
        [group, 0n, 0, 'old', false],
        [group, 1n, 1, 1, false],
        [group, 2n, 2, 5, true],
      ])
      expect((await groups().recent(group)).items.map((item) => item.payload)).toEqual([5, 1, 'old'])
    })

    it('is forgotten within a batch once the batch itself pushed its item out', async () => {
      const group = context.unique()
      await groups().put(group, { capacity: 2 })
      await groups().append(group, { eventId: 'old' })
      const items = await groups().appendMany([
        { group, eventId: 'a' },
        { group, eventId: 'b' },
        { group, eventId: 'old' },
        { group, eventId: 'b' },
        { group, eventId: 'a' },
      ])
      expect(items.map((item) => [item.id, item.appended])).toEqual([
        [1n, true],
        [2n, true],
        [3n, true],
        [2n, false],
        [4n, true],
      ])
      expect((await groups().recent(group)).items.map((item) => item.eventId)).toEqual(['a', 'old'])
    })

    it('is known in distinct mode until its member is seen again', async () => {
      const group = context.unique()
      await groups().put(group, { mode: 'distinct', capacity: 3 })
      await groups().append(group, { member: 'm', eventId: 'e' })
      expect(await groups().append(group, { member: 'n', eventId: 'e' })).toMatchObject({ id: 0n, member: 'm' })
      await groups().append(group, { member: 'm', eventId: 'f' })
      expect(await groups().append(group, { member: 'n', eventId: 'e' })).toMatchObject({ id: 2n, appended: true })
    })

    it('appends once for many concurrent retries', async () => {
      const group = context.unique()
      const items = await Promise.all(Array.from({ length: 12 }, () => groups().append(group, { eventId: 'once' })))
      expect(items.filter((item) => item.appended)).toHaveLength(1)
      expect(new Set(items.map((item) => item.id))).toEqual(new Set([0n]))
      expect(idsOf(await groups().recent(group))).toEqual([0n])
    })

    it('does not excuse an item without member in distinct mode', async () => {
      const group = context.unique()
      await groups().put(group, { mode: 'distinct' })
      expect((await refusal(groups().append(group, { eventId: 'e' }))).code).toBe('invalid_input')
      expect(await groups().append(group, { eventId: 'e', member: 'm' })).toMatchObject({ id: 0n, appended: true })
    })
  })
}

import { RecentGroup, RecentItem } from '../../../src/typeorm'
import { type Context, down, expectSound, idsOf, refusal } from '../context'

const PAST_DOUBLES = 9_007_199_254_740_993n
const LAST = 9_223_372_036_854_775_807n

export function describeBigint(context: Context): void {
  const groups = () => context.store.groups

  /** A group whose next append gets `id`. */
  async function startingAt(id: bigint, settings = {}): Promise<string> {
    const group = context.unique()
    await groups().put(group, settings)
    await context.store.dataSource.query(`UPDATE recentn_groups SET last_id = ${id - 1n} WHERE group_key = ?`, [group])
    return group
  }

  describe('BIGINT', () => {
    it.each([
      ['history', 9_007_199_254_740_990n],
      ['distinct', 9_007_199_254_740_990n],
      ['history', LAST - 12n],
      ['distinct', LAST - 12n],
    ] as const)('ids stay exact in %s from %d', async (mode, start) => {
      const group = await startingAt(start, { mode, capacity: 5 })
      const member = context.unique('m')
      for (let n = 0n; n < 6n; n++) {
        const item = await groups().append(group, { member: `${member}${n % 3n}`, eventId: `e${n}` })
        expect(item.id).toBe(start + n)
        if (mode === 'history') expect(item.slot).toBe(Number((start + n) % 5n))
      }
      const many = await groups().appendMany(
        Array.from({ length: 6 }, (_, n) => ({ group, member: `${member}${n}`, eventId: `f${n}` })),
      )
      expect(many.map((item) => item.id)).toEqual(down(start + 11n, 6).reverse())
      const recent = await groups().recent(group, { limit: 3 })
      expect(recent).toMatchObject({ totalAppended: start + 12n, nextBefore: start + 9n })
      expect(idsOf(recent)).toEqual(down(start + 11n, 3))
      expectSound(recent)
      expect(idsOf(await groups().recent(group, { before: start + 9n }))).toEqual(down(start + 8n, 2))
      expect(await groups().append(group, { member: `${member}9`, eventId: 'f5' })).toMatchObject({
        id: start + 11n,
        appended: false,
      })
      expect(idsOf(await groups().memberItems(`${member}5`))).toEqual([start + 11n])
      expect((await groups().list({ prefix: group })).groups[0]?.totalAppended).toBe(start + 12n)
      expect(await groups().remove(group, start + 10n)).toBe(true)
      expect(await groups().remove(group, start + 10n)).toBe(false)
      await groups().put(group, { mode, capacity: 4 })
      const after = await groups().recent(group)
      expect(idsOf(after)).toContain(start + 11n)
      expect(idsOf(after)).not.toContain(start + 10n)
      expectSound(after)
    })

    it('entities read and write them', async () => {
      const group = await startingAt(PAST_DOUBLES)
      const heads = context.store.dataSource.getRepository(RecentGroup)
      const items = context.store.dataSource.getRepository(RecentItem)
      expect((await heads.findOneByOrFail({ group })).lastId).toBe(PAST_DOUBLES - 1n)
      const { slot } = await groups().append(group, { payload: { a: 1 }, member: 'm' })
      const row = await items.findOneByOrFail({ group, id: PAST_DOUBLES })
      expect(row).toBeInstanceOf(RecentItem)
      expect(row).toMatchObject({ group, slot, id: PAST_DOUBLES, member: 'm', payload: '{"a":1}', eventId: null })
      await heads.update({ group }, { lastId: LAST - 1n })
      expect((await groups().append(group)).id).toBe(LAST)
      expect((await heads.findOneByOrFail({ group })).lastId).toBe(LAST)
      expect((await items.findOneByOrFail({ group, id: LAST })).slot).toBe(Number(LAST % 10n))
      await items.delete({ group, id: LAST })
      expect(idsOf(await groups().recent(group))).not.toContain(LAST)
    })

    it('the last id is given out, then appends are refused and the group stays readable', async () => {
      const group = await startingAt(LAST)
      const last = await groups().append(group, { eventId: 'e', payload: 'last' })
      expect([last.id, last.slot]).toEqual([LAST, 7])
      for (let n = 0; n < 2; n++) expect((await refusal(groups().append(group))).code).toBe('sequence_exhausted')
      expect(await groups().append(group, { eventId: 'e' })).toMatchObject({ id: LAST, appended: false })
      const recent = await groups().recent(group)
      expect(recent).toMatchObject({ totalAppended: LAST + 1n, nextBefore: null })
      expect(recent.items.map((item) => [item.id, item.payload])).toEqual([[LAST, 'last']])
      expect(idsOf(await groups().recent(group, { before: LAST }))).toEqual([])
      expect((await groups().get(group))?.totalAppended).toBe(LAST + 1n)
      await groups().put(group, { capacity: 3 })
      expectSound(await groups().recent(group))
      expect(await groups().remove(group, LAST)).toBe(true)
      expect((await refusal(groups().append(group))).code).toBe('sequence_exhausted')
      expect(await groups().clear(group)).toEqual({ deleted: 0 })
      await groups().drop(group)
      expect((await groups().append(group)).id).toBe(0n)
    })

    it('a batch that would pass the end stores nothing', async () => {
      const group = await startingAt(LAST - 1n)
      const other = context.unique()
      await groups().append(other)
      const batch = [{ group: other }, { group }, { group }, { group }, { group: other }]
      expect((await refusal(groups().appendMany(batch))).code).toBe('sequence_exhausted')
      expect(await groups().recent(group)).toMatchObject({ totalAppended: LAST - 1n, items: [] })
      expect((await groups().recent(other)).totalAppended).toBe(1n)
      const items = await groups().appendMany([{ group, eventId: 'a' }, { group }, { group, eventId: 'a' }])
      expect(items.map((item) => item.id)).toEqual([LAST - 1n, LAST, LAST - 1n])
    })
  })
}

import type { Item } from '../../../src/index'
import { type Context, down, eventually, idsOf, membersOf, rowsOf } from '../context'

export function describeMembers(context: Context): void {
  const groups = () => context.store.groups

  async function pages(member: string, limit: number): Promise<Item[][]> {
    const all: Item[][] = []
    let before: string | undefined
    do {
      const page = await groups().memberItems(member, { limit, before })
      all.push(page.items)
      before = page.nextBefore ?? undefined
    } while (before !== undefined)
    return all
  }

  describe('memberItems', () => {
    it('gives what one member did in all groups, newest first', async () => {
      const member = context.unique('m')
      const names = Array.from({ length: 3 }, () => context.unique())
      const expected: [string, bigint][] = []
      for (let n = 0; n < 9; n++) {
        const group = names[(n * 2) % 3] as string
        await groups().append(group, { member: 'someone else' })
        const item = await groups().append(group, { member, payload: { n }, eventId: `e${n}`, occurredAt: new Date(n) })
        expected.unshift([item.group, item.id])
        context.clock.offsetMs += 5
      }
      const { items, nextBefore } = await groups().memberItems(member)
      expect(items.map((item) => [item.group, item.id])).toEqual(expected)
      expect(nextBefore).toBeNull()
      expect(items[0]).toMatchObject({ member, payload: { n: 8 }, eventId: 'e8', occurredAt: new Date(8) })
      for (const limit of [1, 2, 3, 4, 8, 9]) {
        const parts = await pages(member, limit)
        expect(parts.flat().map((item) => [item.group, item.id])).toEqual(expected)
        expect(parts).toHaveLength(Math.ceil(9 / limit))
      }
    })

    it('pages over items of one millisecond without losing or repeating any', async () => {
      const member = context.unique('m')
      const names = Array.from({ length: 4 }, () => context.unique())
      await groups().appendMany(Array.from({ length: 40 }, (_, n) => ({ group: names[n % 4] as string, member })))
      const all = (await pages(member, 7)).flat()
      expect(new Set(all.map((item) => `${item.group}/${item.id}`)).size).toBe(40)
      expect(all).toHaveLength(40)
      for (const name of names) {
        expect(all.filter((item) => item.group === name).map((item) => item.id)).toEqual(down(9, 10))
      }
    })

    it('shows the windows only', async () => {
      const member = context.unique('m')
      const prefix = context.unique('p')
      const group = `${prefix}a`
      await groups().appendMany(Array.from({ length: 15 }, () => ({ group, member })))
      await groups().remove(group, 12n)
      expect((await groups().memberItems(member)).items.map((item) => item.id)).toEqual(
        down(14, 10).filter((id) => id !== 12n),
      )
      context.afterwards(() => context.store.policies.drop(prefix))
      await context.store.policies.put(prefix, { capacity: 4, mode: 'history' })
      await eventually(5500, 'the policy applies', async () => (await groups().memberItems(member)).items.length === 3)
      expect(idsOf(await groups().memberItems(member))).toEqual([14n, 13n, 11n])
      await groups().drop(group)
      expect(await groups().memberItems(member)).toEqual({ items: [], nextBefore: null })
    })

    it('knows no member that did nothing', async () => {
      expect(await groups().memberItems(context.unique('m'))).toEqual({ items: [], nextBefore: null })
    })
  })

  describe('eraseMember', () => {
    it('erases what is there in every group, and nothing else', async () => {
      const member = context.unique('m')
      const names = Array.from({ length: 30 }, () => context.unique())
      const [distinctGroup] = names as [string]
      await groups().put(distinctGroup, { mode: 'distinct' })
      await groups().appendMany(
        names.flatMap((group) => [
          { group, member },
          { group, member: 'other' },
          { group, member: `${member}x` },
        ]),
      )
      expect(await groups().eraseMember(member)).toEqual({ deleted: 30 })
      expect(await groups().eraseMember(member)).toEqual({ deleted: 0 })
      for (const recent of await groups().recentMany(names)) {
        expect([membersOf(recent), recent.totalAppended]).toEqual([[`${member}x`, 'other'], 3n])
      }
      expect((await groups().memberItems(member)).items).toEqual([])
      expect(await groups().append(distinctGroup, { member })).toMatchObject({ id: 3n })
    })

    it('reaches rows that a policy hides', async () => {
      const member = context.unique('m')
      const prefix = context.unique('p')
      const group = `${prefix}a`
      await groups().appendMany([{ group, member }, ...Array.from({ length: 8 }, () => ({ group, member: 'o' }))])
      context.afterwards(() => context.store.policies.drop(prefix))
      await context.store.policies.put(prefix, { capacity: 4, mode: 'history' })
      await groups().eraseMember(member)
      expect((await rowsOf(context.store, group)).filter((row) => row.member === member)).toEqual([])
    })

    it('erases thousands of items', async () => {
      const member = context.unique('m')
      const names = Array.from({ length: 250 }, () => context.unique())
      for (let n = 0; n < 10; n++) await groups().appendMany(names.map((group) => ({ group, member })))
      expect(await groups().eraseMember(member)).toEqual({ deleted: 2500 })
      const [first] = await groups().recentMany(names.slice(0, 1))
      expect(first).toMatchObject({ totalAppended: 10n, items: [] })
    })

    it('and appends at the same time never meet in a fault', async () => {
      const member = context.unique('m')
      const names = Array.from({ length: 5 }, () => context.unique())
      const appends = Array.from({ length: 40 }, (_, n) => groups().append(names[n % 5] as string, { member }))
      const erasures = Array.from({ length: 4 }, () => groups().eraseMember(member))
      await Promise.all([...appends, ...erasures])
      await groups().eraseMember(member)
      for (const recent of await groups().recentMany(names))
        expect(recent).toMatchObject({ totalAppended: 8n, items: [] })
    })
  })
}

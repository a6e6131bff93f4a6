import { bounded } from '../../../src/fields/options'
import { type Context, down, idsOf, membersOf } from '../context'

export function describeRead(context: Context): void {
  const groups = () => context.store.groups

  async function filled(count: number, capacity = 10): Promise<string> {
    const group = context.unique()
    await groups().put(group, { capacity })
    await groups().appendMany(Array.from({ length: count }, (_, n) => ({ group, member: `m${n % 3}`, payload: n })))
    return group
  }

  describe('recent', () => {
    it('answers nothing for a group that does not exist, and does not make it', async () => {
      const group = context.unique()
      expect(await groups().recent(group)).toMatchObject({
        group,
        capacity: 10,
        mode: 'history',
        totalAppended: 0n,
        items: [],
        nextBefore: null,
      })
      expect(await groups().get(group)).toBeNull()
    })

    it('gives 10 unless told, and never more than the window', async () => {
      const group = await filled(40, 25)
      expect(idsOf(await groups().recent(group))).toEqual(down(39, 10))
      expect(idsOf(await groups().recent(group, { limit: 10_000 }))).toEqual(down(39, 25))
      expect(idsOf(await groups().recent(group, { limit: 1 }))).toEqual([39n])
    })

    it('says where the next page begins, exactly when there is one', async () => {
      const group = await filled(40, 25)
      expect((await groups().recent(group, { limit: 24 })).nextBefore).toBe(16n)
      expect((await groups().recent(group, { limit: 25 })).nextBefore).toBeNull()
      const seen: bigint[] = []
      let before: bigint | undefined
      for (;;) {
        const page = await groups().recent(group, { limit: 7, before })
        seen.push(...idsOf(page))
        expect(page.totalAppended).toBe(40n)
        if (page.nextBefore === null) break
        expect(page.nextBefore).toBe(page.items.at(-1)?.id)
        before = page.nextBefore
      }
      expect(seen).toEqual(down(39, 25))
    })

    it('takes any id as before, also ones that are not there', async () => {
      const group = await filled(14)
      await groups().remove(group, 8n)
      expect(idsOf(await groups().recent(group, { before: 9n }))).toEqual(down(7, 4))
      expect(idsOf(await groups().recent(group, { before: 8n }))).toEqual(down(7, 4))
      expect(idsOf(await groups().recent(group, { before: 4n }))).toEqual([])
      expect(idsOf(await groups().recent(group, { before: 0n }))).toEqual([])
      expect(idsOf(await groups().recent(group, { before: 9_223_372_036_854_775_807n }))).toHaveLength(9)
      expect((await groups().recent(group, { before: 5n })).nextBefore).toBeNull()
    })

    it('looks only at what is there when it says that more follows', async () => {
      const group = await filled(10)
      await groups().remove(group, 0n)
      await groups().remove(group, 1n)
      expect((await groups().recent(group, { limit: 8 })).nextBefore).toBeNull()
      expect((await groups().recent(group, { limit: 7 })).nextBefore).toBe(3n)
    })

    it('leaves out the items of the members excluded and fills the page with others', async () => {
      const group = await filled(30, 30)
      const page = await groups().recent(group, { limit: 6, exclude: ['m1', 'm2', 'nobody'] })
      expect(idsOf(page)).toEqual([27n, 24n, 21n, 18n, 15n, 12n])
      expect(page.nextBefore).toBe(12n)
      const rest = await groups().recent(group, { limit: 6, exclude: ['m1', 'm2'], before: 12n })
      expect(idsOf(rest)).toEqual([9n, 6n, 3n, 0n])
      expect(rest.nextBefore).toBeNull()
      expect(idsOf(await groups().recent(group, { exclude: ['m0', 'm1', 'm2'] }))).toEqual([])
    })

    it('says that nothing follows when all that follows is excluded', async () => {
      const group = context.unique()
      await groups().appendMany([
        { group, member: 'hidden' },
        { group, member: 'a' },
        { group, member: 'b' },
      ])
      const page = await groups().recent(group, { limit: 2, exclude: ['hidden'] })
      expect([membersOf(page), page.nextBefore]).toEqual([['b', 'a'], null])
      expect((await groups().recent(group, { limit: 1, exclude: ['hidden'] })).nextBefore).toBe(2n)
    })

    it('does not leave out the items without a member', async () => {
      const group = context.unique()
      await groups().appendMany([{ group }, { group, member: 'a' }, { group, member: null }])
      expect(idsOf(await groups().recent(group, { exclude: ['a'] }))).toEqual([2n, 0n])
      expect(idsOf(await groups().recent(group, { exclude: ['a', 'a'] }))).toEqual([2n, 0n])
      expect(idsOf(await groups().recent(group, { exclude: [] }))).toEqual([2n, 1n, 0n])
    })

    it('takes 100 members to exclude', async () => {
      const group = context.unique()
      await groups().appendMany(Array.from({ length: 10 }, (_, n) => ({ group, member: `m${n * 20}` })))
      const exclude = Array.from({ length: 100 }, (_, n) => `m${n}`)
      expect(membersOf(await groups().recent(group, { exclude }))).toEqual(['m180', 'm160', 'm140', 'm120', 'm100'])
    })

    it('stops a page after maxBytes of JSON, but gives one item at least', async () => {
      const group = context.unique()
      const payload = 'x'.repeat(998) // 1,000 bytes as JSON
      await groups().appendMany(Array.from({ length: 10 }, () => ({ group, payload })))
      const page = await groups().recent(group, bounded({}, 4500))
      expect(page.items.length).toBeGreaterThanOrEqual(3)
      expect(page.items.length).toBeLessThanOrEqual(4)
      expect(page.nextBefore).toBe(page.items.at(-1)?.id)
      const one = await groups().recent(group, bounded({ before: 1n }, 1))
      expect([idsOf(one), one.nextBefore]).toEqual([[0n], null])
      const seen: bigint[] = []
      let before: bigint | undefined
      do {
        const part = await groups().recent(group, bounded({ before }, 2500))
        seen.push(...idsOf(part))
        before = part.nextBefore ?? undefined
      } while (before !== undefined)
      expect(seen).toEqual(down(9, 10))
    })

    it('reads a full window of 10,000', async () => {
      const group = context.unique()
      await groups().put(group, { capacity: 10_000 })
      for (let from = 0; from < 10_500; from += 1000) {
        const count = Math.min(1000, 10_500 - from)
        await groups().appendMany(Array.from({ length: count }, () => ({ group })))
      }
      const recent = await groups().recent(group, { limit: 10_000 })
      expect(recent.totalAppended).toBe(10_500n)
      expect(idsOf(recent)).toEqual(down(10_499, 10_000))
      expect(recent.nextBefore).toBeNull()
    })
  })

  describe('recentMany', () => {
    it('answers in the order asked, unknown groups and repeated ones included', async () => {
      const [a, b] = [await filled(3), await filled(15)]
      const unknown = context.unique()
      const answers = await groups().recentMany([b, unknown, a, b], { limit: 2 })
      expect(answers.map((answer) => [answer.group, answer.totalAppended, idsOf(answer)])).toEqual([
        [b, 15n, [14n, 13n]],
        [unknown, 0n, []],
        [a, 3n, [2n, 1n]],
        [b, 15n, [14n, 13n]],
      ])
      expect(answers[1]).toMatchObject({ capacity: 10, mode: 'history', nextBefore: null })
    })

    it('answers for each group what recent answers', async () => {
      const names = [await filled(1), await filled(12, 5), context.unique(), await filled(7)]
      const options = { limit: 3, exclude: ['m1'] }
      const one = await Promise.all(names.map((name) => groups().recent(name, options)))
      expect(await groups().recentMany(names, options)).toEqual(one)
    })

    it('takes 100 groups', async () => {
      const group = await filled(2)
      const answers = await groups().recentMany(
        Array.from({ length: 100 }, (_, n) => (n === 50 ? group : `${group}${n}`)),
      )
      expect(answers).toHaveLength(100)
      expect(idsOf(answers[50] as { items: { id: bigint }[] })).toEqual([1n, 0n])
    })
  })
}

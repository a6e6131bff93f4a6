import { type Context, down, expectSound, idsOf, membersOf } from '../context'

export function describeSettings(context: Context): void {
  const groups = () => context.store.groups

  const fill = (group: string, members: readonly (string | null)[]) =>
    groups().appendMany(members.map((member) => ({ group, member })))

  describe('settings', () => {
    it('creates, then replaces', async () => {
      const group = context.unique()
      const made = await groups().put(group, { capacity: 3, mode: 'distinct', ttlSeconds: 60 })
      expect(made).toMatchObject({
        group,
        capacity: 3,
        mode: 'distinct',
        ttlSeconds: 60,
        totalAppended: 0n,
        created: true,
      })
      const { created: _, ...group1 } = made
      expect(await groups().get(group)).toEqual(group1)
      await groups().append(group, { member: 'm' })
      expect(await groups().put(group, { capacity: 4 })).toEqual({
        ...group1,
        tag: expect.any(String),
        capacity: 4,
        mode: 'history',
        ttlSeconds: null,
        own: { capacity: 4 },
        totalAppended: 1n,
        created: false,
      })
      expect(await groups().put(group)).toMatchObject({ capacity: 10, mode: 'history', ttlSeconds: null })
      expect(await groups().recent(group)).toMatchObject({ capacity: 10, mode: 'history', totalAppended: 1n })
    })

    it('follows the policy with what is left out or undefined, and keeps an own ttl of null', async () => {
      const prefix = context.unique('p')
      await context.store.policies.put(prefix, { capacity: 7, mode: 'distinct', ttlSeconds: 90 })
      context.afterwards(() => context.store.policies.drop(prefix))
      const group = `${prefix}a`
      const policy = { capacity: 7, mode: 'distinct', ttlSeconds: 90 }
      expect(await groups().put(group)).toMatchObject(policy)
      expect(await groups().put(group, { capacity: 2 })).toMatchObject({ ...policy, capacity: 2 })
      expect(await groups().put(group, { mode: 'history' })).toMatchObject({ ...policy, mode: 'history' })
      expect(await groups().put(group, { ttlSeconds: null })).toMatchObject({ ...policy, ttlSeconds: null })
      expect(await groups().get(group)).toMatchObject({ ...policy, ttlSeconds: null })
      expect(await groups().put(group, { ttlSeconds: undefined })).toMatchObject(policy)
    })

    it("tells which settings are the group's own, so that they can be put again, and which policy the others are of", async () => {
      const prefix = context.unique('p')
      await context.store.policies.put(prefix, { capacity: 5, mode: 'distinct', ttlSeconds: 1000 })
      context.afterwards(() => context.store.policies.drop(prefix))
      const [group, alone] = [`${prefix}a`, context.unique()]
      await groups().append(group, { member: 'm' })
      for (const own of [
        {},
        { capacity: 5 },
        { capacity: 7, ttlSeconds: null },
        { mode: 'distinct', ttlSeconds: 9, forgetEmptySeconds: 8 },
      ] as const) {
        const { created: _, ...put } = await groups().put(group, own)
        expect(put).toEqual({
          ...{ group, capacity: 5, mode: 'distinct', ttlSeconds: 1000, forgetEmptySeconds: null },
          ...{ tag: expect.any(String), totalAppended: 1n, createdAt: expect.any(Date) },
          ...own,
          own,
          policy: prefix,
        })
        const got = await groups().get(group)
        expect([got, Object.keys(got?.own ?? {})]).toEqual([put, Object.keys(own)])
        expect((await groups().list({ prefix: group })).groups).toEqual([put])
      }
      expect(await groups().put(alone, { capacity: 3 })).toMatchObject({ own: { capacity: 3 }, policy: null })
    })

    it('answers once that it created the group, to those who do so at the same time', async () => {
      for (let n = 0; n < 15; n++) {
        const group = context.unique()
        const answers = await Promise.all([1, 2, 3].map((capacity) => groups().put(group, { capacity })))
        expect(answers.filter(({ created }) => created)).toHaveLength(1)
      }
    })

    it('makes a group by its first append as the policy says, created at that time', async () => {
      const group = context.unique()
      const item = await groups().append(group)
      expect(await groups().get(group)).toEqual({
        group,
        tag: expect.any(String),
        capacity: 10,
        mode: 'history',
        ttlSeconds: null,
        forgetEmptySeconds: null,
        own: {},
        policy: null,
        totalAppended: 1n,
        createdAt: item.createdAt,
      })
    })

    it('takes the smallest and the largest capacity', async () => {
      const group = context.unique()
      await groups().put(group, { capacity: 1 })
      await fill(group, ['a', 'b', 'c'])
      expect(idsOf(await groups().recent(group))).toEqual([2n])
      expect(await groups().put(group, { capacity: 10_000 })).toMatchObject({ capacity: 10_000 })
      expect(idsOf(await groups().recent(group))).toEqual([2n])
    })
  })

  describe('a change of capacity', () => {
    it.each([
      [10, 3],
      [10, 9],
      [10, 1],
      [7, 4],
    ])('from %d to %d keeps the last ids', async (from, to) => {
      const group = context.unique()
      await groups().put(group, { capacity: from })
      await fill(group, Array(23).fill('m'))
      await groups().put(group, { capacity: to })
      const recent = await groups().recent(group, { limit: 100 })
      expect(idsOf(recent)).toEqual(down(22, to))
      expectSound(recent)
      await groups().put(group, { capacity: from })
      expect(idsOf(await groups().recent(group, { limit: 100 }))).toEqual(down(22, to))
    })

    it.each([
      [3, 10],
      [9, 10],
      [1, 25],
      [4, 6],
    ])('from %d to %d loses nothing and grows from there', async (from, to) => {
      const group = context.unique()
      await groups().put(group, { capacity: from })
      await fill(group, Array(23).fill('m'))
      await groups().put(group, { capacity: to })
      expectSound(await groups().recent(group, { limit: 200 }))
      for (let more = 0; more <= to; more++) {
        const recent = await groups().recent(group, { limit: 200 })
        expect(idsOf(recent)).toEqual(down(22 + more, Math.min(from + more, to)))
        if (more % 7 === 0) expectSound(recent)
        if (more % 2 === 0 || to < 20) await groups().append(group)
        else await groups().append(group, { member: 'x' })
      }
    })

    it('keeps what the window has of a history with holes', async () => {
      const group = context.unique()
      await fill(group, Array(18).fill('m'))
      for (const id of [17n, 15n, 9n]) await groups().remove(group, id)
      await groups().put(group, { capacity: 5 })
      expect(idsOf(await groups().recent(group))).toEqual([16n, 14n, 13n])
      await groups().put(group, { capacity: 8 })
      await groups().append(group)
      const recent = await groups().recent(group)
      expect(idsOf(recent)).toEqual([18n, 16n, 14n, 13n])
      expectSound(recent)
    })

    it('keeps the newest members of a distinct group', async () => {
      const group = context.unique()
      await groups().put(group, { capacity: 5, mode: 'distinct' })
      await fill(group, ['a', 'b', 'c', 'd', 'e', 'b', 'a'])
      await groups().put(group, { capacity: 3, mode: 'distinct' })
      expect(membersOf(await groups().recent(group))).toEqual(['a', 'b', 'e'])
      await groups().put(group, { capacity: 4, mode: 'distinct' })
      await fill(group, ['z', 'e', 'y'])
      const recent = await groups().recent(group)
      expect(membersOf(recent)).toEqual(['y', 'e', 'z', 'a'])
      expectSound(recent)
    })
  })

  describe('a change of mode', () => {
    it('to distinct keeps the newest item of each member', async () => {
      const group = context.unique()
      await fill(group, ['gone', 'a', null, 'b', 'a', 'c', null, 'b', 'a', 'd', null])
      await groups().put(group, { mode: 'distinct' })
      const recent = await groups().recent(group)
      expect(recent.items.map((item) => [item.member, item.id])).toEqual([
        ['d', 9n],
        ['a', 8n],
        ['b', 7n],
        ['c', 5n],
      ])
      expect(recent.totalAppended).toBe(11n)
      expectSound(recent)
      expect((await groups().append(group, { member: 'c' })).id).toBe(11n)
      expect(membersOf(await groups().recent(group))).toEqual(['c', 'd', 'a', 'b'])
    })

    it('to distinct with fewer places keeps the newest members', async () => {
      const group = context.unique()
      await fill(group, ['a', 'b', 'c', 'b', 'c', 'c', 'b', 'c', 'c', 'c'])
      await groups().put(group, { mode: 'distinct', capacity: 2 })
      const recent = await groups().recent(group)
      expect(membersOf(recent)).toEqual(['c', 'b'])
      expectSound(recent)
    })

    it('to history keeps the items among the last ids', async () => {
      const group = context.unique()
      await groups().put(group, { mode: 'distinct', capacity: 4 })
      await fill(group, ['a', 'b', 'c', 'd', 'd', 'd', 'c', 'd'])
      expect(idsOf(await groups().recent(group))).toEqual([7n, 6n, 1n, 0n])
      await groups().put(group, { mode: 'history', capacity: 7 })
      const recent = await groups().recent(group)
      expect(idsOf(recent)).toEqual([7n, 6n, 1n])
      expectSound(recent)
      await groups().append(group)
      expect(idsOf(await groups().recent(group))).toEqual([8n, 7n, 6n])
    })

    it('and back loses nothing that fits both', async () => {
      const group = context.unique()
      await fill(group, ['a', 'b', 'c'])
      for (const mode of ['distinct', 'history', 'distinct', 'history'] as const) {
        await groups().put(group, { mode })
        const recent = await groups().recent(group)
        expect(membersOf(recent)).toEqual(['c', 'b', 'a'])
        expectSound(recent)
      }
    })

    it('gives up nothing that fits while others append', async () => {
      const group = context.unique()
      await groups().put(group, { capacity: 8 })
      const appended: bigint[] = []
      const writers = Array.from({ length: 4 }, async (_, writer) => {
        for (let n = 0; n < 12; n++) appended.push((await groups().append(group, { member: `m${writer}` })).id)
      })
      const changes = (async () => {
        for (const capacity of [5, 9, 30, 12, 6, 20]) await groups().put(group, { capacity })
      })()
      await Promise.all([...writers, changes])
      const recent = await groups().recent(group, { limit: 100 })
      expect([...appended].sort((a, b) => Number(b - a))).toEqual(down(47, 48))
      expect(idsOf(recent)).toEqual(down(47, recent.items.length))
      expect(recent.items.length).toBeGreaterThanOrEqual(5)
      expectSound(recent)
    })
  })

  describe('list', () => {
    it('gives the groups of a prefix in code point order, page by page', async () => {
      const prefix = context.unique('list')
      // U+FF5E comes before U+1F600 by code points and after it by UTF-16 units.
      const endings = ['', 'B', 'a', 'a b', 'a%', 'a_', 'b', 'é', 'e\u0301', '\uff5e', '😀', '😁']
      const names = endings.map((ending) => prefix + ending)
      await groups().appendMany([...names].reverse().map((group) => ({ group })))
      await groups().put(`${prefix}b`, { capacity: 3 })
      const inOrder = [...names].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
      const all = await groups().list({ prefix })
      expect(all.groups.map((group) => group.group)).toEqual(inOrder)
      expect(all.nextAfter).toBeNull()
      expect(all.groups.find((group) => group.group === `${prefix}b`)).toEqual(await groups().get(`${prefix}b`))
      const paged: string[] = []
      let after: string | undefined
      do {
        const page = await groups().list({ prefix, limit: 5, after })
        expect(page.groups.length).toBeLessThanOrEqual(5)
        paged.push(...page.groups.map((group) => group.group))
        after = page.nextAfter ?? undefined
      } while (after !== undefined)
      expect(paged).toEqual(inOrder)
      expect((await groups().list({ prefix, limit: names.length })).nextAfter).toBeNull()
    })

    it('takes the signs of LIKE and the last code points as plain characters', async () => {
      const base = context.unique('like')
      const prefixes = ['%', '_', '\\', '[a-z]', '*', "'", '\u{10ffff}', '\ud7ff', '\uffff'].map((sign) => base + sign)
      await groups().appendMany(prefixes.flatMap((prefix) => [{ group: prefix }, { group: `${prefix}x` }]))
      await groups().append(`${base}zz`)
      for (const prefix of prefixes) {
        const names = (await groups().list({ prefix })).groups.map((group) => group.group)
        expect(names).toEqual([prefix, `${prefix}x`])
      }
      expect((await groups().list({ prefix: context.unique('none') })).groups).toEqual([])
    })

    it('gives all groups without a prefix, those of no items included', async () => {
      const group = context.unique('\u0021')
      await groups().put(group)
      const seen = new Set<string>()
      let after: string | undefined
      do {
        const page = await groups().list({ limit: 1000, after })
        for (const one of page.groups) seen.add(one.group)
        after = page.nextAfter ?? undefined
      } while (after !== undefined)
      expect(seen).toContain(group)
    })
  })
}

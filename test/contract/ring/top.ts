import type { OwnSettings, Recent } from '../../../src/index'
import type { Mode } from '../../../src/shared/group-types'
import { type Context, membersOf, refusal } from '../context'
import { insert, move } from '../door/tools'
import { statementsOf } from '../statements'
import { following } from './watch-tools'

const scoresOf = (recent: Recent) => recent.items.map(({ member, score }) => [member, score])

export function describeTop(context: Context): void {
  const groups = () => context.store.groups

  async function top(own: OwnSettings, ...scores: [member: string, score: number][]): Promise<string> {
    const group = context.unique()
    await groups().put(group, { mode: 'top', ...own })
    for (const [member, score] of scores) await groups().append(group, { member, score })
    return group
  }

  describe('top mode', () => {
    it('keeps the members with the highest scores, the highest first', async () => {
      const group = await top({ capacity: 3 }, ['a', 1], ['b', 3], ['c', 2], ['d', 2.5], ['e', 0.5])
      const recent = await groups().recent(group)
      expect(scoresOf(recent)).toEqual([
        ['b', 3],
        ['d', 2.5],
        ['c', 2],
      ])
      expect(recent).toMatchObject({ mode: 'top', capacity: 3, totalAppended: 4n, nextBefore: null })
      expect((await groups().get(group))?.totalAppended).toBe(4n)
    })

    it('answers an append that it does not take with the item in its way', async () => {
      const group = await top({ capacity: 2 }, ['a', 5], ['b', 3])
      await groups().append(group, { member: 'a', score: 6, payload: { level: 2 }, eventId: 'e' })
      const worse = await groups().append(group, { member: 'a', score: 6, payload: 'again' })
      expect(worse).toMatchObject({ id: 2n, member: 'a', score: 6, payload: { level: 2 }, appended: false })
      expect(await groups().append(group, { member: 'c', score: 3 })).toMatchObject({ member: 'b', appended: false })
      const repeated = await groups().append(group, { member: 'a', score: 9, eventId: 'e' })
      expect(repeated).toMatchObject({ id: 2n, score: 6, appended: false })
      const many = await groups().appendMany([
        { group, member: 'c', score: 4 },
        { group, member: 'b', score: 3 },
        { group, member: 'c', score: 4.5 },
      ])
      expect(many.map(({ member, appended }) => [member, appended])).toEqual([
        ['c', true],
        ['c', false],
        ['c', true],
      ])
      expect((await groups().recent(group)).totalAppended).toBe(5n)
    })

    it('replaces the score of a member if the append says so', async () => {
      const group = await top({ capacity: 2 }, ['a', 5], ['b', 3])
      expect(await groups().append(group, { member: 'a', score: 1, keep: 'latest' })).toMatchObject({ appended: true })
      expect(await groups().append(group, { member: 'a', score: 0, keep: 'highest' })).toMatchObject({
        appended: false,
      })
      expect(scoresOf(await groups().recent(group))).toEqual([
        ['b', 3],
        ['a', 1],
      ])
    })

    it('changes the score of a member who is in, by an item with the next id and the old payload', async () => {
      const group = await top({ capacity: 2 }, ['a', 5], ['b', 3])
      const first = await groups().append(group, { member: 'a', score: 8, payload: { n: 1 }, eventId: 'e' })
      const changed = await groups().changeScore(group, 'a', -7.5)
      const { appended: _, ...same } = first
      expect(changed).toEqual({ ...same, id: 3n, score: 0.5 })
      expect(scoresOf(await groups().recent(group))).toEqual([
        ['b', 3],
        ['a', 0.5],
      ])
      expect(await groups().changeScore(group, 'a', 2.5, { payloads: 'text' })).toMatchObject({
        payload: { text: '{"n":1}' },
      })
      // Of equal scores the one that came later is behind.
      expect(membersOf(await groups().recent(group))).toEqual(['b', 'a'])
      expect(await groups().changeScore(group, 'c', 1)).toBeNull()
      expect(await groups().changeScore(context.unique(), 'a', 1)).toBeNull()
      expect((await groups().recent(group)).totalAppended).toBe(5n)
    })

    it('refuses what has no place in it', async () => {
      const group = await top({ capacity: 2 }, ['a', 5])
      const faultsOf = async (call: Promise<unknown>) => (await refusal(call)).faults.map((each) => each.pointer)
      expect(await faultsOf(groups().append(group, {}))).toEqual(['/member', '/score'])
      const many = [
        { group, member: 'b', score: 1 },
        { group, member: 'b' },
      ]
      expect(await faultsOf(groups().appendMany(many))).toEqual(['/1/score'])
      expect(await faultsOf(groups().append(group, { member: 'b', score: Number.NaN }))).toEqual(['/score'])
      expect(await faultsOf(groups().append(context.unique(), { keep: 'latest' }))).toEqual(['/keep'])
      expect(await faultsOf(groups().changeScore(group, 'a', Number.POSITIVE_INFINITY))).toEqual(['/by'])
      await groups().changeScore(group, 'a', Number.MAX_VALUE)
      expect(await faultsOf(groups().changeScore(group, 'a', Number.MAX_VALUE))).toEqual(['/by'])
      const history = context.unique()
      await groups().append(history, { member: 'a', score: 1 })
      expect(await refusal(groups().changeScore(history, 'a', 1))).toMatchObject({ code: 'invalid_input' })
      expect(await groups().recent(group)).toMatchObject({ totalAppended: 2n })
    })

    it('keeps scores exactly, on all ways out', async () => {
      const scores = [2 ** 53, 2 ** 53 - 1, 0.1 + 0.2, 0.3, 5e-324, 0, -5e-324, -1 / 3, -Number.MAX_VALUE]
      const group = await top(
        { capacity: 9 },
        ...scores.map((score, n): [string, number] => [`m${n}`, score]).reverse(),
      )
      const other = await context.open()
      for (const store of [context.store, other]) {
        expect((await store.groups.recent(group)).items.map(({ score }) => score)).toEqual(scores)
        const pages = await store.groups.recent(group, { limit: 1000 })
        expect(pages.items.map(({ score }) => score)).toEqual(scores)
      }
      const first = (await groups().recent(group)).items[2]
      expect((await groups().item(group, first?.id ?? 0n))?.score).toBe(0.1 + 0.2)
      await groups().append(group, { member: 'm5', score: -0, keep: 'latest' })
      expect((await groups().changeScore(group, 'm5', 0))?.score).toBe(0)
    })

    it('reads on by the number of items above, with members left out', async () => {
      const count = 150
      const group = await top({ capacity: count })
      const items = Array.from({ length: count }, (_, n) => ({ group, member: `m${n}`, score: (n * 77) % count }))
      await groups().appendMany(items)
      const other = await context.open()
      for (const [store, limit] of [
        [context.store, 40],
        [other, 70],
        [other, 1],
      ] as const) {
        const read: (number | null)[] = []
        let before: bigint | undefined
        const until = limit === 1 ? 3 : count
        do {
          const page = await store.groups.recent(group, { limit, before, exclude: ['m0', 'none'] })
          read.push(...page.items.map(({ score }) => score))
          before = page.nextBefore ?? undefined
          if (before !== undefined) expect(before).toBe(BigInt(read.length))
        } while (before !== undefined && read.length < until)
        const all = Array.from({ length: count - 1 }, (_, n) => count - 1 - n)
        expect(read).toEqual(limit === 1 ? all.slice(0, 3) : all)
      }
      const pages = await other.groups.recentMany([group, context.unique(), group], { limit: 70 })
      expect(pages[0]?.items.map(({ score }) => score)).toEqual(Array.from({ length: 70 }, (_, n) => count - 1 - n))
      // Pages that could be too large are cut by the statement.
      const cut = await other.groups.recent(group, { limit: 120 })
      expect(cut.items.map(({ score }) => score)).toEqual(Array.from({ length: 120 }, (_, n) => count - 1 - n))
      expect(cut.nextBefore).toBe(120n)
    })

    it('gives the places of what has expired to others, and shows none of it', async () => {
      const group = await top({ capacity: 2, ttlSeconds: 100 }, ['a', 9])
      context.clock.offsetMs += 60_000
      await groups().append(group, { member: 'b', score: 1 })
      context.clock.offsetMs += 60_000
      const [later] = [await context.open()]
      for (const limit of [10, 1000]) expect(membersOf(await later.groups.recent(group, { limit }))).toEqual(['b'])
      await groups().append(group, { member: 'c', score: 0 })
      expect(membersOf(await groups().recent(group))).toEqual(['b', 'c'])
      expect(await groups().append(group, { member: 'a', score: 5 })).toMatchObject({ appended: true })
      expect(membersOf(await groups().recent(group))).toEqual(['a', 'b'])
      expect(await groups().changeScore(group, 'b', 10)).toMatchObject({ score: 11 })
      context.clock.offsetMs += 50_000
      expect(membersOf(await groups().recent(group))).toEqual(['a'])
      expect(await groups().changeScore(group, 'b', 10)).toBeNull()
    })

    it('follows its policy: readers at once, and the table with the next write', async () => {
      const prefix = context.unique('p:')
      const group = `${prefix}g`
      for (const [member, score] of [
        ['a', 3],
        ['b', 1],
        ['a', 2],
        ['c', 5],
        ['d', null],
      ] as const) {
        await groups().append(group, { member, score })
      }
      expect(await context.store.policies.losses(prefix, { mode: 'top', capacity: 2 })).toMatchObject({ items: 3 })
      await context.store.policies.put(prefix, { mode: 'top', capacity: 2 })
      const other = await context.open()
      const best = [
        ['c', 5],
        ['a', 3],
      ]
      for (const limit of [10, 1000]) expect(scoresOf(await other.groups.recent(group, { limit }))).toEqual(best)
      expect((await groups().memberItems('a', { prefix })).items.map(({ id }) => id)).toEqual([0n])
      await groups().append(group, { member: 'e', score: 4 })
      expect(membersOf(await groups().recent(group))).toEqual(['c', 'e'])
      await context.store.policies.put(prefix, { mode: 'history', capacity: 5 })
      await groups().append(group, {})
      expect(membersOf(await groups().recent(group))).toEqual([null, 'e', 'c'])
    })

    it('tells listeners what better items push out, and a changed score as an item', async () => {
      const group = await top({ capacity: 2 }, ['a', 5], ['b', 3])
      const heard = following(context, groups().watch(group))
      await heard.ready
      await groups().append(group, { member: 'c', score: 4 })
      await heard.until(2)
      await groups().changeScore(group, 'a', -2)
      await heard.until(4)
      await groups().append(group, { member: 'd', score: 1 })
      await groups().remove(group, 2n)
      await heard.until(5)
      expect(heard.told).toEqual(['-1', '+2 c', '-0', '+3 a', '-2'])
    })

    it('changes its tag with a score, and with nothing that is not taken', async () => {
      const group = await top({ capacity: 1 }, ['a', 5])
      const { tag } = await groups().recent(group)
      await groups().append(group, { member: 'b', score: 5 })
      expect(await groups().recentIfChanged(group, tag)).toBeNull()
      await groups().changeScore(group, 'a', 1)
      expect(await groups().recentIfChanged(group, tag)).toMatchObject({ items: [{ score: 6 }] })
    })

    it('is erased and read by member', async () => {
      const member = context.unique('m')
      const group = await top({ capacity: 3 }, [member, 5], ['b', 3])
      await groups().changeScore(group, member, 1)
      expect((await groups().memberItems(member)).items).toMatchObject([{ group, score: 6 }])
      expect(await groups().eraseMember(member)).toEqual({ deleted: 1 })
      expect(membersOf(await groups().recent(group))).toEqual(['b'])
    })

    it('takes scores from plain SQL', async () => {
      const group = await top({ capacity: 2 })
      const rows = [1.5, 2 ** 53 - 1, 0.1 + 0.2].map((score, n) => ({ group_key: group, member: `m${n}`, score }))
      await insert(context.store, 'appends', ...rows)
      expect(await move(context.store)).toBe(3)
      expect(scoresOf(await groups().recent(group))).toEqual([
        ['m1', 2 ** 53 - 1],
        ['m0', 1.5],
      ])
    })

    it('runs the statements of a distinct group, with one column more; history is as it was', async () => {
      const { store, statements } = await statementsOf(context)
      const ran = async (mode: Mode) => {
        const group = context.unique()
        await groups().put(group, { mode, capacity: 3 })
        statements.length = 0
        const scored = (score: number) => (mode === 'top' ? { score } : {})
        for (let n = 0; n < 6; n++) await store.groups.append(group, { member: `m${n % 4}`, payload: n, ...scored(n) })
        await store.groups.recent(group)
        // Changes of another process are read.
        await groups().append(group, { member: 'm0', ...scored(50) })
        await store.groups.appendMany([{ group, member: 'm1', ...scored(60) }])
        await store.groups.recent(group)
        // Names, numbers and texts are no difference.
        return statements.map((sql) => sql.replaceAll(/'[^']*'|\b\d+\b/g, '?'))
      }
      await ran('history')
      const [top, distinct, history] = [await ran('top'), await ran('distinct'), await ran('history')]
      const isWrite = (sql: string) => sql.startsWith('REPLACE INTO recentn_items')
      const readsItems = (sql: string) => /SELECT.*FROM recentn_items/s.test(sql)
      expect(top.map((sql) => (isWrite(sql) ? 'write' : sql))).toEqual(
        distinct.map((sql) => (isWrite(sql) ? 'write' : sql)),
      )
      expect([top, distinct, history].map((all) => all.filter(isWrite).length)).toEqual([7, 7, 7])
      expect(top.filter(isWrite).every((sql) => sql.includes('event_id, score) VALUES'))).toBe(true)
      expect(history.some((sql) => isWrite(sql) && sql.includes('score'))).toBe(false)
      // The two pages; and the window before an append, twice, which a history group never reads.
      expect([top, history].map((all) => all.filter(readsItems).length)).toEqual([4, 2])
    })

    it('reads what is in the way of many appends with one statement', async () => {
      const group = await top({ capacity: 2 }, ['a', 8], ['b', 9])
      await groups().append(group, { member: 'a', score: 10, payload: 'best', eventId: 'e' })
      const { store, statements } = await statementsOf(context)
      const worse = Array.from({ length: 300 }, (_, n) => ({ group, member: n % 2 ? `m${n}` : 'a', score: n % 8 }))
      const [first, ...more] = await store.groups.appendMany([{ group, member: 'a', score: 10 }, ...worse])
      expect(first).toMatchObject({ id: 2n, payload: 'best', eventId: 'e', appended: false })
      expect(new Set(more.map(({ member, appended }) => `${member} ${appended}`))).toEqual(
        new Set(['a false', 'b false']),
      )
      expect(statements.filter((sql) => /SELECT.*FROM recentn_items/s.test(sql))).toHaveLength(2)
    })

    it('counts changes of scores by many callers, and keeps the best of many appends', async () => {
      const group = await top({ capacity: 4 }, ['a', 0])
      const other = await context.open()
      const add = (store = context.store) =>
        Promise.all(Array.from({ length: 20 }, () => store.groups.changeScore(group, 'a', 1)))
      const append = (store = context.store) =>
        Promise.all(
          Array.from({ length: 60 }, (_, n) => store.groups.append(group, { member: `m${n % 30}`, score: n * 7 })),
        )
      await groups().changeScore(group, 'a', 1000)
      await Promise.all([add(), add(other), append(), append(other)])
      expect((await groups().recent(group)).items.map(({ score }) => score)).toEqual([1040, 413, 406, 399])
    })
  })
}

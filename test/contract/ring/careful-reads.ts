import type { Recent, Store } from '../../../src/index'
import { type Context, down, expectSound, idsOf, membersOf } from '../context'

/** Reads that may get too large take two statements: whatever is written between them, the page is one moment's. */
export function describeCarefulReads(context: Context): void {
  const groups = () => context.store.groups
  const LARGE = { limit: 100, maxBytes: 4 * 1024 * 1024 }

  /** A store whose next read of items is followed by `write`, before its next statement. */
  async function interrupted(write: () => Promise<unknown>): Promise<Store> {
    const store = await context.open()
    const { dataSource } = store
    const create = dataSource.createQueryRunner.bind(dataSource)
    let isDue = true
    context.afterwards(async () => expect(isDue).toBe(false))
    dataSource.createQueryRunner = (mode) => {
      const runner = create(mode)
      const query = runner.query.bind(runner) as (...all: unknown[]) => Promise<unknown>
      const watched = async (sql: string, ...rest: unknown[]) => {
        const rows = await query(sql, ...rest)
        if (isDue && sql.includes('recentn_items')) {
          isDue = false
          await write()
        }
        return rows
      }
      runner.query = watched as typeof runner.query
      return runner
    }
    return store
  }

  async function filled(count: number, settings = {}): Promise<string> {
    const group = context.unique()
    await groups().put(group, settings)
    await groups().appendMany(Array.from({ length: count }, (_, n) => ({ group, member: `m${n}`, payload: n })))
    return group
  }

  /** The items with the id as payload must have it, and a tag may stand for one answer only. */
  function expectOneMoment(page: Recent, before: Recent): void {
    expectSound(page)
    for (const { id, payload } of page.items) if (payload !== null) expect(payload).toBe(Number(id))
    if (page.items.map(({ id }) => id).join() !== idsOf(before).join()) expect(page.tag).not.toBe(before.tag)
  }

  const append = (group: string, from: number, count: number) =>
    groups().appendMany(Array.from({ length: count }, (_, n) => ({ group, payload: from + n })))

  describe('a read that may get too large', () => {
    it('gives a full page when appends come between its statements', async () => {
      const group = await filled(100, { capacity: 100 })
      const before = await groups().recent(group, LARGE)
      const store = await interrupted(() => append(group, 100, 60))
      const page = await store.groups.recent(group, LARGE)
      expect([idsOf(page), page.total, page.nextBefore]).toEqual([down(159, 100), 160n, null])
      expectOneMoment(page, before)
      expect(page).toEqual(await groups().recent(group, LARGE))
    })

    it('gives a full page, and where the next one begins, when it shows a part of the window', async () => {
      const group = await filled(100, { capacity: 100 })
      const options = { limit: 70, maxBytes: 4 * 1024 * 1024 }
      const before = await groups().recent(group, options)
      const store = await interrupted(() => append(group, 100, 60))
      const page = await store.groups.recent(group, options)
      expect(idsOf(page)).toEqual(down(159, 70))
      expect(page.nextBefore).toBe(90n)
      expectOneMoment(page, before)
      const rest = await store.groups.recent(group, { ...options, before: page.nextBefore as bigint })
      expect([idsOf(rest), rest.nextBefore]).toEqual([down(89, 30), null])
    })

    it('shows a member of a distinct group that is seen again meanwhile', async () => {
      const group = await filled(3, { capacity: 100, mode: 'distinct' })
      const before = await groups().recent(group, LARGE)
      const store = await interrupted(() => groups().append(group, { member: 'm1', payload: 3 }))
      const page = await store.groups.recent(group, LARGE)
      expect([membersOf(page), page.total]).toEqual([['m1', 'm2', 'm0'], 4n])
      expectOneMoment(page, before)
    })

    it('goes on to an older item when the only one of its page is removed meanwhile', async () => {
      const group = await filled(5)
      const options = { limit: 1, maxBytes: 1000 }
      const before = await groups().recent(group, options)
      const store = await interrupted(() => groups().remove(group, 4n))
      const page = await store.groups.recent(group, options)
      expect([idsOf(page), page.nextBefore]).toEqual([[3n], 3n])
      expectOneMoment(page, before)
    })

    it('tells of nothing when the group is emptied or deleted meanwhile', async () => {
      for (const write of ['clear', 'delete'] as const) {
        const group = await filled(5)
        const before = await groups().recent(group, LARGE)
        const store = await interrupted(() => groups()[write](group))
        const page = await store.groups.recent(group, LARGE)
        expect(page).toMatchObject({ items: [], nextBefore: null, total: write === 'clear' ? 5n : 0n })
        expect(page.tag).not.toBe(before.tag)
      }
    })

    it('has another tag where it was cut elsewhere', async () => {
      const group = await filled(5)
      const tags = new Map<number, Set<string>>()
      for (let maxBytes = 100; !tags.has(4); maxBytes += 100) {
        const page = await groups().recent(group, { limit: 5, maxBytes })
        tags.set(page.items.length, (tags.get(page.items.length) ?? new Set()).add(page.tag))
      }
      expect([...tags.keys()]).toEqual([1, 2, 3, 4])
      for (const ofCount of tags.values()) expect(ofCount.size).toBe(1)
      expect(new Set([...tags.values()].flatMap((ofCount) => [...ofCount])).size).toBe(4)
    })

    it.each([
      { count: 20, limit: 2, maxBytes: 2 * 65_536, what: 'each small enough by itself' },
      { count: 5, limit: 10, maxBytes: 2 * 65_536, what: 'each too large by itself' },
    ])('keeps the pages of many groups together within maxBytes: $what', async ({ count, limit, maxBytes }) => {
      const size = 40_000
      const prefix = context.unique()
      const names = Array.from({ length: count }, (_, n) => `${prefix}${n}`)
      const payload = 'x'.repeat(size - 2)
      for (let n = 0; n < 4; n++) await groups().appendMany(names.map((group) => ({ group, payload })))
      const pages = await groups().recentMany(names, { limit, maxBytes })
      const counts = pages.map((page) => page.items.length)
      expect(Math.min(...counts)).toBe(1)
      const sum = counts.reduce((all, items) => all + items, 0)
      // At least one of each, and beyond these no more than fits.
      expect((sum - count) * size).toBeLessThanOrEqual(maxBytes)
      expect(pages.map((page) => page.group)).toEqual(names)
      for (const page of pages) expect(page.nextBefore).toBe(page.items.at(-1)?.id)
    })
  })
}

import { bounded } from '../../../src/fields/options'
import type { Recent, RecentOptions, Store } from '../../../src/index'
import { type Context, expectSound, idsOf } from '../context'
import { afterFirst, statementsOf } from '../statements'

/** Reads of large pages and groups, and of groups whose policy has changed: each page is what one statement showed. */
export function describeThoroughReads(context: Context): void {
  const groups = () => context.store.groups
  const LARGE = bounded({ limit: 100 }, 4 * 1024 * 1024)

  async function filled(count: number, settings = {}, members = count): Promise<string> {
    const group = context.unique()
    await groups().put(group, settings)
    const items = Array.from({ length: count }, (_, n) => ({ group, member: `m${n % members}`, payload: n }))
    await groups().appendMany(items)
    return group
  }

  /** A group with its own policy, which has changed since the group was laid out. */
  async function changed(count: number, members = count): Promise<string> {
    const prefix = context.unique()
    await context.store.policies.put(prefix, { capacity: 100, mode: 'history' })
    const group = `${prefix}a`
    for (let n = 0; n < count; n++) await groups().append(group, { member: `m${n % members}`, payload: n })
    await context.store.policies.put(prefix, { capacity: 20, mode: 'distinct' })
    return group
  }

  describe('a thorough read', () => {
    it.each([{}, { before: 150n }, { exclude: ['m199'] }, LARGE, bounded({ limit: 10 }, 3000)])(
      'takes one statement: %p',
      async (options: RecentOptions) => {
        const group = await filled(200, { capacity: 200, mode: 'distinct' })
        const { store, statements } = await statementsOf(context)
        const page = await store.groups.recent(group, options)
        expectSound(page)
        statements.length = 0
        expect(await store.groups.recent(group, options)).toEqual(page)
        expect(statements).toHaveLength(1)
      },
    )

    it('takes three statements after a change of the policy, the policies included, and then one', async () => {
      const { store, statements } = await statementsOf(context)
      const prefix = context.unique()
      const group = `${prefix}a`
      await store.policies.put(prefix, { capacity: 10, mode: 'history' })
      for (let n = 0; n < 10; n++) await store.groups.append(group, { member: `m${n % 7}` })
      await store.groups.recent(group)
      for (const options of [{}, LARGE]) {
        for (const mode of ['distinct', 'history'] as const) {
          await store.policies.put(prefix, { capacity: 5, mode })
          statements.length = 0
          const page = await store.groups.recent(group, options)
          expect([page.capacity, idsOf(page)]).toEqual([5, [9n, 8n, 7n, 6n, 5n]])
          expect(statements.length).toBeLessThanOrEqual(3)
          statements.length = 0
          expect(await store.groups.recent(group, options)).toEqual(page)
          expect(statements).toHaveLength(1)
        }
      }
      await store.groups.append(group, { member: 'm9' })
      const page = await store.groups.recent(group)
      expect(idsOf(page)).toEqual([10n, 9n, 8n, 7n, 6n])
      expect(await store.groups.recent(group, LARGE)).toEqual(page)
    })

    it('shows the same as the reads by which the sizes of the groups were learned', async () => {
      const some = [
        await filled(90, { capacity: 90 }),
        await filled(130, { capacity: 70, mode: 'distinct' }, 80),
        await filled(40, { capacity: 65, ttlSeconds: 5000 }),
      ]
      context.clock.offsetMs += 10_000_000
      for (const group of some) await groups().append(group, { member: 'm6', payload: 'last' })
      const asked: RecentOptions[] = [{}, { before: 65n }, { exclude: ['m5', 'm79'] }, { payloads: 'none' }]
      for (const options of asked.map((one) => ({ limit: 90, ...one }))) {
        const store = await context.open()
        const read = async () => {
          const pages = [...(await Promise.all(some.map((group) => store.groups.recent(group, options))))]
          return options.before === undefined ? [...pages, ...(await store.groups.recentMany(some, options))] : pages
        }
        const first = await read()
        for (const page of first) expectSound(page)
        expect(first.map(({ items }) => items.length > 0)).not.toContain(false)
        expect(await read()).toEqual(first)
      }
    })

    it('shows one page of a group that has become larger than was known', async () => {
      const group = await filled(80, { capacity: 80 })
      const store = await context.open()
      expect((await store.groups.recent(group, { limit: 80 })).nextBefore).toBeNull()
      await groups().put(group, { capacity: 200 })
      await groups().appendMany(Array.from({ length: 100 }, (_, n) => ({ group, payload: n })))
      const page = await store.groups.recent(group, { limit: 80 })
      expect([page.items.length, page.items[0]?.id, page.nextBefore]).toEqual([80, 179n, 100n])
      expect(await groups().recent(group, { limit: 80 })).toEqual(page)
    })

    it('keeps a tag for as long as neither the group nor its policy changes, laid out or not', async () => {
      const group = await changed(30)
      const page = await groups().recent(group)
      expect(await groups().recentIfChanged(group, page.tag)).toBeNull()
      await groups().append(group, { member: 'm1' })
      expect((await groups().recentIfChanged(group, page.tag))?.totalAppended).toBe(31n)
    })

    it.each(['append', 'clear', 'delete', 'put', 'putPolicy'] as const)(
      'shows one moment when a %s comes between its statements',
      async (write) => {
        const writes = {
          append: (group: string) => groups().append(group, { member: 'm3', payload: 40 }),
          clear: (group: string) => groups().clear(group),
          delete: (group: string) => groups().drop(group),
          put: (group: string) => groups().put(group, { capacity: 7, mode: 'history' }),
          putPolicy: (group: string) =>
            context.store.policies.put(group.slice(0, -1), { capacity: 9, mode: 'history' }),
        }
        for (const options of [{}, LARGE, { limit: 3, before: 35n }]) {
          const group = await changed(40, 30)
          const before = await groups().recent(group, options)
          const store: Store = await context.open()
          const hasBegun = afterFirst(store, /recentn_items/, () => writes[write](group))
          const page = await store.groups.recent(group, options)
          expect(hasBegun()).toBe(true)
          for (const { id, payload } of page.items) expect(payload).toBe(Number(id))
          expect(page).toEqual(await groups().recent(group, options))
          if (idsOf(page).join() !== idsOf(before).join()) expect(page.tag).not.toBe(before.tag)
        }
      },
    )

    it('shows before a group is laid out again what it shows afterwards', async () => {
      const modes = ['history', 'distinct'] as const
      const shown = ({ items, nextBefore, totalAppended }: Recent) => ({
        items: items.map(({ id, payload }) => [id, payload]),
        nextBefore,
        totalAppended,
      })
      const asked: RecentOptions[] = [
        ...[
          {},
          { limit: 3 },
          { limit: 100 },
          { before: 47n },
          { exclude: ['m2', 'm19'] },
          { payloads: 'none' as const },
        ],
        ...[LARGE, bounded({ limit: 20 }, 1000), bounded({ limit: 20, before: 30n, exclude: ['m1'] }, 1000)],
      ]
      for (const [from, to] of modes.flatMap((one) => modes.map((other) => [one, other] as const))) {
        for (const [size, capacity] of [
          [50, 20],
          [20, 50],
        ] as const) {
          const prefix = context.unique()
          const group = `${prefix}a`
          await context.store.policies.put(prefix, { capacity: size, mode: from, ttlSeconds: 5000 })
          const items = Array.from({ length: 60 }, (_, n) => ({ group, member: `m${(n * n) % 31}`, payload: n }))
          await groups().appendMany(items.slice(0, 35))
          context.clock.offsetMs += 600_000
          await groups().appendMany(items.slice(35))
          for (const ttlSeconds of [null, 300]) {
            await context.store.policies.put(prefix, { capacity, mode: to, ttlSeconds })
            const pages: Recent[] = []
            for (const options of asked) pages.push(await groups().recent(group, options))
            if (ttlSeconds === null) continue
            await groups().put(group, {})
            for (const [n, options] of asked.entries()) {
              expect([options, shown(await groups().recent(group, options))]).toEqual([
                options,
                shown(pages[n] as Recent),
              ])
            }
          }
        }
      }
    })

    it('has another tag where it was cut elsewhere', async () => {
      const group = await filled(5)
      const tags = new Map<number, Set<string>>()
      for (let maxBytes = 100; !tags.has(4); maxBytes += 100) {
        const page = await groups().recent(group, bounded({ limit: 5 }, maxBytes))
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
      const pages = await groups().recentMany(names, bounded({ limit }, maxBytes))
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

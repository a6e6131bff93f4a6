import { bounded } from '../../../src/fields/options'
import type { RecentOptions } from '../../../src/index'
import { type Context, eventually, refusal } from '../context'
import { statementsOf } from '../statements'

/** Reads for callers who have a page already: what it costs, and that nothing that changed is ever kept from them. */
export function describeIfChanged(context: Context): void {
  const groups = () => context.store.groups
  const OVER_HTTP = bounded({ limit: 100 }, 4 * 1024 * 1024)

  async function filled(settings = {}, count = 5): Promise<string> {
    const group = context.unique()
    await groups().put(group, settings)
    await groups().appendMany(Array.from({ length: count }, (_, n) => ({ group, member: `m${n}`, payload: n })))
    return group
  }

  /** After each step the page is given, and is the one that anybody gets; then again it is unchanged. */
  async function expectSeen(group: string, steps: [string, () => Promise<unknown>][], options: RecentOptions = {}) {
    let { tag } = await groups().recent(group, options)
    for (const [name, step] of steps) {
      expect([name, await groups().recentIfChanged(group, tag, options)]).toEqual([name, null])
      await step()
      const page = await groups().recentIfChanged(group, tag, options)
      expect([name, page]).toEqual([name, await groups().recent(group, options)])
      tag = page?.tag as string
    }
    expect(await groups().recentIfChanged(group, tag, options)).toBeNull()
  }

  describe('recentIfChanged', () => {
    it.each<[string, RecentOptions]>([
      ['a usual page', {}],
      ['a page that may get too large', OVER_HTTP],
      ['a page by members', { exclude: ['m1'], limit: 2 }],
    ])('sees every write that changes %s', async (_what, options) => {
      const group = await filled()
      const steps: [string, () => Promise<unknown>][] = [
        ['append', () => groups().append(group, { member: 'm7' })],
        ['remove', () => groups().remove(group, 2n)],
        ['capacity', () => groups().put(group, { capacity: 20 })],
        ['a large capacity', () => groups().put(group, { capacity: 200 })],
        ['mode', () => groups().put(group, { capacity: 20, mode: 'distinct' })],
        ['expiry', () => groups().put(group, { ttlSeconds: 1000 })],
        ['an append to what expires', () => groups().append(group, { member: 'x' })],
        ['no expiry', () => groups().put(group)],
        ['erasure', () => groups().eraseMember('x')],
        ['clear', () => groups().clear(group)],
        ['delete', () => groups().drop(group)],
        ['made anew', () => groups().append(group)],
      ]
      await expectSeen(group, steps, options)
    })

    it('sees that an item expires, without any write', async () => {
      const group = await filled({ ttlSeconds: 50 })
      await expectSeen(group, [
        [
          'a later item',
          async () => {
            context.clock.offsetMs += 30_000
            await groups().append(group)
          },
        ],
        ['some are gone', async () => (context.clock.offsetMs += 30_000)],
        ['all are gone', async () => (context.clock.offsetMs += 30_000)],
      ])
    })

    it('sees a policy that changed', async () => {
      const group = await filled()
      context.afterwards(() => context.store.policies.drop(group))
      let { tag } = await groups().recent(group)
      for (const policy of [
        { capacity: 4, mode: 'history' as const },
        { capacity: 4, mode: 'distinct' as const },
        { capacity: 4, mode: 'distinct' as const, ttlSeconds: 60 },
      ]) {
        await context.store.policies.put(group, policy)
        await eventually(5500, 'the policy is seen', async () => {
          const page = await groups().recentIfChanged(group, tag)
          if (page === null) return false
          expect(page).toMatchObject({ capacity: 4, mode: policy.mode })
          tag = page.tag
          return true
        })
      }
    })

    it('answers null for a group that does not exist until it does', async () => {
      const group = context.unique()
      await expectSeen(group, [['append', () => groups().append(group)]])
    })

    it('gives the page for any other tag', async () => {
      const group = await filled()
      const page = await groups().recent(group)
      for (const tag of ['', 'x', page.tag.slice(0, -1), `${page.tag}1`, `x${page.tag}`]) {
        expect(await groups().recentIfChanged(group, tag)).toEqual(page)
      }
      const fault = await refusal(groups().recentIfChanged(group, undefined as unknown as string))
      expect(fault).toMatchObject({ code: 'invalid_input', faults: [{ parameter: 'tag' }] })
    })

    it('reads one head row, and no item, of what is unchanged', async () => {
      const cases: [string, RecentOptions][] = [
        [await filled(), {}],
        [await filled({ capacity: 300 }, 300), {}],
        [await filled({ capacity: 300, mode: 'distinct' }, 300), {}],
        [await filled({ capacity: 300 }, 300), OVER_HTTP],
        [await filled({ capacity: 300 }, 300), bounded({ limit: 5 }, 1)],
        [await filled({ capacity: 300 }, 300), { before: 200n, exclude: ['m1'] }],
        [await filled({}, 1), {}],
      ]
      await groups().clear(cases.at(-1)?.[0] as string)
      const { store, statements } = await statementsOf(context)
      for (const [group, options] of cases) {
        const { tag } = await store.groups.recent(group, options)
        await store.groups.recent(group) // so that the policies were read a moment ago
        statements.length = 0
        expect(await store.groups.recentIfChanged(group, tag, options)).toBeNull()
        expect(statements.filter((sql) => !sql.includes('recentn_policy_epoch'))).toEqual([
          expect.stringMatching(/^SELECT (?!.*recentn_items).* FROM recentn_groups g WHERE g\.group_key IN/s),
        ])
      }
    })

    it('looks at the heads of many callers at once', async () => {
      const names = await Promise.all(Array.from({ length: 40 }, () => filled({}, 1)))
      const tags = await Promise.all(names.map(async (name) => (await groups().recent(name)).tag))
      const { store, statements } = await statementsOf(context)
      await store.groups.recent(names[0] as string)
      statements.length = 0
      const ask = () => Promise.all(names.map((name, n) => store.groups.recentIfChanged(name, tags[n] as string)))
      expect(await ask()).toEqual(names.map(() => null))
      expect(statements.length).toBeLessThanOrEqual(4)
      expect(statements.join()).not.toMatch(/recentn_items/)
      await groups().append(names[7] as string)
      expect((await ask()).map((page) => page?.totalAppended)).toEqual(names.map((_, n) => (n === 7 ? 2n : undefined)))
    })

    it('is there in a transaction, and sees what was written in it', async () => {
      const group = await filled()
      const { tag } = await groups().recent(group)
      await context.store.transaction(async (tx) => {
        expect(await tx.groups.recentIfChanged(group, tag)).toBeNull()
        await tx.groups.append(group)
        expect(await tx.groups.recentIfChanged(group, tag)).toMatchObject({ totalAppended: 6n })
      })
    })
  })
}

/** The cost of a member's page where groups are laid out by an older policy, and the cost for others. */
import { moment } from '../../support/timing'
import { type Context, eventually } from '../context'
import { statementsOf } from '../statements'

const LOOK = /FROM \S*items\S* i WHERE i\.group_key = /
const PAGE = /i\.member = /

export function describeMemberWindows(context: Context): void {
  /** A group of 300 items, every third one of the member's, and a policy that it does not follow yet. */
  async function changed(prefix: string, policy: { capacity: number; mode: 'history' | 'distinct' }) {
    const { groups, policies } = context.store
    const member = context.unique('m')
    const names = [`${prefix}a`, `${prefix}b`]
    for (const group of names) {
      await groups.put(group, {})
      await groups.appendMany(
        Array.from({ length: 300 }, (_, n) => ({ group, member: n % 3 ? `other-${n % 7}` : member })),
      )
    }
    context.afterwards(() => policies.drop(prefix))
    await policies.put(prefix, policy)
    return { member, names }
  }

  describe('memberItems after a change of a policy', () => {
    it.each([
      { capacity: 200, mode: 'history', shown: 66, looks: 0 },
      { capacity: 300, mode: 'distinct', shown: 1, looks: 1 },
      { capacity: 1, mode: 'distinct', shown: 0, looks: 1 },
    ] as const)('$mode, $capacity: looks at a group at most once', async ({ shown, looks, ...policy }) => {
      const prefix = context.unique('p')
      context.afterwards(() => context.store.policies.drop(prefix))
      await context.store.policies.put(prefix, { capacity: 500, mode: 'history' })
      const { member, names } = await changed(prefix, policy)
      const { store, statements } = await statementsOf(context)
      const { items } = await store.groups.memberItems(member, { limit: 1000 })
      expect(items).toHaveLength(shown * names.length)
      expect(statements.filter((sql) => LOOK.test(sql))).toHaveLength(looks * names.length)
      // The same as what the groups show.
      const pages = await store.groups.recentMany(names, { limit: 500 })
      const ofMember = pages.flatMap((page) => page.items.filter((item) => item.member === member))
      const keys = (list: typeof items) => list.map(({ group, id }) => `${group} ${id}`).sort()
      expect(keys(items)).toEqual(keys(ofMember))
    })
  })

  // It has one connection, for which all wait in one line.
  if (context.engine === 'sqlite') return
  it('pages of members leave connections to others', async () => {
    const member = context.unique('m')
    const group = context.unique()
    await context.store.groups.append(group, { member })
    const goOn = moment()
    let running = 0
    const { store } = await statementsOf(context, async (sql) => {
      if (!PAGE.test(sql)) return
      running++
      await goOn.reached
    })
    const pages = Array.from({ length: 30 }, () => store.groups.memberItems(member))
    await eventually(5000, 'as many run as may', async () => running >= 5)
    // While they hold what they have, others are answered.
    const other = context.unique()
    for (let n = 0; n < 20; n++) await store.groups.append(other)
    expect((await store.groups.recent(other)).totalAppended).toBe(20n)
    expect(running).toBe(5)
    goOn.come()
    for (const page of await Promise.all(pages)) expect(page.items).toHaveLength(1)
    expect(running).toBe(30)
  })
}

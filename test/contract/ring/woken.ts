import { openedOf } from '../../support/opened'
import { type Context, refusal } from '../context'
import { type TransactionTools, transactionTools } from '../store/transaction-tools'
import { following } from './watch-tools'

/** Listeners of this process are woken by whatever it commits, in whichever way, and by nothing that it takes back. */
export function describeWoken(context: Context): void {
  const { WAYS, ALL_WAYS, rolledBack }: TransactionTools = transactionTools(context, 'woken_notes')
  const groups = () => context.store.groups

  /** The groups that the listeners were called with while `work` ran; `*` for any. */
  async function wokenBy(work: (woken: readonly string[]) => Promise<unknown>): Promise<string[]> {
    const { streams } = openedOf(context.store).groups
    const woken: string[] = []
    const wake = jest.spyOn(streams, 'wake').mockImplementation((names) => void woken.push(...names))
    const wakeAll = jest.spyOn(streams, 'wakeAll').mockImplementation(() => void woken.push('*'))
    try {
      await work(woken)
    } finally {
      wake.mockRestore()
      wakeAll.mockRestore()
    }
    return woken
  }

  describe('listeners to groups', () => {
    it('are called for every kind of change, once it is committed', async () => {
      const [group, prefix, member] = [context.unique('g'), context.unique('p'), context.unique('m')]
      const changes: [() => Promise<unknown>, string[]][] = [
        [() => groups().append(group, { member }), [group]],
        [() => groups().appendMany([{ group }, { group: prefix, member }]), [group, prefix]],
        [() => groups().put(group, { capacity: 3 }), [group]],
        [() => groups().eraseMember(member), [group, prefix]],
        [() => groups().remove(group, 1n), [group]],
        [() => groups().clear(group), [group]],
        [() => context.store.policies.put(prefix, { capacity: 3, mode: 'history' }), ['*']],
        [() => context.store.policies.drop(prefix), ['*']],
        [() => groups().drop(group), [group]],
      ]
      for (const [change, names] of changes) expect((await wokenBy(change)).sort()).toEqual([...names].sort())
    })

    it.each(ALL_WAYS)('are called for what is written in %s, and not before it is committed', async (_, run) => {
      const group = context.unique()
      const other = context.unique()
      const woken = await wokenBy((heard) =>
        run(async (tx) => {
          await tx.groups.append(group)
          await tx.groups.appendMany([{ group }, { group: other }])
          await tx.groups.put(other, { capacity: 4 })
          expect(heard).toEqual([])
        }),
      )
      expect([...new Set(woken)].sort()).toEqual([group, other].sort())
    })

    it.each(ALL_WAYS)('are not called for what is rolled back in %s', async (_, run) => {
      const group = context.unique()
      const woken = await wokenBy(() =>
        rolledBack(run, async (tx) => {
          await tx.groups.append(group)
          await tx.policies.put(group, { capacity: 3, mode: 'history' })
        }),
      )
      expect(woken).toEqual([])
    })

    it.each(WAYS)(
      'are not called for an operation that was refused in %s, or taken back to a savepoint',
      async (_, run) => {
        const [group, kept, gone] = [context.unique(), context.unique('k'), context.unique('x')]
        await groups().put(group, { mode: 'distinct' })
        const woken = await wokenBy(() =>
          run(async (tx) => {
            expect((await refusal(tx.groups.append(group))).code).toBe('invalid_input')
            await tx.groups.append(kept)
            const nested = tx.manager.transaction(async (inner) => {
              await context.store.within(inner).groups.append(gone)
              throw new Error('back')
            })
            await expect(nested).rejects.toThrow('back')
          }),
        )
        expect(woken).toEqual([kept])
      },
    )

    it('a policy that is changed in a transaction applies at once where this process knew the old one', async () => {
      const prefix = context.unique('p')
      context.afterwards(() => context.store.policies.drop(prefix))
      for (const [index, [, run]] of WAYS.entries()) {
        const capacity = 20 + index
        expect((await groups().recent(`${prefix}a`)).capacity).not.toBe(capacity)
        await run((tx) => tx.policies.put(prefix, { capacity, mode: 'history' }))
        expect((await groups().recent(`${prefix}a`)).capacity).toBe(capacity)
      }
    })

    it('hear of a commit in a transaction without waiting for the next look at all groups', async () => {
      const group = context.unique()
      const heard = following(context, groups().watch(group))
      await heard.ready
      await context.store.transaction((tx) => tx.groups.append(group, { member: 'm' }))
      await heard.until(1)
      expect(heard.told).toEqual(['+0 m'])
    })
  })
}

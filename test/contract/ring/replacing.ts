import type { OwnSettings } from '../../../src/repositories/recent/types'
import { type Context, refusal } from '../context'

/** Settings that are replaced only where they are still those that the caller has read. */
export function describeReplacing(context: Context): void {
  const groups = () => context.store.groups
  const changed = async (call: Promise<unknown>) => expect((await refusal(call)).code).toBe('settings_changed')

  describe('settings that replace what the caller knows', () => {
    it.each<OwnSettings>([
      {},
      { capacity: 3 },
      { mode: 'distinct' },
      { ttlSeconds: 60 },
      { ttlSeconds: null },
      { capacity: 3, mode: 'history', ttlSeconds: 60 },
    ])('of a group with %j are stored, and every other guess is refused', async (own) => {
      const group = context.unique()
      const { created: _, ...before } = await groups().put(group, own)
      const guesses: OwnSettings[] = [
        {},
        { capacity: 3 },
        { capacity: 4 },
        { mode: 'distinct' },
        { ttlSeconds: 60 },
        { ttlSeconds: null },
        { ...own, forgetEmptySeconds: 60 },
        { ...own, mode: 'distinct', capacity: 9 },
      ]
      const isOther = (guess: OwnSettings) =>
        guess.capacity !== own.capacity ||
        guess.mode !== own.mode ||
        guess.ttlSeconds !== own.ttlSeconds ||
        guess.forgetEmptySeconds !== undefined
      for (const replaces of [null, ...guesses.filter(isOther)]) {
        await changed(groups().put(group, { capacity: 7 }, { replaces }))
      }
      expect(await groups().get(group)).toEqual(before)
      await groups().append(group, { member: 'm' })
      expect((await groups().put(group, { capacity: 7 }, { replaces: { ...own } })).own).toEqual({ capacity: 7 })
      await changed(groups().put(group, { capacity: 8 }, { replaces: { ...own } }))
    })

    it('of a group that is not there are stored with null only, and make none otherwise', async () => {
      const group = context.unique()
      await changed(groups().put(group, { capacity: 7 }, { replaces: {} }))
      expect(await groups().get(group)).toBeNull()
      expect((await groups().put(group, { capacity: 7 }, { replaces: null })).created).toBe(true)
      await changed(groups().put(group, { capacity: 8 }, { replaces: null }))
    })

    it('of a policy are stored where it is the same, or where there is none', async () => {
      const prefix = context.unique('p')
      context.afterwards(() => groups().deletePolicy(prefix))
      const policy = { capacity: 5, mode: 'history', ttlSeconds: 60, forgetEmptySeconds: 90 } as const
      await changed(groups().putPolicy(prefix, policy, { replaces: policy }))
      expect(await groups().getPolicy(prefix)).toBeNull()
      expect((await groups().putPolicy(prefix, policy, { replaces: null })).created).toBe(true)
      for (const replaces of [
        null,
        { ...policy, capacity: 6 },
        { ...policy, ttlSeconds: null },
        { ...policy, forgetEmptySeconds: undefined },
        { ...policy, mode: 'distinct' as const },
      ]) {
        await changed(groups().putPolicy(prefix, { ...policy, capacity: 9 }, { replaces }))
      }
      expect(await groups().getPolicy(prefix)).toEqual({ prefix, ...policy })
      await groups().putPolicy(prefix, { capacity: 9, mode: 'history' }, { replaces: policy })
      await groups().putPolicy(prefix, policy, { replaces: { capacity: 9, mode: 'history' } })
    })

    it('are stored once when many replace the same', async () => {
      const group = context.unique()
      await groups().put(group, { capacity: 1 })
      const puts = Array.from({ length: 8 }, (_, n) =>
        groups()
          .put(group, { capacity: 10 + n }, { replaces: { capacity: 1 } })
          .then(
            ({ capacity }) => capacity,
            (error: { code: string }) => error.code,
          ),
      )
      const outcomes = await Promise.all(puts)
      const stored = outcomes.filter((outcome) => typeof outcome === 'number')
      expect([stored.length, outcomes.filter((outcome) => outcome === 'settings_changed').length]).toEqual([1, 7])
      expect((await groups().get(group))?.capacity).toBe(stored[0])
    })

    it('are checked as those that are to be stored', async () => {
      const group = context.unique()
      const wrong = { capacity: 0, mode: 'x' as 'history', more: 1 }
      const faults = async (call: Promise<unknown>) => (await refusal(call)).faults.map(({ pointer }) => pointer).sort()
      expect(await faults(groups().put(group, { capacity: 0 }, { replaces: wrong }))).toEqual([
        '/capacity',
        '/replaces/capacity',
        '/replaces/mode',
        '/replaces/more',
      ])
      expect(await faults(groups().put(group, {}, { replace: {} } as object))).toEqual(['/replace'])
    })
  })
}

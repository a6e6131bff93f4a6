import { openedOf, sweepGroups } from '../../support/opened'
import { moment, stopwatch } from '../../support/timing'
import { type Context, rowsOf } from '../context'

const TTL_SECONDS = 30

/** A changed policy and groups without writes: the sweeper applies it to them, and deletes what expires by it. */
export function describeRollouts(context: Context): void {
  const groups = () => context.store.groups
  const pass = (seconds: number) => {
    context.clock.offsetMs += seconds * 1000
  }

  const swept = (store = context.store) => sweepGroups(store)

  /** A transaction of the user's own that holds these groups until `end`. */
  async function held(names: readonly string[]): Promise<{ end: () => Promise<void> }> {
    const [begun, over] = [moment(), moment()]
    const open = context.store.transaction(async (tx) => {
      await tx.groups.appendMany(names.map((group) => ({ group })))
      begun.come()
      await over.reached
    })
    await begun.reached
    let isOver = false
    const end = async () => {
      if (isOver) return
      isOver = true
      over.come()
      await open
    }
    context.afterwards(end)
    return { end }
  }

  async function policy(prefix: string): Promise<void> {
    await context.store.policies.put(prefix, { capacity: 5, mode: 'history', ttlSeconds: TTL_SECONDS })
    context.afterwards(() => context.store.policies.drop(prefix))
  }

  const left = async (names: readonly string[]) => {
    const rows = await Promise.all(names.map((group) => rowsOf(context.store, group)))
    return names.filter((_, n) => (rows[n] as unknown[]).length > 0)
  }

  const rolloutsOf = async (prefix: string) => {
    const rows: { prefix: string }[] = await context.store.dataSource.query(
      'SELECT prefix FROM recentn_policy_rollouts WHERE prefix LIKE ? ORDER BY prefix',
      [`${prefix}%`],
    )
    return rows.map((row) => row.prefix)
  }

  /** Once no group is locked any more the rollout comes to its end, and what it says holds for these too. */
  const endsWith = async (prefix: string, names: readonly string[]) => {
    await swept()
    expect(await rolloutsOf(prefix)).toEqual([])
    pass(TTL_SECONDS + 1)
    await swept()
    expect(await left(names)).toEqual([])
  }

  describe('the rollout of a policy', () => {
    it('reaches every group of the prefix, also those named like the beginning of another', async () => {
      const prefix = context.unique('p')
      const names = ['', 'a', 'a1', 'a1b', 'b', 'b0'].map((end) => prefix + end)
      await swept()
      await groups().appendMany(names.map((group) => ({ group })))
      await policy(prefix)
      await swept()
      pass(TTL_SECONDS + 1)
      await swept()
      expect(await left(names)).toEqual([])
      expect(await rolloutsOf(prefix)).toEqual([])
    })

    it('passes over locked groups without waiting, and comes back to them', async () => {
      if (context.engine === 'sqlite') return // one writer at a time: all others wait for the one that has the lock
      const [prefix, later, expiring] = [context.unique('p'), context.unique('q'), context.unique('own')]
      const names = Array.from({ length: 430 }, (_, n) => `${prefix}${String(n).padStart(3, '0')}`)
      const stuck = [names[0], names[150], names[199], names[210]] as string[]
      await swept()
      await groups().put(expiring, { ttlSeconds: 10 })
      await groups().appendMany([...names, `${later}a`, expiring].map((group) => ({ group })))
      pass(11)
      const holder = await held(stuck)
      await policy(prefix)
      await policy(later)
      const watch = stopwatch()
      await swept()
      const isLate = watch.isBeyond(4500)
      expect(await left([expiring])).toEqual([])
      expect(await rolloutsOf(prefix)).toEqual(stuck)
      expect(await rolloutsOf(later)).toEqual([])
      // A lock timeout of these connections is 5 seconds.
      expect(isLate).toBe(false)
      pass(TTL_SECONDS + 1)
      await swept()
      expect(await left([...names, `${later}a`])).toEqual(stuck)
      await holder.end()
      await endsWith(prefix, stuck)
    })

    it('has nothing to do for a group that was written since, also while that is locked', async () => {
      if (context.engine === 'sqlite') return
      const prefix = context.unique('p')
      const names = ['a', 'b'].map((end) => prefix + end)
      await swept()
      await groups().appendMany(names.map((group) => ({ group })))
      await policy(prefix)
      await groups().append(names[0] as string)
      const holder = await held([names[0] as string])
      await swept()
      expect(await rolloutsOf(prefix)).toEqual([])
      await holder.end()
      await endsWith(prefix, names)
    })

    it('passes over a group that is named as the prefix', async () => {
      if (context.engine === 'sqlite') return
      const prefix = context.unique('p')
      const names = ['', 'a', 'b'].map((end) => prefix + end)
      await swept()
      await groups().appendMany(names.map((group) => ({ group })))
      const holder = await held([prefix, `${prefix}b`])
      await policy(prefix)
      await swept()
      pass(TTL_SECONDS + 1)
      await swept()
      expect(await left(names)).toEqual([prefix, `${prefix}b`])
      await holder.end()
      await endsWith(prefix, names)
    })

    it('keeps the newer policy where an older rollout passes over the group that is named as its prefix', async () => {
      if (context.engine === 'sqlite') return
      const outer = context.unique('p')
      const inner = `${outer}x`
      const names = [inner, `${inner}1`]
      await swept()
      await groups().appendMany(names.map((group) => ({ group })))
      const holder = await held([inner])
      await context.store.policies.put(outer, { capacity: 5, mode: 'history', ttlSeconds: 1000 })
      context.afterwards(() => context.store.policies.drop(outer))
      await policy(inner)
      const [{ epoch }] = await context.store.dataSource.query(
        'SELECT epoch FROM recentn_policy_rollouts WHERE prefix = ?',
        [inner],
      )
      await swept()
      const rows = await context.store.dataSource.query(
        'SELECT prefix, epoch FROM recentn_policy_rollouts WHERE prefix LIKE ?',
        [`${outer}%`],
      )
      expect(rows).toEqual([{ prefix: inner, epoch }])
      await holder.end()
      await swept()
      pass(TTL_SECONDS + 1)
      await swept()
      expect(await left(names)).toEqual([])
    })

    it('that fails keeps nothing else from being deleted', async () => {
      const url = await context.emptyDatabase()
      const store = await context.open({ url })
      await store.groups.put('own', { ttlSeconds: 10 })
      await store.groups.appendMany([{ group: 'own' }, { group: 'told' }])
      await store.policies.put('told', { capacity: 5, mode: 'history', ttlSeconds: 100 })
      pass(11)
      await store.dataSource.query(
        context.engine === 'sqlite'
          ? "CREATE TRIGGER no_end BEFORE DELETE ON recentn_policy_rollouts BEGIN SELECT RAISE(ABORT, 'no end'); END"
          : "CREATE TRIGGER no_end BEFORE DELETE ON recentn_policy_rollouts FOR EACH ROW SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'no end'",
      )
      await expect(openedOf(store).groups.sweep()).rejects.toThrow(/no end/)
      expect(await rowsOf(store, 'own')).toEqual([])
      await store.dataSource.query('DROP TRIGGER no_end')
      await swept(store)
      expect(await store.dataSource.query('SELECT prefix FROM recentn_policy_rollouts')).toEqual([])
    })
  })
}

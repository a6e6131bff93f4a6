import { type Context, eventually, expectSound, idsOf, membersOf } from '../context'
import { outcomesOf, refusalsOf, times, up } from './batched'

/** Event ids, policies and expiry mean the same for appends that share a transaction. */
export function describeBatchedRules(context: Context): void {
  const groups = () => context.store.groups

  async function headOf(group: string): Promise<{ sweepAtMs: number | null; capacity: number }> {
    const [row]: { sweep_at_ms: unknown; capacity: unknown }[] = await context.store.dataSource.query(
      'SELECT sweep_at_ms, capacity FROM recentn_groups WHERE group_key = ?',
      [group],
    )
    if (!row) throw new Error(`${group} is not there`)
    return { sweepAtMs: row.sweep_at_ms === null ? null : Number(row.sweep_at_ms), capacity: Number(row.capacity) }
  }

  describe('an eventId that many give at once', () => {
    it.each(['history', 'distinct'] as const)('%s: one is appended, the others get its item', async (mode) => {
      const group = context.unique()
      await groups().put(group, { mode, capacity: 60 })
      const items = await Promise.all(
        times(120, (n) => groups().append(group, { eventId: `e${n % 3}`, member: `m${n}`, payload: { n } })),
      )
      for (let event = 0; event < 3; event++) {
        const mine = items.filter((_, n) => n % 3 === event)
        expect(mine.map(({ appended }) => appended)).toEqual(times(40, (n) => n === 0))
        for (const { appended: _, ...item } of mine) {
          expect(item).toMatchObject({ id: BigInt(event), eventId: `e${event}`, payload: { n: event } })
        }
      }
      const recent = await groups().recent(group)
      expect([recent.totalAppended, idsOf(recent)]).toEqual([3n, [2n, 1n, 0n]])
    })

    it.each(['history', 'distinct'] as const)('%s: the item that was there before is answered', async (mode) => {
      const group = context.unique()
      const other = context.unique()
      await groups().put(group, { mode, capacity: 50 })
      const first = await groups().append(group, { eventId: 'e', member: 'first', payload: ['there', 1] })
      const before = await groups().recent(group)
      const again = await Promise.all([
        ...times(10, (n) => groups().append(group, { eventId: 'e', member: `m${n}`, payload: n })),
        ...times(5, () => groups().append(other, { eventId: 'e' })),
      ])
      expect(again.slice(0, 10)).toEqual(Array(10).fill({ ...first, appended: false }))
      expect(again.slice(10).map(({ id, appended }) => [id, appended])).toEqual(times(5, (n) => [0n, n === 0]))
      // Nothing was appended there: not even a tag shows it.
      expect(await groups().recent(group)).toEqual(before)
      const mixed = await Promise.all(
        times(40, (n) => groups().append(group, { eventId: n % 2 ? 'e' : undefined, member: `x${n}`, payload: n })),
      )
      expect(mixed.filter(({ appended }) => appended).map(({ id }) => id)).toEqual(up(1, 20))
      expect(mixed.filter(({ appended }) => !appended)).toEqual(Array(20).fill({ ...first, appended: false }))
      expect((await groups().recent(group)).totalAppended).toBe(21n)
    })

    it('is forgotten once its item fell out of the window, also within the batch', async () => {
      const group = context.unique()
      await groups().put(group, { capacity: 5 })
      await groups().append(group, { eventId: 'e', payload: 'first' })
      const call = (eventId: string | undefined, payload: unknown) => groups().append(group, { eventId, payload })
      const items = await Promise.all([
        ...times(4, (n) => call(undefined, n)),
        call('e', 'still there'),
        call(undefined, 4),
        ...times(3, (n) => call('e', `anew ${n}`)),
      ])
      expect(items.map(({ id, payload }) => [id, payload])).toEqual([
        ...times(4, (n) => [BigInt(n + 1), n]),
        [0n, 'first'],
        [5n, 4],
        ...Array(3).fill([6n, 'anew 0']),
      ])
      expect(items.slice(6).map(({ appended }) => appended)).toEqual([true, false, false])
    })

    it('gives the number back that it did not need', async () => {
      const names = times(20, () => context.unique())
      await groups().appendMany(names.map((group) => ({ group, eventId: 'e' })))
      const again = await groups().appendMany(names.flatMap((group) => [{ group, eventId: 'e' }, { group }]))
      expect(again.map(({ id }) => id)).toEqual(names.flatMap(() => [0n, 1n]))
      expect((await Promise.all(names.map((group) => groups().append(group)))).map(({ id }) => id)).toEqual(
        names.map(() => 2n),
      )
    })
  })

  describe('policies and batches', () => {
    it('a group that a batch makes follows them', async () => {
      const prefix = context.unique('p')
      await context.store.policies.put(prefix, { capacity: 7, mode: 'distinct' })
      context.afterwards(() => context.store.policies.drop(prefix))
      const outcomes = await outcomesOf(
        times(120, (n) => groups().append(`${prefix}${n % 6}`, { member: n % 30 === 29 ? undefined : `m${n % 13}` })),
      )
      expect(refusalsOf(outcomes)).toHaveLength(4)
      for (const recent of await groups().recentMany(times(6, (n) => `${prefix}${n}`))) {
        expect(recent).toMatchObject({ capacity: 7, mode: 'distinct' })
        expect(recent.items).toHaveLength(7)
        expectSound(recent)
      }
    })

    it('may change while appends run: from the answer on every append follows them', async () => {
      const prefix = context.unique('p')
      context.afterwards(() => context.store.policies.drop(prefix))
      const names = times(4, (n) => `${prefix}${n}`)
      let running = true
      let appended = 0
      const callers = times(24, async (caller) => {
        for (let n = 0; running; n++) {
          await groups().append(names[(caller + n) % 4] as string, { member: `m${caller % 9}` })
          appended++
        }
      })
      const settings = [
        { capacity: 3, mode: 'distinct' },
        { capacity: 50, mode: 'history' },
        { capacity: 5, mode: 'history' },
        { capacity: 8, mode: 'distinct' },
      ] as const
      try {
        for (const policy of settings) {
          await context.store.policies.put(prefix, policy)
          await Promise.all(names.map((group) => groups().append(group, { member: 'after' })))
          appended += 4
          for (const group of names) {
            expect((await headOf(group)).capacity).toBe(policy.capacity)
            expectSound(await groups().recent(group, { limit: 100 }))
          }
          const made = `${prefix}made-${policy.capacity}`
          const items = await Promise.all(times(10, () => groups().append(made, { member: 'm' })))
          expect(items.map(({ slot }) => slot)).toEqual(
            times(10, (n) => (policy.mode === 'distinct' ? 0 : n % policy.capacity)),
          )
        }
      } finally {
        running = false
        await Promise.all(callers)
      }
      const pages = await groups().recentMany(names, { limit: 100 })
      for (const page of pages) expectSound(page)
      expect(pages.reduce((sum, { totalAppended }) => sum + Number(totalAppended), 0)).toBe(appended)
    })

    it('a smaller or larger ring is laid out again by the next batch', async () => {
      const prefix = context.unique('p')
      context.afterwards(() => context.store.policies.drop(prefix))
      const group = `${prefix}a`
      await context.store.policies.put(prefix, { capacity: 12, mode: 'history' })
      await Promise.all(times(30, (n) => groups().append(group, { member: `m${n % 8}`, payload: n })))
      await context.store.policies.put(prefix, { capacity: 5, mode: 'history' })
      await Promise.all(times(3, (n) => groups().append(group, { member: `n${n}`, eventId: n ? undefined : 'e' })))
      let recent = await groups().recent(group)
      expect(idsOf(recent)).toEqual(up(28, 5).reverse())
      expectSound(recent)
      await context.store.policies.put(prefix, { capacity: 4, mode: 'distinct' })
      await Promise.all(times(2, () => groups().append(group, { member: 'n1' })))
      recent = await groups().recent(group)
      expect(membersOf(recent)).toEqual(['n1', 'n2', 'n0', 'm5'])
      expectSound(recent)
    })

    it('the sweeper learns of a ttl from the batch, whether the group is new or not', async () => {
      const prefix = context.unique('t')
      context.afterwards(() => context.store.policies.drop(prefix))
      const [old, made] = [`${prefix}old`, `${prefix}made`]
      await Promise.all(times(5, () => groups().append(old)))
      await context.store.policies.put(prefix, { capacity: 20, mode: 'history', ttlSeconds: 1000 })
      const items = await Promise.all(times(12, (n) => groups().append(n % 2 ? old : made, { eventId: `e${n}` })))
      const first = items.find((item) => item.group === made)?.createdAt.getTime() as number
      expect((await headOf(made)).sweepAtMs).toBe(first + 1_000_000)
      expect((await headOf(old)).sweepAtMs).toBeLessThanOrEqual(first + 1_000_000)
      const own = context.unique()
      await groups().put(own, { ttlSeconds: 1000 })
      expect((await headOf(own)).sweepAtMs).toBeNull()
      const appended = await Promise.all(times(3, () => groups().append(own)))
      expect((await headOf(own)).sweepAtMs).toBe(Number(appended[0]?.createdAt) + 1_000_000)
      context.clock.offsetMs += 600_000
      await Promise.all([groups().append(old), groups().append(made)])
      expect((await groups().recentMany([old, made])).map(({ totalAppended }) => totalAppended)).toEqual([12n, 7n])
      context.clock.offsetMs += 600_000
      expect((await groups().recentMany([old, made])).map((page) => page.items.length)).toEqual([1, 1])
      // The events of what has expired are forgotten.
      const again = await Promise.all(times(6, () => groups().append(made, { eventId: 'e0' })))
      expect(again.map(({ id, appended }) => [id, appended])).toEqual(times(6, (n) => [7n, n === 0]))
      const sweeping = await context.open({ sweep: true })
      await eventually(20_000, 'what has expired is gone', async () => (await rowCount(made)) <= 2)
      expect(await rowCount(made)).toBe(2)
      await sweeping.close()
      expect((await headOf(made)).sweepAtMs).toBeGreaterThan(first + 1_000_000)
    })
  })

  async function rowCount(group: string): Promise<number> {
    const rows: unknown[] = await context.store.dataSource.query('SELECT slot FROM recentn_items WHERE group_key = ?', [
      group,
    ])
    return rows.length
  }
}

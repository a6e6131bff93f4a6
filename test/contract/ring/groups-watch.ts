import { SOON_MS } from '../../support/timing'
import { type Context, eventually, idsOf, sleep } from '../context'
import { following } from './watch-tools'

export function describeGroupsWatch(context: Context): void {
  const groups = () => context.store.groups
  const pass = (seconds: number) => {
    context.clock.offsetMs += seconds * 1000
  }

  describe('watching a group', () => {
    it('tells what is appended from then on, in order, as it is read', async () => {
      const group = context.unique()
      await groups().append(group, { member: 'before' })
      const heard = following(context, groups().watch(group))
      await heard.ready
      await groups().append(group, { member: 'm', payload: { n: [1, null] }, occurredAt: new Date(5), eventId: 'e' })
      await groups().appendMany([{ group }, { group: context.unique() }, { group, payload: 'last' }])
      await heard.until(3)
      const { items } = await groups().recent(group, { limit: 3 })
      expect(heard.events).toEqual(items.reverse().map((item) => ({ type: 'item', item })))
    })

    it('tells what another process, or a transaction, commits; and nothing that is taken back', async () => {
      const group = context.unique()
      const other = await context.open()
      const heard = following(context, groups().watch(group))
      await heard.ready
      await sleep(400)
      await other.groups.append(group, { member: 'other' })
      await heard.until(1)
      await context.store.transaction((tx) => tx.groups.append(group, { member: 'tx' }))
      await heard.until(2)
      const taken = context.store.transaction(async (tx) => {
        await tx.groups.append(group)
        throw new Error('no')
      })
      await expect(taken).rejects.toThrow('no')
      await other.groups.remove(group, 0n)
      await heard.until(3)
      expect(heard.told).toEqual(['+0 other', '+1 tx', '-0'])
    })

    it('waits for a group that is not there, and tells its items from the first on', async () => {
      const group = context.unique()
      const heard = following(context, groups().watch(group))
      await heard.ready
      await sleep(300)
      await groups().append(group)
      await heard.until(1)
      expect(heard.told).toEqual(['+0'])
    })

    it('tells what is removed, cleared and erased, and not what newer items push out', async () => {
      const group = context.unique()
      const member = context.unique('m')
      await groups().put(group, { capacity: 4 })
      await groups().appendMany([{ group }, { group, member }, { group }, { group }])
      const heard = following(context, groups().watch(group))
      await heard.ready
      await groups().append(group)
      await heard.until(1)
      await groups().remove(group, 2n)
      await heard.until(2)
      await groups().eraseMember(member)
      await heard.until(3)
      await groups().clear(group)
      await heard.until(5)
      await groups().append(group)
      await heard.until(6)
      expect(heard.told).toEqual(['+4', '-2', '-1', '-3', '-4', '+5'])
    })

    it('of a window with gaps, tells also what falls out of it, so that counting the newest is enough', async () => {
      const group = context.unique()
      await groups().put(group, { capacity: 3 })
      await groups().appendMany([{ group }, { group }, { group }])
      await groups().remove(group, 1n)
      const heard = following(context, groups().watch(group))
      await heard.ready
      await groups().append(group)
      await heard.until(2)
      expect(heard.told).toEqual(['-0', '+3'])
    })

    it('in a distinct group, tells the old item of a member that is seen again before the new one', async () => {
      const group = context.unique()
      await groups().put(group, { capacity: 3, mode: 'distinct' })
      const see = (member: string) => groups().append(group, { member })
      const heard = following(context, groups().watch(group))
      await heard.ready
      for (const member of ['a', 'b', 'a', 'c', 'd']) {
        await see(member)
        await eventually(SOON_MS, `${member} is sent`, async () => heard.told.at(-1)?.endsWith(` ${member}`) === true)
      }
      // The item that `d` pushed out, `b`, is not sent: it is not among the newest three.
      expect(heard.told).toEqual(['+0 a', '+1 b', '-0', '+2 a', '+3 c', '+4 d'])
    })

    it('reports items that expire, whether or not a sweeper runs', async () => {
      const group = context.unique()
      await groups().put(group, { ttlSeconds: 100 })
      await groups().append(group)
      pass(60)
      await groups().append(group)
      const heard = following(context, groups().watch(group))
      await heard.ready
      pass(60)
      await heard.until(1)
      pass(60)
      await heard.until(2)
      expect(heard.told).toEqual(['-0', '-1'])
    })

    it('says to read again when the group is deleted, made again, or gets another window', async () => {
      const group = context.unique()
      await groups().appendMany([{ group }, { group }])
      const heard = following(context, groups().watch(group))
      await heard.ready
      await groups().put(group, { capacity: 5 })
      await heard.until(1)
      await groups().put(group, { capacity: 5, mode: 'distinct' })
      await heard.until(2)
      await groups().drop(group)
      await heard.until(3)
      await groups().append(group)
      await heard.until(4)
      const other = await context.open()
      await other.transaction(async (tx) => {
        await tx.groups.drop(group)
        await tx.groups.append(group)
      })
      await heard.until(5)
      expect(heard.events.slice(0, 3)).toEqual([
        { type: 'reset', group, capacity: 5, mode: 'history', totalAppended: 2n },
        { type: 'reset', group, capacity: 5, mode: 'distinct', totalAppended: 2n },
        { type: 'reset', group, capacity: 10, mode: 'history', totalAppended: 0n },
      ])
      expect(heard.told.slice(3)).toEqual(['+0', 'reset 10 1'])
    })

    it('says so too when it is a policy that changes the window, within 5 seconds on every process', async () => {
      const prefix = context.unique('p')
      const group = `${prefix}a`
      const other = await context.open()
      await groups().append(group)
      const here = following(context, groups().watch(group))
      const there = following(context, other.groups.watch(group))
      await Promise.all([here.ready, there.ready])
      await context.store.policies.put(prefix, { capacity: 3, mode: 'history' })
      context.afterwards(() => context.store.policies.drop(prefix))
      await here.until(1)
      await there.until(1)
      expect([here.told, there.told]).toEqual([['reset 3 1'], ['reset 3 1']])
    })

    it('a shorter expiry takes some away; a longer one that brings items back makes another window', async () => {
      const prefix = context.unique('p')
      const group = `${prefix}a`
      const policy = (ttlSeconds: number) =>
        context.store.policies.put(prefix, { capacity: 10, mode: 'history', ttlSeconds })
      await policy(100)
      context.afterwards(() => context.store.policies.drop(prefix))
      await groups().append(group)
      pass(20)
      await groups().append(group)
      const heard = following(context, groups().watch(group))
      await heard.ready
      await policy(10)
      await heard.until(1)
      await policy(50)
      await heard.until(2)
      expect(idsOf(await groups().recent(group))).toEqual([1n, 0n])
      expect(heard.told).toEqual(['-0', 'reset 10 2'])
    })
  })

  describe('watching a group after an item', () => {
    it('tells what came since and is still there, then continues', async () => {
      const group = context.unique()
      await groups().appendMany(Array.from({ length: 5 }, () => ({ group })))
      await groups().remove(group, 3n)
      const heard = following(context, groups().watch(group, { after: 1n }))
      await heard.until(2)
      await groups().append(group)
      await heard.until(3)
      expect(heard.told).toEqual(['+2', '+4', '+5'])
    })

    it('tells what is gone of what was there', async () => {
      const group = context.unique()
      await groups().appendMany(Array.from({ length: 5 }, () => ({ group })))
      await groups().remove(group, 1n)
      const heard = following(context, groups().watch(group, { after: 3n }))
      await heard.until(2)
      expect(heard.told).toEqual(['-1', '+4'])
    })

    it.each([
      ['items after it were pushed out', 12, 0n, ['reset 10 12']],
      ['the first of them is the oldest that is left', 12, 1n, null],
      ['it is newer than all, so that the group must be a new one', 2, 2n, ['reset 10 2']],
      ['it is the newest', 2, 1n, []],
      ['there was none before', 2, -1n, ['+0', '+1']],
      ['there was none before, and the first ones were pushed out', 12, -1n, ['reset 10 12']],
    ])('%s', async (_name, count, after, expected) => {
      const group = context.unique()
      await groups().appendMany(Array.from({ length: count }, () => ({ group })))
      const heard = following(context, groups().watch(group, { after }))
      const all = expected ?? Array.from({ length: 10 }, (_, n) => `+${n + 2}`)
      await heard.ready
      // Old items are sent first: an item that comes before that may push some of it out.
      await heard.until(all.length)
      await groups().append(group)
      await heard.until(all.length + 1)
      expect(heard.told).toEqual([...all, `+${count}`])
    })

    it('in a distinct group, reports those seen again, and says to read again after too many', async () => {
      const group = context.unique()
      await groups().put(group, { capacity: 3, mode: 'distinct' })
      await groups().appendMany(['a', 'b', 'c', 'a'].map((member) => ({ group, member })))
      const heard = following(context, groups().watch(group, { after: 2n }))
      await heard.until(1)
      expect(heard.told).toEqual(['+3 a'])
      await groups().appendMany(Array.from({ length: 200 }, (_, n) => ({ group, member: `${n % 2}` })))
      const late = following(context, groups().watch(group, { after: 150n, resumes: true }))
      await late.until(1)
      expect(late.told).toEqual(['reset 3 204'])
    })

    it.each(['history', 'distinct'] as const)('begins with nothing older than the page, in %s', async (mode) => {
      const group = context.unique()
      await groups().put(group, { mode, capacity: mode === 'history' ? 1000 : 10 })
      const append = (member: string, count: number) =>
        groups().appendMany(Array.from({ length: count }, () => ({ group, member })))
      await append('old', 1)
      await append('busy', 200)
      const { totalAppended } = await groups().recent(group)
      const heard = following(context, groups().watch(group, { after: totalAppended - 1n }))
      expect(await heard.ready).toBe(totalAppended - 1n)
      await append('busy', 1)
      await heard.until(mode === 'history' ? 1 : 2)
      expect(heard.told).toEqual([...(mode === 'history' ? [] : ['-200']), '+201 busy'])
      const behind = following(context, groups().watch(group, { after: totalAppended - 1n }))
      await behind.until(1)
      expect(behind.told).toEqual(['+201 busy'])
    })

    it('where an earlier watch ended, reports what was removed from a distinct group since, or says to read again', async () => {
      const group = context.unique()
      await groups().put(group, { mode: 'distinct' })
      await groups().appendMany(['a', 'b', 'c'].map((member) => ({ group, member })))
      await groups().remove(group, 1n)
      const few = following(context, groups().watch(group, { after: 2n, resumes: true }))
      await few.until(1)
      expect(few.told).toEqual(['-1'])
      await groups().appendMany(Array.from({ length: 200 }, () => ({ group, member: 'c' })))
      const many = following(context, groups().watch(group, { after: 202n, resumes: true }))
      await many.until(1)
      expect(many.told).toEqual(['reset 10 203'])
    })

    it('of a group that is not there', async () => {
      const group = context.unique()
      const heard = following(context, groups().watch(group, { after: 0n }))
      const fromNothing = following(context, groups().watch(group, { after: -1n }))
      await heard.until(1)
      await groups().append(group)
      await fromNothing.until(1)
      await heard.until(2)
      expect([heard.told, fromNothing.told]).toEqual([['reset 10 0', '+0'], ['+0']])
    })
  })
}

import type { Store } from '../../../src/index'
import { sweepGroups } from '../../support/opened'
import { type Context, idsOf, membersOf, rowsOf } from '../context'
import { afterFirst, watch } from '../statements'

/** Erasing a member while another process moves the member's items, or pushes them out. */
export function describeErasureRaces(context: Context): void {
  const groups = () => context.store.groups

  /** A store of which the first look for what a member has is followed by `meanwhile`, before it continues. */
  async function interrupted(meanwhile: () => Promise<unknown>): Promise<Store> {
    const store = await context.open()
    const look = /^SELECT i\.group_key AS group_key.*FROM recentn_items.*created_at_ms <=/s
    const hasBegun = afterFirst(store, look, meanwhile)
    context.afterwards(async () => expect(hasBegun()).toBe(true))
    return store
  }

  const ofMember = async (group: string, member: string) =>
    (await rowsOf(context.store, group)).filter((row) => row.member === member)

  describe('eraseMember, and what happens between its look and its locks', () => {
    it('erases an item that another capacity moves to another slot', async () => {
      const [group, member] = [context.unique(), context.unique('m')]
      await groups().appendMany(Array.from({ length: 13 }, (_, n) => ({ group, member: n === 12 ? member : 'o' })))
      const store = await interrupted(() => groups().put(group, { capacity: 7 }))
      expect(await store.groups.eraseMember(member)).toEqual({ deleted: 1 })
      expect(await ofMember(group, member)).toEqual([])
      const recent = await groups().recent(group)
      expect([membersOf(recent), recent.totalAppended]).toEqual([Array(6).fill('o'), 13n])
    })

    it('erases an item that an append moves, which follows a changed policy', async () => {
      const [prefix, member] = [context.unique('p'), context.unique('m')]
      const group = `${prefix}a`
      await groups().appendMany(Array.from({ length: 13 }, (_, n) => ({ group, member: n === 12 ? member : 'o' })))
      context.afterwards(() => context.store.policies.drop(prefix))
      const store = await interrupted(async () => {
        await context.store.policies.put(prefix, { capacity: 7, mode: 'history' })
        await groups().append(group, { member: 'o' })
      })
      expect(await store.groups.eraseMember(member)).toEqual({ deleted: 1 })
      expect(await ofMember(group, member)).toEqual([])
      expect(membersOf(await groups().recent(group))).toEqual(Array(6).fill('o'))
    })

    it('erases an item of a group that keeps distinct members, and gets fewer slots', async () => {
      const [group, member] = [context.unique(), context.unique('m')]
      await groups().put(group, { mode: 'distinct', capacity: 12 })
      await groups().appendMany(Array.from({ length: 12 }, (_, n) => ({ group, member: n === 11 ? member : `o${n}` })))
      const store = await interrupted(() => groups().put(group, { mode: 'distinct', capacity: 3 }))
      expect(await store.groups.eraseMember(member)).toEqual({ deleted: 1 })
      expect(await ofMember(group, member)).toEqual([])
      expect(membersOf(await groups().recent(group))).toEqual(['o10', 'o9'])
    })

    it('leaves a group as it is from which the item has gone by itself, and what has its place', async () => {
      const [group, member] = [context.unique(), context.unique('m')]
      await groups().put(group, { capacity: 2 })
      await groups().append(group, { member })
      let tag = ''
      const store = await interrupted(async () => {
        await groups().appendMany(Array.from({ length: 3 }, () => ({ group, member: 'o' })))
        tag = (await groups().recent(group)).tag
      })
      expect(await store.groups.eraseMember(member)).toEqual({ deleted: 0 })
      const recent = await groups().recent(group)
      expect([idsOf(recent), recent.tag]).toEqual([[3n, 2n], tag])
    })

    it('is whole in each group, whichever statement fails, and a second call ends it', async () => {
      const [prefix, member] = [context.unique('p'), context.unique('m')]
      const names = Array.from({ length: 8 }, (_, n) => `${prefix}${n}`)
      await groups().put(names[0] as string, { forgetEmptySeconds: 1000 })
      const store = await context.open()
      let left = Number.POSITIVE_INFINITY
      watch(store, async (_, run) => {
        if (left-- === 0) throw new Error('cut off')
        return run()
      })
      const states = async () => {
        const pages = await groups().recentMany(names)
        return pages.map((page) => ({ isThere: membersOf(page).includes(member), tag: page.tag }))
      }
      let failed = 0
      for (let at = 0, isDone = false; !isDone; at++) {
        await groups().appendMany(
          names.flatMap((group) => [
            { group, member: 'o' },
            { group, member },
          ]),
        )
        const before = await states()
        left = at
        const outcome = await store.groups.eraseMember(member).catch((error: Error) => error)
        left = Number.POSITIVE_INFINITY
        isDone = !(outcome instanceof Error)
        const after = await states()
        for (const [n, { isThere, tag }] of after.entries()) expect(isThere).toBe(tag === before[n]?.tag)
        if (isDone) break
        failed++
        const { deleted } = await store.groups.eraseMember(member)
        expect(deleted).toBe(after.filter(({ isThere }) => isThere).length)
        expect((await states()).some(({ isThere }) => isThere)).toBe(false)
      }
      expect(failed).toBeGreaterThanOrEqual(5)
    })

    it('has groups forgotten that it has emptied, and no others', async () => {
      const [prefix, member] = [context.unique('p'), context.unique('m')]
      const names = Array.from({ length: 6 }, (_, n) => `${prefix}${n}`)
      context.afterwards(() => context.store.policies.drop(prefix))
      await context.store.policies.put(prefix, { capacity: 10, mode: 'history', forgetEmptySeconds: 100 })
      await groups().appendMany(names.slice(0, 3).map((group) => ({ group, member: 'o' })))
      await groups().appendMany(names.map((group) => ({ group, member })))
      expect(await groups().eraseMember(member, { prefix })).toEqual({ deleted: 6 })
      context.clock.offsetMs += 110_000
      await sweepGroups(context.store)
      const { groups: listed } = await groups().list({ prefix })
      expect(listed.map(({ group }) => group)).toEqual(names.slice(0, 3))
    })
  })
}

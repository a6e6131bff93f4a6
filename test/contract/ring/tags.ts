import type { RecentOptions } from '../../../src/index'
import { type Context, eventually } from '../context'

export function describeTags(context: Context): void {
  const groups = () => context.store.groups
  const tagOf = async (group: string, options?: RecentOptions) => (await groups().recent(group, options)).tag

  async function filled(): Promise<string> {
    const group = context.unique()
    await groups().appendMany(Array.from({ length: 5 }, (_, n) => ({ group, member: `m${n}`, payload: n })))
    return group
  }

  /** The tag after each step differs from all tags before. */
  async function expectNew(group: string, steps: [string, () => Promise<unknown>][]): Promise<void> {
    const seen = new Map([[await tagOf(group), 'at first']])
    for (const [name, step] of steps) {
      await step()
      const tag = await tagOf(group)
      expect([name, seen.get(tag)]).toEqual([name, undefined])
      seen.set(tag, name)
    }
  }

  describe('tag', () => {
    it('is the same while nothing changes, for every reader', async () => {
      const group = await filled()
      const other = await context.open()
      const tag = await tagOf(group)
      expect(await tagOf(group)).toBe(tag)
      expect((await other.groups.recent(group)).tag).toBe(tag)
      expect((await groups().recentMany([group]))[0]?.tag).toBe(tag)
      expect(tag).toMatch(/^[\x21\x23-\x7e]+$/) // what an ETag may hold
    })

    it('changes with every write that changes the answer', async () => {
      const group = await filled()
      await expectNew(group, [
        ['append', () => groups().append(group)],
        ['remove', () => groups().remove(group, 2n)],
        ['capacity', () => groups().put(group, { capacity: 20 })],
        ['mode', () => groups().put(group, { capacity: 20, mode: 'distinct' })],
        ['many', () => groups().appendMany([{ group, member: 'x' }])],
        ['erasure', () => groups().eraseMember('x')],
        ['clear', () => groups().clear(group)],
        ['back to the policy', () => groups().put(group)],
      ])
    })

    it('is another one for a group made again with the same content', async () => {
      const group = context.unique()
      const make = () => groups().append(group, { member: 'm', payload: 1, occurredAt: new Date(0), eventId: 'e' })
      const tags = new Set<string>()
      for (let round = 0; round < 4; round++) {
        await make()
        tags.add(await tagOf(group))
        await groups().drop(group)
        tags.add(await tagOf(group))
      }
      expect(tags.size).toBeGreaterThanOrEqual(5) // four lives, and one or more for "not there"
    })

    it('changes when an item expires, without any write', async () => {
      const group = context.unique()
      await groups().put(group, { ttlSeconds: 50 })
      await groups().append(group)
      context.clock.offsetMs += 30_000
      await groups().append(group)
      const tags = new Set([await tagOf(group)])
      context.clock.offsetMs += 30_000
      tags.add(await tagOf(group))
      context.clock.offsetMs += 30_000
      tags.add(await tagOf(group))
      expect(tags.size).toBe(3)
      expect(await tagOf(group)).toBe([...tags][2])
    })

    it('changes with the policy', async () => {
      const group = await filled()
      const prefix = group
      context.afterwards(() => context.store.policies.drop(prefix))
      const first = await tagOf(group)
      await context.store.policies.put(prefix, { capacity: 4, mode: 'history' })
      await eventually(5500, 'a read follows the policy', async () => (await groups().recent(group)).capacity === 4)
      const second = await tagOf(group)
      expect(second).not.toBe(first)
      await context.store.policies.put(prefix, { capacity: 4, mode: 'distinct' })
      await eventually(5500, 'the mode applies', async () => (await groups().recent(group)).mode === 'distinct')
      expect([first, second]).not.toContain(await tagOf(group))
    })

    it('stays when nothing of the answer changed', async () => {
      const group = await filled()
      await groups().append(group, { eventId: 'e', member: 'm0' })
      const tag = await tagOf(group)
      const other = await filled()
      await groups().append(other, { member: 'm1' })
      await groups().append(group, { eventId: 'e', member: 'm0' })
      await groups().remove(group, 77n)
      await groups().eraseMember(context.unique('nobody'))
      await groups().get(group)
      await groups().memberItems('m0')
      await groups().drop(other)
      expect(await tagOf(group)).toBe(tag)
    })
  })
}

/** One item, read by its id: it is there exactly while the window shows it. */
import { JsonText } from '../../../src/shared/json'
import { type Context, refusal } from '../context'

export function describeItem(context: Context): void {
  const groups = () => context.store.groups

  /** The ids below `to` that are read one by one must be those of the page. */
  async function expectAsThePage(group: string, to: bigint): Promise<void> {
    const page = await groups().recent(group, { limit: 1000 })
    const shown = new Map(page.items.map((item) => [item.id, item]))
    for (let id = 0n; id < to; id++) expect([id, await groups().item(group, id)]).toEqual([id, shown.get(id) ?? null])
  }

  describe('item', () => {
    it('is the item as a page has it; null when the window has none of this id', async () => {
      const group = context.unique()
      const occurredAt = new Date('2026-11-21T10:00:00.250Z')
      for (let n = 0; n < 15; n++) {
        await groups().append(group, { member: `m${n}`, payload: { n }, eventId: `e${n}`, occurredAt })
      }
      expect(await groups().item(group, 14n)).toMatchObject({
        group,
        id: 14n,
        member: 'm14',
        payload: { n: 14 },
        occurredAt,
      })
      await groups().remove(group, 13n)
      await expectAsThePage(group, 17n)
      expect(await groups().item(context.unique(), 0n)).toBeNull()
      const text = await groups().item(group, 14n, { payloads: 'text' })
      expect(text?.payload).toEqual(new JsonText('{"n":14}'))
    })

    it('follows the id in a history that was laid out again, and at the end of the ids', async () => {
      const group = context.unique()
      await groups().appendMany(Array.from({ length: 25 }, (_, n) => ({ group, payload: n })))
      for (const capacity of [7, 20, 3]) {
        await groups().put(group, { capacity })
        await expectAsThePage(group, 27n)
        await groups().append(group)
      }
      expect(await groups().item(group, 9_223_372_036_854_775_807n)).toBeNull()
    })

    it('of a distinct group is the last of each member', async () => {
      const group = context.unique()
      await groups().put(group, { capacity: 4, mode: 'distinct' })
      for (const member of 'abcabdefae') await groups().append(group, { member })
      await expectAsThePage(group, 11n)
      await groups().clear(group)
      await expectAsThePage(group, 11n)
    })

    it.each(['history', 'distinct'] as const)('goes by a changed policy at once, to %s too', async (mode) => {
      const group = context.unique()
      await groups().appendMany([...'abcab'].map((member) => ({ group, member })))
      await groups().append(group)
      context.afterwards(() => context.store.policies.drop(group))
      await context.store.policies.put(group, { capacity: 2, mode })
      await expectAsThePage(group, 7n)
      expect(await groups().item(group, mode === 'history' ? 5n : 4n)).not.toBeNull()
    })

    it('is gone when it has expired', async () => {
      const group = context.unique()
      await groups().put(group, { ttlSeconds: 1000 })
      await groups().append(group)
      expect(await groups().item(group, 0n)).not.toBeNull()
      context.clock.offsetMs += 1_000_000
      expect(await groups().item(group, 0n)).toBeNull()
    })

    it('is read in a transaction as it is there', async () => {
      const group = context.unique()
      await context.store.transaction(async (tx) => {
        const { id } = await tx.groups.append(group, { member: 'm' })
        expect(await tx.groups.item(group, id)).toMatchObject({ member: 'm' })
      })
    })

    it('names every fault', async () => {
      const error = await refusal(groups().item('', -1n, { payloads: 'none' as 'text' }))
      expect([error.code, error.faults.map(({ parameter, pointer }) => parameter ?? pointer).sort()]).toEqual([
        'invalid_input',
        ['/payloads', 'group', 'id'],
      ])
    })
  })
}

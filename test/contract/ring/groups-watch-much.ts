import type { GroupWatch } from '../../../src/index'
import { openedOf } from '../../support/opened'
import { SOON_MS } from '../../support/timing'
import { type Context, eventually, idsOf, refusal, sleep } from '../context'
import { following, told } from './watch-tools'

export function describeGroupsWatchMuch(context: Context): void {
  const groups = () => context.store.groups

  /**
   * A watch that is not read, of a group of capacity 40, and large items for it. `append` resolves when another
   * listener of the same store has heard of the newest one: the look that showed it has also served the watch.
   */
  async function untaken(): Promise<{ group: string; watch: GroupWatch; append: (items: number) => Promise<void> }> {
    const group = context.unique()
    const payload = 'x'.repeat(60_000)
    await groups().put(group, { capacity: 40 })
    const watch = groups().watch(group, { payloads: 'text' })
    context.afterwards(() => watch.return())
    const other = following(context, groups().watch(group))
    await Promise.all([watch.ready, other.ready])
    const append = async (items: number) => {
      let newest = -1n
      for (let n = 0; n < items; n++) newest = (await groups().append(group, { payload })).id
      await eventually(SOON_MS, `+${newest} elsewhere`, async () => other.told.at(-1) === `+${newest}`)
    }
    return { group, watch, append }
  }

  describe('a group with much to tell', () => {
    it('gives everyone the same window in the end, however fast it is appended to and removed from', async () => {
      const group = context.unique()
      await groups().put(group, { capacity: 25 })
      const other = await context.open()
      const views = [context.store, other, context.store].map((store) => following(context, store.groups.watch(group)))
      await Promise.all(views.map(({ ready }) => ready))
      for (let round = 0; round < 12; round++) {
        const last = await groups().appendMany(Array.from({ length: 9 }, () => ({ group })))
        await other.groups.appendMany(Array.from({ length: round }, () => ({ group }))).catch(() => {})
        for (const { id } of last.slice(0, round % 5)) await other.groups.remove(group, id)
        await sleep(round * 7)
      }
      const { items } = await groups().recent(group, { limit: 100 })
      const expected = idsOf({ items }).reverse()
      for (const view of views) {
        await eventually(SOON_MS, 'the same window', async () => String(told(view.events, 25)) === String(expected))
      }
    })

    it('waits for a listener that does not take, and gives it the rest then', async () => {
      const { group, watch, append } = await untaken()
      await append(60)
      const heard = following(context, watch)
      await eventually(SOON_MS, 'the newest item', async () => heard.told.at(-1) === '+59')
      const { items } = await groups().recent(group, { limit: 40, payloads: 'text' })
      expect(told(heard.events, 40)).toEqual(idsOf({ items }).reverse())
    })

    it('who was behind while newer items came and were removed again keeps none of those that they pushed out', async () => {
      const { group, watch, append } = await untaken()
      // The group still has all of these, of which the watch has room for some; the others push them out.
      await append(20)
      await append(70)
      await groups().clear(group)
      await append(1)
      const heard = following(context, watch)
      await eventually(SOON_MS, 'the newest item', async () => heard.told.at(-1) === '+90')
      expect(heard.told).toContain('+10')
      expect(heard.told).not.toContain('+40')
      expect(told(heard.events, 40)).toEqual([90n])
    })

    it('sends a large window to a listener that comes back', async () => {
      const group = context.unique()
      await groups().put(group, { capacity: 1000 })
      for (let n = 0; n < 4; n++) await groups().appendMany(Array.from({ length: 250 }, () => ({ group, payload: n })))
      const heard = following(context, groups().watch(group, { after: 0n }))
      await heard.until(999)
      expect(heard.told).toEqual(Array.from({ length: 999 }, (_, n) => `+${n + 1}`))
    })
  })

  describe('a watch ends', () => {
    it('when it is left, or its signal aborts, and leaves nothing behind', async () => {
      const store = await context.open()
      const group = context.unique()
      const { streams } = openedOf(store).groups
      const ending = new AbortController()
      const aborted = following(context, store.groups.watch(group, { signal: ending.signal }))
      await aborted.ready
      const leaving = store.groups.watch(group)
      const left = (async () => {
        for await (const event of leaving) return event
        return null
      })()
      await leaving.ready
      expect(streams.watched).toBe(1)
      await store.groups.append(group)
      expect(await left).toMatchObject({ type: 'item', item: { id: 0n } })
      ending.abort()
      await aborted.end
      expect(streams.watched).toBe(0)
      expect(await store.groups.watch(group, { signal: AbortSignal.abort() }).next()).toEqual({ done: true })
    })

    it('when the store closes', async () => {
      const store = await context.open()
      const heard = following(context, store.groups.watch(context.unique()))
      await heard.ready
      await store.close()
      await heard.end
      expect(() => store.groups.watch('g')).toThrow('closed')
    })

    it('before it begins where the input is not valid, and inside of transactions', async () => {
      const fault = (call: () => unknown) => refusal(Promise.resolve().then(call))
      expect((await fault(() => groups().watch(''))).faults).toMatchObject([{ parameter: 'group' }])
      const wrong = { after: -2n, resumes: 1, signal: {}, payloads: 'x', more: 1 } as object
      const { faults } = await fault(() => groups().watch('g', wrong))
      expect(faults.map(({ pointer }) => pointer).sort()).toEqual([
        '/after',
        '/more',
        '/payloads',
        '/resumes',
        '/signal',
      ])
      await context.store.transaction(async (tx) => {
        expect(tx.groups).not.toHaveProperty('watch')
      })
    })
  })
}

import { type AppendedItem, attachStore } from '../../../src/index'
import type { Mode } from '../../../src/shared/group-types'
import { type Context, expectSound, idsOf, membersOf, refusal, sleep, userSource } from '../context'
import { statementsOf } from '../statements'
import { batchesOf, byId, outcomesOf, refusalsOf, times, up, writersOf } from './batched'

/** Appends of many callers share commits; no caller may notice it except by the time it takes. */
export function describeBatchedAppends(context: Context): void {
  const groups = () => context.store.groups

  async function grouped(settings: { capacity?: number; mode?: Mode } = {}): Promise<string> {
    const group = context.unique()
    await groups().put(group, settings)
    return group
  }

  /** The members of the items in the window, newest first, by the answers alone. */
  function windowOf(appended: readonly AppendedItem[], capacity: number, mode: Mode): AppendedItem[] {
    const newestFirst = byId(appended).reverse()
    if (mode === 'history') return newestFirst.slice(0, capacity)
    const newest = new Map<string | null, AppendedItem>()
    for (const item of newestFirst) if (!newest.has(item.member)) newest.set(item.member, item)
    return [...newest.values()].slice(0, capacity)
  }

  describe('appends of many callers at once', () => {
    it.each([
      { mode: 'history', count: 1, capacity: 10 },
      { mode: 'history', count: 4, capacity: 120 },
      { mode: 'distinct', count: 1, capacity: 10 },
      { mode: 'distinct', count: 4, capacity: 40 },
    ] as const)(
      '$mode, $count group(s): each has its own id, and the window is the last of them',
      async ({ count, ...kind }) => {
        const before = await writersOf(context.store.dataSource)
        const { store, statements } = await statementsOf(context)
        const names: string[] = []
        for (let n = 0; n < count; n++) names.push(await grouped(kind))
        const given = times(600, (n) => ({
          group: names[n % names.length] as string,
          member: `m${n % 31}`,
          payload: n % 5 ? { n } : undefined,
          occurredAt: n % 3 ? undefined : new Date(1_700_000_000_000 + n),
          eventId: n % 7 ? undefined : `e${n}`,
        }))
        statements.length = 0
        const items = await Promise.all(given.map(({ group, ...item }) => store.groups.append(group, item)))
        const commits = statements.filter((sql) => sql === 'COMMIT').length
        for (const [n, item] of items.entries()) {
          const { group, member, payload = null, occurredAt = null, eventId = null } = given[n] as (typeof given)[0]
          expect(item).toMatchObject({ group, member, payload, occurredAt, eventId, appended: true })
        }
        for (const group of names) {
          const mine = items.filter((item) => item.group === group)
          expect(byId(mine).map(({ id }) => id)).toEqual(up(0, mine.length))
          const recent = await store.groups.recent(group, { limit: 10_000 })
          expect(recent.totalAppended).toBe(BigInt(mine.length))
          expectSound(recent)
          const window = windowOf(mine, kind.capacity, kind.mode).map(({ appended: _, ...stored }) => stored)
          expect(recent.items).toEqual(window)
        }
        // One lane of one group has everything that came at once in one transaction.
        expect(commits).toBeGreaterThan(0)
        expect(commits).toBeLessThanOrEqual(10)
        const { batches, writers } = await batchesOf(store, before)
        // SQLite can't lose a commit, and has no marks.
        expect(batches).toBe(context.engine === 'sqlite' ? 0 : commits)
        await store.close()
        const left = await writersOf(context.store.dataSource)
        expect(writers.filter((writer) => left.has(writer))).toEqual([])
      },
    )

    it('keep their order within a group, as they were called', async () => {
      const names = await Promise.all(times(3, () => grouped({ capacity: 200 })))
      const items = await Promise.all(times(300, (n) => groups().append(names[n % 3] as string, { payload: n })))
      for (const name of names) {
        expect(items.filter(({ group }) => group === name).map(({ id }) => id)).toEqual(up(0, 100))
      }
    })

    it.each(['history', 'distinct'] as const)('to one hot group of %s write what stays of a batch', async (mode) => {
      const group = await grouped({ mode, capacity: 10 })
      const { store, statements } = await statementsOf(context)
      const items = await Promise.all(times(500, (n) => store.groups.append(group, { member: `m${n % 40}` })))
      expect(byId(items).map(({ id }) => id)).toEqual(up(0, 500))
      const written = statements
        .filter((sql) => sql.startsWith('REPLACE INTO recentn_items'))
        .map((sql) => (sql.split('VALUES')[1] as string).split('(').length - 1)
      expect(written.length).toBeGreaterThan(0)
      expect(written.length).toBeLessThanOrEqual(10)
      expect(Math.max(...written)).toBeLessThanOrEqual(10)
      expect(membersOf(await store.groups.recent(group))).toEqual(times(10, (n) => `m${(499 - n) % 40}`))
    })

    it('of one item and of many stand side by side, each in its own order', async () => {
      const [a, b, c] = await Promise.all(times(3, () => grouped({ capacity: 2000 })))
      const names = [a, b, c] as string[]
      const many = times(25, (n) =>
        groups().appendMany(times(12, (at) => ({ group: names[(n + at) % 3] as string, payload: [n, at] }))),
      )
      const single = times(200, (n) => groups().append(names[n % 3] as string, { payload: n }))
      const batches = await Promise.all(many)
      const items = [...batches.flat(), ...(await Promise.all(single))]
      for (const [n, batch] of batches.entries()) {
        expect(batch.map(({ payload }) => payload)).toEqual(times(12, (at) => [n, at]))
        for (const name of names) {
          const ids = batch.filter(({ group }) => group === name).map(({ id }) => id)
          expect(ids).toEqual(up(ids[0] as bigint, 4))
        }
      }
      for (const recent of await groups().recentMany(names, { limit: 10_000 })) {
        const mine = byId(items.filter(({ group }) => group === recent.group))
        expect(idsOf(recent)).toEqual(mine.map(({ id }) => id).reverse())
        expect(recent.items.map(({ payload }) => payload)).toEqual(mine.map(({ payload }) => payload).reverse())
      }
    })

    it('give each caller its own payload, in the form it asked for', async () => {
      const group = await grouped()
      const [value, text, again] = await Promise.all([
        groups().append(group, { eventId: 'e', payload: { a: [1] } }),
        groups().append(group, { eventId: 'e', payload: 'other' }, { payloads: 'text' }),
        groups().append(group, { eventId: 'e' }),
      ])
      expect(value?.payload).toEqual({ a: [1] })
      expect(text?.payload).toEqual({ text: '{"a":[1]}' })
      expect(again?.payload).toEqual({ a: [1] })
      expect(again?.payload).not.toBe(value?.payload)
    })
  })

  describe('closing while appends are in flight', () => {
    it('answers and stores all that was accepted, and refuses what comes after', async () => {
      const before = await writersOf(context.store.dataSource)
      const store = await context.open()
      const names = await Promise.all(times(5, () => grouped({ capacity: 1000 })))
      await store.groups.append(names[0] as string)
      const { writers } = await batchesOf(store, before)
      const appends = times(400, (n) => store.groups.append(names[n % 5] as string, { payload: n }))
      const many = store.groups.appendMany(names.map((group) => ({ group })))
      const closing = store.close()
      expect((await refusal(store.groups.append(names[0] as string))).code).toBe('closed')
      expect((await refusal(store.groups.appendMany([{ group: names[0] as string }]))).code).toBe('closed')
      expect(await Promise.all(appends)).toHaveLength(400)
      expect(await many).toHaveLength(5)
      await closing
      const totals = (await groups().recentMany(names)).map(({ totalAppended }) => totalAppended)
      expect(totals).toEqual([82n, 81n, 81n, 81n, 81n])
      const left = await writersOf(context.store.dataSource)
      expect(writers.filter((writer) => left.has(writer))).toEqual([])
    })
  })

  describe('appends inside a transaction', () => {
    it('do not join a batch: they commit and roll back with it', async () => {
      const source = userSource(context.url)
      await source.initialize()
      context.afterwards(() => source.destroy())
      await source.query('CREATE TABLE IF NOT EXISTS batch_notes (note varchar(100) NOT NULL PRIMARY KEY)')
      const before = await writersOf(source)
      const store = await attachStore(source, { sweep: false })
      context.afterwards(() => store.close())
      const group = context.unique()
      const boom = new Error('boom')
      for (const fails of [false, true, false]) {
        const work = source.transaction(async (manager) => {
          const { id } = await store.within(manager).groups.append(group)
          await manager.query('INSERT INTO batch_notes (note) VALUES (?)', [`${group}${id}`])
          await store.within(manager).groups.appendMany([{ group }, { group }])
          if (fails) throw boom
        })
        if (fails) await expect(work).rejects.toBe(boom)
        else await work
      }
      await store.transaction((tx) => tx.groups.append(group))
      const undone = store.transaction(async (tx) => {
        await tx.groups.append(group)
        throw boom
      })
      await expect(undone).rejects.toBe(boom)
      expect(await batchesOf(store, before)).toEqual({ batches: 0, writers: [] })
      expect(idsOf(await store.groups.recent(group))).toEqual(up(0, 7).reverse())
      const notes: { note: string }[] = await source.query('SELECT note FROM batch_notes WHERE note LIKE ?', [
        `${group}%`,
      ])
      expect(notes.map(({ note }) => note).sort()).toEqual([`${group}0`, `${group}3`])
    })

    it('asked of the store itself: refused, and no other caller is hurt', async () => {
      const [inside, outside] = [context.unique(), context.unique()]
      let begin = () => {}
      const others = new Promise<void>((resolve) => {
        begin = resolve
      }).then(() => outcomesOf(times(50, () => groups().append(outside))))
      const mine = await context.store.transaction(async (tx) => {
        await tx.groups.append(inside)
        begin()
        await sleep(10)
        const outcomes = await outcomesOf([groups().append(context.unique()), groups().append(context.unique())])
        await tx.groups.append(inside)
        return outcomes
      })
      const codes = refusalsOf(mine).map(({ code }) => code)
      expect(codes).toEqual(['misuse', 'misuse'])
      expect(refusalsOf(await others)).toEqual([])
      expect((await groups().recentMany([inside, outside])).map(({ totalAppended }) => totalAppended)).toEqual([
        2n,
        50n,
      ])
    })
  })
}

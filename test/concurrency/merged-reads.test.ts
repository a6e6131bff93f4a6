/** Merged reads under fire: many readers and writers, over two stores, each with its own batches. */
import { openStore, type Recent, type Store } from '../../src'
import { type Database, describeEngine, ENGINES, freshDatabase } from '../support/engines'

/** Groups that are read whole, by their newest slots, and sorted by the database. */
const KINDS = [
  { capacity: 10, mode: 'history' },
  { capacity: 200, mode: 'history' },
  { capacity: 40, mode: 'distinct' },
  { capacity: 200, mode: 'distinct' },
] as const
const GROUPS = Array.from({ length: 12 }, (_, n) => ({ group: `fire:${n}`, ...KINDS[n % KINDS.length] }))
const CALLERS = 64
const ROUNDS = 12

for (const engine of ENGINES) {
  describeEngine(engine, 'merged reads while others write', () => {
    let database: Database
    let stores: Store[]

    beforeAll(async () => {
      database = await freshDatabase(engine)
      const first = await openStore({ url: database.url, sweep: false })
      stores = [first, await openStore({ url: database.url, sweep: false })]
    })

    beforeEach(async () => {
      for (const { group, ...settings } of GROUPS) {
        await storeOf(0).groups.drop(group)
        await storeOf(0).groups.put(group, settings)
      }
    })

    afterAll(async () => {
      for (const store of stores) await store.close()
      await database.drop()
    })

    const storeOf = (n: number) => stores[n % stores.length] as Store

    /** Runs the rounds of every caller side by side; a caller has a number. */
    const fire = (round: (caller: number, n: number) => Promise<void>) =>
      Promise.all(
        Array.from({ length: CALLERS }, async (_, caller) => {
          for (let n = 0; n < ROUNDS; n++) await round(caller, n)
        }),
      )

    /** No hole between head and items: nothing is removed here, and every member is seen once in `distinct`. */
    function expectOneMoment(page: Recent, limit = 10): void {
      const ids = page.items.map(({ id }) => id)
      const count = Math.min(limit, page.capacity, Number(page.totalAppended))
      const expected = Array.from({ length: count }, (_, n) => page.totalAppended - 1n - BigInt(n))
      // Thousands of pages: expect is for the one that is wrong.
      if (ids.join() !== expected.join()) expect(ids).toEqual(expected)
    }

    test('a read has what was acknowledged before it, whoever wrote it, and head and items of one moment', async () => {
      await fire(async (caller, n) => {
        const { group } = GROUPS[(caller + n) % GROUPS.length] as { group: string }
        const appended = await storeOf(caller).groups.append(group, { member: `c${caller}-${n}` })
        const reads = [caller, caller + 1].flatMap((at) => [
          storeOf(at).groups.recent(group),
          storeOf(at).groups.recent(group, { limit: 100 }),
        ])
        for (const [at, page] of (await Promise.all(reads)).entries()) {
          expect(page.totalAppended).toBeGreaterThan(appended.id)
          expectOneMoment(page, at % 2 ? 100 : 10)
        }
      })
      const totals = await storeOf(0).groups.recentMany(GROUPS.map(({ group }) => group))
      expect(totals.reduce((sum, { totalAppended }) => sum + Number(totalAppended), 0)).toBe(CALLERS * ROUNDS)
    })

    test('a caller with a tag sees everything that was acknowledged before', async () => {
      await fire(async (caller, n) => {
        const { group } = GROUPS[(caller + n) % GROUPS.length] as { group: string }
        const store = storeOf(caller + n)
        const before = await store.groups.recent(group)
        const appended = await storeOf(caller).groups.append(group, { member: `c${caller}-${n}` })
        const page = await store.groups.recentIfChanged(group, before.tag)
        if (page === null) throw new Error(`${group} has changed, and its reader was not told`)
        expect(page.totalAppended).toBeGreaterThan(appended.id)
        expectOneMoment(page)
        const later = await store.groups.recentIfChanged(group, page.tag)
        // Unchanged, or changed by another caller.
        if (later !== null) expect(later.totalAppended).toBeGreaterThan(page.totalAppended)
      })
    })

    test('many groups are shown at one moment', async () => {
      const names = GROUPS.map(({ group }) => group)
      await fire(async (caller, n) => {
        if (caller % 4 === 0) {
          await storeOf(caller).groups.appendMany(names.map((group) => ({ group, member: `c${caller}-${n}` })))
        } else {
          const pages = await storeOf(caller).groups.recentMany(names)
          expect(new Set(pages.map(({ totalAppended }) => totalAppended)).size).toBe(1)
          for (const page of pages) expectOneMoment(page)
        }
      })
    })
  })
}

/** Connections that are lost around a commit: the caller learns the truth, and nothing is stored twice. */
import { type AppendedItem, openStore, RecentnError, type Store } from '../../src'
import { refusal } from '../contract/context'
import { CuttingProxy, type Moment } from '../support/cutting-proxy'
import { type Database, describeEngine, freshDatabase } from '../support/engines'
import { report } from './report'

jest.setTimeout(120_000)

const CALLERS = 64
const CAPACITY = 10_000
const AWAY_MS = 15_000
const RANDOM_CUTS_MS = 8000

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

export function describeCutOff(engine: 'mariadb' | 'mysql'): void {
  describeEngine(engine, 'appends whose connection is cut', () => {
    let database: Database
    /** Straight to the server: what is there, whatever the proxy does. */
    let direct: Store
    let proxy: CuttingProxy
    let store: Store
    let tests = 0
    let prefix: string

    beforeAll(async () => {
      database = await freshDatabase(engine)
      direct = await openStore({ url: database.url, sweep: false, defaultCapacity: CAPACITY })
    })

    beforeEach(async () => {
      prefix = `cut-${++tests}:`
      proxy = await CuttingProxy.before(database.url)
      store = await openStore({ url: proxy.through(database.url), sweep: false, defaultCapacity: CAPACITY })
    })

    afterEach(async () => {
      await store.close()
      await proxy.close()
    })

    afterAll(async () => {
      await direct?.close()
      await database?.drop()
    })

    /** The items in the groups of the test, oldest first: ids without gap, and no member twice. */
    async function stored(): Promise<Map<string, string>> {
      const places = new Map<string, string>()
      const { groups } = await direct.groups.list({ prefix })
      for (const { group, totalAppended } of groups) {
        const { items } = await direct.groups.recent(group, { limit: CAPACITY })
        expect(items.map(({ id }) => Number(id))).toEqual(items.map((_, n) => items.length - 1 - n))
        expect(Number(totalAppended)).toBe(items.length)
        for (const { id, member } of items) {
          expect(places.get(member as string)).toBeUndefined()
          places.set(member as string, `${group}/${id}`)
        }
      }
      return places
    }

    /** Begins an append for each caller, to a few groups, some with an event id, some of them many items. */
    function append(name: string): Promise<AppendedItem[]>[] {
      return Array.from({ length: CALLERS }, async (_, n) => {
        const group = `${prefix}${n % 5}`
        const item = { member: `${name}-${n}`, eventId: n % 3 ? null : `${name}-${n}` }
        if (n % 8 !== 7) return [await store.groups.append(group, item)]
        const items = [`${prefix}0`, group, `${prefix}new-${name}`].map((each, at) => ({
          group: each,
          member: `${item.member}-${at}`,
        }))
        return store.groups.appendMany(items)
      })
    }

    async function expectAllStoredOnce(items: readonly AppendedItem[]): Promise<void> {
      expect(items.every(({ appended }) => appended)).toBe(true)
      const places = items.map(({ member, group, id }) => [member, `${group}/${id}`] as const)
      expect(await stored()).toEqual(new Map(places))
    }

    it.each<[string, Moment[]]>([
      ['before the server has the COMMIT', ['before']],
      ['with the COMMIT on its way', ['during']],
      ['after the server has committed', ['after']],
      ['twice before, in the same batch or in two', ['before', 'before']],
      ['after, and again while it finds out', ['after', 'after']],
      ['before, and the next one after', ['before', 'after']],
    ])('%s: all are answered, each is stored once', async (_, moments) => {
      const first = await Promise.all(append('first'))
      const isCut = proxy.cutCommits(...moments)
      const second = await Promise.all(append('second'))
      await isCut
      const third = await Promise.all(append('third'))
      await expectAllStoredOnce([first, second, third].flat(2))
    })

    it('by the very first batch of a process: its mark is not there yet', async () => {
      for (const moment of ['before', 'during', 'after'] as const) {
        const fresh = await openStore({ url: proxy.through(database.url), sweep: false })
        const isCut = proxy.cutCommits(moment)
        const group = `${prefix}${moment}`
        const ids = await Promise.all(Array.from({ length: 10 }, () => fresh.groups.append(group)))
        await isCut
        expect(ids.map(({ id }) => Number(id))).toEqual(Array.from({ length: 10 }, (_, n) => n))
        expect((await direct.groups.recent(group)).totalAppended).toBe(10n)
        await fresh.close()
      }
    })

    it('and the database stays away: outcome_unknown, and the store works again by itself', async () => {
      const first = await Promise.all(append('first'))
      const isCut = proxy.cutCommits('after')
      const began = Date.now()
      const calls = append('second')
      await isCut
      proxy.refuse()
      const codes = await Promise.all(
        calls.map((call) =>
          call.then(
            () => 'stored',
            (error: unknown) => (error instanceof RecentnError ? error.code : String(error)),
          ),
        ),
      )
      expect(new Set(codes)).toContain('outcome_unknown')
      for (const code of codes) expect(['stored', 'outcome_unknown', 'database_unavailable']).toContain(code)
      const whileAway = await store.groups.append(`${prefix}away`).catch((error: unknown) => error)
      expect(whileAway).toMatchObject({ code: 'database_unavailable', retryAfterSeconds: 1 })
      expect(Date.now() - began).toBeLessThan(AWAY_MS)
      await sleep(AWAY_MS - (Date.now() - began))
      await proxy.accept()
      await store.groups.append(`${prefix}0`, { member: 'again' })
      const places = await stored()
      for (const [n, code] of codes.entries()) {
        if (n % 8 === 7) continue
        const isThere = places.has(`second-${n}`)
        if (code !== 'outcome_unknown') expect([n, isThere]).toEqual([n, code === 'stored'])
        else expect(isThere).toBe(true) // this commit did arrive
      }
      // With an event id the retry is safe, without knowing.
      const retries = codes.flatMap((code, n) => (code === 'outcome_unknown' && n % 3 === 0 && n % 8 !== 7 ? [n] : []))
      expect(retries.length).toBeGreaterThan(0)
      for (const n of retries) {
        const again = await store.groups.append(`${prefix}${n % 5}`, { eventId: `second-${n}` })
        expect([again.appended, `${again.group}/${again.id}`]).toEqual([false, places.get(`second-${n}`)])
      }
      for (const { member, group, id } of first.flat()) expect(places.get(member as string)).toBe(`${group}/${id}`)
    })

    it('at any moment, again and again: what was acknowledged is there once, what was refused is not', async () => {
      const until = Date.now() + RANDOM_CUTS_MS
      const acknowledged = new Map<string, string>()
      const failed = new Map<string, string>()
      const cutting = proxy.cutFor(RANDOM_CUTS_MS, [100, 300], (step) => {
        // A moment that a timer alone would seldom meet, and any.
        if (Math.random() < 0.5) void proxy.cutCommits((['before', 'during', 'after'] as const)[step % 3] as Moment)
        else proxy.cutOne(Math.random())
      })
      const callers = Array.from({ length: CALLERS }, async (_, caller) => {
        for (let n = 0; Date.now() < until; n++) {
          const member = `${caller}-${n}`
          try {
            const { group, id } = await store.groups.append(`${prefix}${(caller + n) % 24}`, { member })
            acknowledged.set(member, `${group}/${id}`)
          } catch (error) {
            failed.set(member, error instanceof RecentnError ? error.code : String(error))
          }
          await sleep(5)
        }
      })
      const [cuts] = await Promise.all([cutting, ...callers])
      // Until then each call may have been in doubt, and then found out. Nothing is under way now, so that these are refused.
      proxy.refuse()
      const last = Array.from({ length: CALLERS }, (_, n) =>
        refusal(store.groups.append(`${prefix}${n % 24}`, { member: `last-${n}` })),
      )
      for (const [n, { code }] of (await Promise.all(last)).entries()) failed.set(`last-${n}`, code)
      await proxy.accept()
      expect(new Set([...failed].filter(([member]) => member.startsWith('last-')).map(([, code]) => code))).toEqual(
        new Set(['database_unavailable']),
      )
      expect(cuts).toBeGreaterThan(10)
      expect(acknowledged.size).toBeGreaterThan(1000)
      const places = await stored()
      const faults: string[] = []
      for (const [member, place] of acknowledged) {
        if (places.get(member) !== place) faults.push(`${member} is acknowledged at ${place}: ${places.get(member)}`)
      }
      for (const [member, code] of failed) {
        if (!['outcome_unknown', 'database_unavailable', 'conflict'].includes(code)) faults.push(`${member}: ${code}`)
        else if (code !== 'outcome_unknown' && places.has(member))
          faults.push(`${member} is stored in spite of ${code}`)
      }
      expect(faults).toEqual([])
      const text = `${cuts} cuts, ${acknowledged.size} appends acknowledged, refused: ${tally(failed.values())}`
      report({ type: 'run', engine, what: 'appends whose connection is cut at any moment', text })
    })
  })
}

function tally(codes: Iterable<string>): string {
  const counts = new Map<string, number>()
  for (const code of codes) counts.set(code, (counts.get(code) ?? 0) + 1)
  return [...counts].map(([code, count]) => `${code} ${count}`).join(', ') || 'none'
}

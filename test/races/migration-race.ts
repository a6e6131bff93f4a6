/** Processes on the nodes of a cluster share no GET_LOCK: all of them migrate at the same moment. */
import { openStore, type Store } from '../../src'
import { CuttingProxy } from '../support/cutting-proxy'
import { describeEngine, type EngineName, freshDatabase } from '../support/engines'

const STORES = 6
const ROUNDS = [1, 2, 3]

jest.setTimeout(120_000)

export function describeMigrationRace(engine: EngineName): void {
  describeEngine(engine, `${STORES} stores open one empty database`, () => {
    it.each(
      ROUNDS.flatMap((round) => [['locks that others do not see', round] as const, ['no locks', round] as const]),
    )('with %s: all succeed, and each migration is noted once (round %d)', async (which, _round) => {
      const database = await freshDatabase(engine)
      const proxies: CuttingProxy[] = []
      const stores: Store[] = []
      try {
        for (let n = 0; n < STORES; n++) {
          const proxy = await CuttingProxy.before(database.url)
          // Another name for each, or a function that the server does not have.
          if (which === 'no locks') proxy.rewrite('GET_LOCK(', 'NO_LOCK_(')
          else proxy.rewrite("'recentn:'", `'recent${n}:'`)
          proxies.push(proxy)
        }
        const opening = proxies.map(async (proxy, n) => {
          const store = await openStore({ url: proxy.through(database.url), sweep: false, publish: false })
          stores.push(store)
          await store.groups.append('g', { member: `m${n}` })
        })
        const outcomes = await Promise.allSettled(opening)
        expect(outcomes.map((outcome) => (outcome as PromiseRejectedResult).reason)).toEqual(
          Array(STORES).fill(undefined),
        )
        const { dataSource, groups } = stores[0] as Store
        const rows: { name: string }[] = await dataSource.query('SELECT name FROM recentn_migrations')
        expect(rows.map(({ name }) => name)).toEqual(dataSource.migrations.map(({ name }) => name))
        expect((await groups.recent('g')).totalAppended).toBe(BigInt(STORES))
      } finally {
        await Promise.all(stores.map((store) => store.close()))
        await Promise.all(proxies.map((proxy) => proxy.close()))
        await database.drop()
      }
    })
  })
}

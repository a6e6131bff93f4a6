/**
 * The model test of feeds: random operations, readers and transactions on a store and on plain maps give the same answers.
 * A failure prints the seed and the path; `RECENTN_MODEL_SEED` and `RECENTN_MODEL_PATH` run it again,
 * `RECENTN_MODEL_RUNS` runs longer.
 */
import fc from 'fast-check'
import { openStore, type Store } from '../../../src/index'
import { type EngineName, freshDatabase } from '../../support/engines'
import { operations } from './operations'
import { KEPT_SECONDS } from './oracle'
import { TABLE } from './perform'
import { type Bench, Run } from './run'

export function describeFeedsModel(engine: EngineName, numRuns: number): void {
  const clock = { offsetMs: 0 }
  const stores: Store[] = []
  let drop: () => Promise<void>

  beforeAll(async () => {
    const database = await freshDatabase(engine, { memory: true })
    drop = () => database.drop()
    const options = {
      ...{ url: database.url, sweep: false, publish: false, clockOffsetMs: () => clock.offsetMs },
      feeds: { tombstoneSeconds: KEPT_SECONDS },
    }
    // In memory there is one connection to a database.
    stores.push(await openStore(options))
    if (engine !== 'sqlite') stores.push(await openStore(options))
    const { dataSource } = stores[0] as Store
    const serial =
      engine === 'sqlite' ? 'integer PRIMARY KEY AUTOINCREMENT' : 'integer NOT NULL AUTO_INCREMENT PRIMARY KEY'
    await dataSource.query(
      `CREATE TABLE ${TABLE} (id ${serial}, k varchar(20) NOT NULL UNIQUE, v varchar(20) NOT NULL, sync bigint NULL)`,
    )
    await dataSource.query(`CREATE INDEX ${TABLE}_sync ON ${TABLE} (sync)`)
  })
  afterAll(async () => {
    for (const store of stores) await store.close()
    await drop?.()
  })

  it(
    'answers what plain maps say',
    async () => {
      const { RECENTN_MODEL_SEED: seed, RECENTN_MODEL_PATH: path, RECENTN_MODEL_RUNS: runs } = process.env
      const bench: Bench = { stores: stores as [Store, ...Store[]], clock, mayStayOpen: engine !== 'sqlite' }
      let count = 0
      let startedOver = 0
      await fc.assert(
        fc.asyncProperty(operations, async (given) => {
          const run = new Run(bench, `run${count++}`)
          await run.play(given)
          startedOver += run.startedOver
        }),
        {
          numRuns: runs ? Number(runs) : numRuns,
          // The same ones each time, unless more are asked for.
          ...(seed || !runs ? { seed: Number(seed ?? 1) } : {}),
          ...(path ? { path } : {}),
          interruptAfterTimeLimit: runs ? 3_600_000 : 100_000,
        },
      )
      // Otherwise no consumer had fallen behind.
      if (count >= 40) expect(startedOver).toBeGreaterThan(0)
    },
    process.env.RECENTN_MODEL_RUNS ? 3_700_000 : 150_000,
  )
}

/**
 * The model test: random operations, on stores that take turns and remember each for itself, and on a plain array, give the same
 * answers. A failure prints the seed
 * and the path; `RECENTN_MODEL_SEED` and `RECENTN_MODEL_PATH` run it again, `RECENTN_MODEL_RUNS` runs longer.
 */
import fc from 'fast-check'
import { openStore, type Store } from '../../src/index'
import { type EngineName, freshDatabase } from '../support/engines'
import { STORES, step } from './operations'
import { type Bench, Run } from './run'

export function describeModel(engine: EngineName, numRuns: number): void {
  const clock = { offsetMs: 0 }
  const stores: Store[] = []
  const bench: Bench = { stores, clock }
  let drop: () => Promise<void>

  beforeAll(async () => {
    const database = await freshDatabase(engine)
    drop = () => database.drop()
    const options = {
      url: database.url,
      sweep: false,
      publish: false,
      tick: false,
      clockOffsetMs: () => clock.offsetMs,
    }
    while (stores.length < STORES) stores.push(await openStore(options))
  })
  afterAll(async () => {
    await Promise.all(stores.map((store) => store.close()))
    await drop?.()
  })

  it('answers what a plain array says', async () => {
    const { RECENTN_MODEL_SEED: seed, RECENTN_MODEL_PATH: path, RECENTN_MODEL_RUNS: runs } = process.env
    let count = 0
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 30, size: 'max' }), (steps) =>
        new Run(bench, `run${count++}`).play(steps),
      ),
      {
        numRuns: runs ? Number(runs) : numRuns,
        ...(seed ? { seed: Number(seed) } : {}),
        ...(path ? { path } : {}),
        interruptAfterTimeLimit: 100_000,
      },
    )
  }, 150_000)
}

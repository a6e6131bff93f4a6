/**
 * The model test: random operations on a store and on a plain array give the same answers. A failure prints the seed
 * and the path; `RECENTN_MODEL_SEED` and `RECENTN_MODEL_PATH` run it again, `RECENTN_MODEL_RUNS` runs longer.
 */
import fc from 'fast-check'
import { openStore } from '../../src/index'
import { type EngineName, freshDatabase } from '../support/engines'
import { operation } from './operations'
import { type Bench, Run } from './run'

export function describeModel(engine: EngineName, numRuns: number): void {
  const clock = { offsetMs: 0 }
  let bench: Bench
  let drop: () => Promise<void>

  beforeAll(async () => {
    const database = await freshDatabase(engine)
    drop = () => database.drop()
    const store = await openStore({ url: database.url, sweep: false, clockOffsetMs: () => clock.offsetMs })
    bench = { store, clock }
  })
  afterAll(async () => {
    await bench?.store.close()
    await drop?.()
  })

  it('answers what a plain array says', async () => {
    const { RECENTN_MODEL_SEED: seed, RECENTN_MODEL_PATH: path, RECENTN_MODEL_RUNS: runs } = process.env
    let count = 0
    await fc.assert(
      fc.asyncProperty(fc.array(operation, { minLength: 1, maxLength: 30, size: 'max' }), (operations) =>
        new Run(bench, `run${count++}`).play(operations),
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

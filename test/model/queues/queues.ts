/**
 * The model test of queues: random operations on a store and on plain arrays, and all that can be seen is the same. A
 * failure prints the seed and the path; `RECENTN_MODEL_SEED`, `RECENTN_MODEL_PATH` and `RECENTN_MODEL_RUNS` as for the ring,
 * and `RECENTN_MODEL_SECONDS` bounds all of it, the shrinking of a counterexample too.
 */
import fc from 'fast-check'
import { attach } from '../../../src/database/attached/attach'
import { attachStore, openStore } from '../../../src/index'
import { QueueMemory } from '../../../src/repositories/queues/memory'
import { giveBack, readHandles, validOf } from '../../../src/repositories/queues/settle/settle'
import { sweepQueues } from '../../../src/repositories/queues/sweep'
import { type EngineName, freshDatabase } from '../../support/engines'
import { beginning, operation } from './operations'
import { type Bench, Run } from './run'

export function describeQueueModel(engine: EngineName, numRuns: number): void {
  const seconds = Number(process.env.RECENTN_MODEL_SECONDS ?? 60)
  const clock = { offsetMs: 0 }
  let bench: Bench
  let drop: () => Promise<void>

  beforeAll(async () => {
    const database = await freshDatabase(engine, { memory: true })
    drop = () => database.drop()
    const clockOffsetMs = () => clock.offsetMs
    const store = await openStore({ url: database.url, sweep: false, publish: false, clockOffsetMs })
    const { database: session } = await attach(store.dataSource, { clockOffsetMs })
    // On the same connections: two processes differ in what they remember.
    const other = await attachStore(store.dataSource, { sweep: false, publish: false, clockOffsetMs })
    const sweep = () => sweepQueues(session, new QueueMemory())
    const givesBack = async (queue: string, handles: readonly string[]) => {
      const memory = new QueueMemory()
      await giveBack(session, memory, queue, validOf(await readHandles(session, memory, queue, handles)))
    }
    bench = { stores: [store, other], clock, sweep, giveBack: givesBack }
  })
  afterAll(async () => {
    for (const store of [...(bench?.stores ?? [])].reverse()) await store.close()
    await drop?.()
  })

  it(
    'queues answer what plain arrays say',
    async () => {
      const { RECENTN_MODEL_SEED: seed, RECENTN_MODEL_PATH: path, RECENTN_MODEL_RUNS: runs } = process.env
      let count = 0
      await fc.assert(
        fc.asyncProperty(
          beginning,
          fc.noBias(fc.array(operation, { minLength: 1, maxLength: 40, size: 'max' })),
          (settings, operations) => new Run(bench, `run${count++}`).play(settings, operations),
        ),
        {
          numRuns: runs ? Number(runs) : numRuns,
          // The same ones each time, unless more are asked for.
          ...(seed || !runs ? { seed: Number(seed ?? 1) } : {}),
          ...(path ? { path } : {}),
          interruptAfterTimeLimit: seconds * 1000,
        },
      )
      if (runs) process.stderr.write(`${engine}: ${count} runs\n`)
    },
    (seconds + 60) * 1000,
  )
}

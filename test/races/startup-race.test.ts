/** Several processes may start at once on one empty database: one makes the tables, the others wait for it. */
import { openStore } from '../../src'
import { describeEngine, freshDatabase } from '../support/engines'
import { setFire, withProcesses } from './fire'

/** SQLite is where they meet in most places: making the file, its journal mode, the tables. */
const ROUNDS = { sqlite: 3, mariadb: 1, mysql: 1 } as const

for (const engine of ['sqlite', 'mariadb', 'mysql'] as const) {
  describeEngine(engine, '4 processes open one empty database at the same moment', () => {
    test.each(Array.from({ length: ROUNDS[engine] }, (_, at) => at + 1))(
      'all succeed, and each migration ran once (round %d)',
      async () => {
        const database = await freshDatabase(engine)
        try {
          await race(database.url)
        } finally {
          await database.drop()
        }
      },
    )
  })
}

async function race(url: string): Promise<void> {
  const task = { groups: ['hist:start'], loops: 4, operations: 2, batch: 2 }
  const report = await withProcesses(4, { url, poolSize: 4 }, (processes) =>
    setFire(
      processes,
      processes.map((_, at) => ({ ...task, label: `s${at}`, seed: at })),
    ),
  )
  expect(report.failures).toEqual([])
  const store = await openStore({ url, migrate: false })
  try {
    const rows: { name: string }[] = await store.dataSource.query('SELECT name FROM recentn_migrations')
    const known = store.dataSource.migrations.map((each) => each.name ?? each.constructor.name)
    expect(rows.map((row) => row.name).sort()).toEqual(known.sort())
    const appended = report.records.filter((record) => record.appended).length
    expect((await store.groups.recent('hist:start')).totalAppended).toBe(BigInt(appended))
  } finally {
    await store.close()
  }
}

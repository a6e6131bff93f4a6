/**
 * Why the recipe is not run as it was published: under concurrency it refuses or silently loses appends.
 * docs/decisions/0001-head-row-instead-of-max-plus-one.md explains the table that this prints.
 */
import { openStore, RecentnError } from '../../src'
import { type Database, describeEngine, freshDatabase } from '../support/engines'
import {
  CAPACITY,
  CONNECTIONS,
  groupName,
  hammer,
  hammerPublished,
  type SessionName,
  type Tally,
  totalRefused,
} from './published-recipe'

const APPENDS_EACH = 50
const GROUPS = [1, 20]
/** Rounds without a loss that are not believed any more. */
const MOST_ROUNDS = 20
const SESSIONS: Record<'mariadb' | 'mysql', SessionName[]> = {
  mariadb: ['REPEATABLE READ', 'READ COMMITTED', 'READ COMMITTED, innodb_snapshot_isolation=OFF'],
  mysql: ['REPEATABLE READ', 'READ COMMITTED'],
}
/** Where nothing tells the caller that the append was lost. */
const SILENT: Record<'mariadb' | 'mysql', SessionName> = {
  mariadb: 'READ COMMITTED, innodb_snapshot_isolation=OFF',
  mysql: 'READ COMMITTED',
}

for (const engine of ['mariadb', 'mysql'] as const) {
  describeEngine(engine, 'the published recipe and ours under 20 concurrent writers', () => {
    let database: Database
    const table: Record<string, string | number>[] = []

    beforeAll(async () => {
      database = await freshDatabase(engine)
    })

    afterAll(async () => {
      await database.drop()
      printTable(engine, table)
    })

    describe.each(GROUPS)('over %d group(s)', (groups) => {
      test.each(SESSIONS[engine])('the published statement loses or refuses appends at %s', async (session) => {
        // Whether writers meet is chance: they continue until one has lost what is looked for.
        for (let round = 1, isSeen = false; !isSeen; round++) {
          const tally = await hammerPublished(database.url, session, groups, APPENDS_EACH)
          table.push(row(`published, ${session}`, groups, tally))
          expect(tally.acknowledged + totalRefused(tally)).toBe(tally.attempts)
          isSeen = tally.lost + (session === SILENT[engine] ? 0 : totalRefused(tally)) > 0
          expect(isSeen || round < MOST_ROUNDS).toBe(true)
        }
      })

      test('ours refuses nothing and loses nothing', async () => {
        const tally = await hammerOurs(database.url, groups)
        table.push(row('recentn', groups, tally))
        expect(tally).toMatchObject({ acknowledged: tally.attempts, taken: tally.attempts, lost: 0 })
        expect([...tally.refused]).toEqual([])
      })
    })
  })
}

async function hammerOurs(url: string, groups: number): Promise<Tally> {
  const store = await openStore({ url, poolSize: CONNECTIONS, defaultCapacity: CAPACITY })
  try {
    const names = Array.from({ length: groups }, (_, index) => `of ${groups}: ${groupName(index)}`)
    return await hammer(
      groups,
      APPENDS_EACH,
      (_writer, group, member) => store.groups.append(`of ${groups}: ${group}`, { member }),
      (error) => (error instanceof RecentnError ? error.code : String(error)),
      async () =>
        (await store.groups.recentMany(names)).reduce((sum, { totalAppended }) => sum + Number(totalAppended), 0),
    )
  } finally {
    await store.close()
  }
}

function row(what: string, groups: number, tally: Tally): Record<string, string | number> {
  const refusals = [...tally.refused].map(([name, count]) => `${count} × ${name}`).join(', ')
  return {
    what,
    groups,
    attempted: tally.attempts,
    acknowledged: tally.acknowledged,
    refused: refusals || 0,
    lost: tally.lost,
    'kept per second': Math.round(tally.taken / tally.seconds),
  }
}

function printTable(engine: string, rows: readonly Record<string, string | number>[]): void {
  const columns = Object.keys(rows[0] ?? {})
  const lines = [columns, columns.map(() => '---'), ...rows.map((each) => columns.map((column) => each[column]))]
  // Written past jest's console, which would add a stack trace to it.
  process.stdout.write(`\n${engine}\n${lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n')}\n`)
}

/**
 * How the hot statements run, looked at from the server: the plan that EXPLAIN gives, and the rows that the storage
 * engine was in truth asked for, which no plan can gloss over. On tables where every group is a small part.
 */
import type { QueryRunner } from 'typeorm'
import { mysqlEngine } from '../../../src/database/mysql'
import { sqliteEngine } from '../../../src/database/sqlite'
import { selectDueSql } from '../../../src/repositories/recent/expiry'
import { selectErasableSql, selectMemberSql } from '../../../src/repositories/recent/members'
import { selectRecent } from '../../../src/repositories/recent/read'
import type { Context } from './context'

interface Step {
  table: string
  type: string
  key: string | null
  rows: string | number
  Extra: string | null
}

const reader = { engine: mysqlEngine, now: mysqlEngine.nowMs }
const GROUPS = 200

export function describeExplain(context: Context): void {
  if (context.engine === 'sqlite') describeSqlitePlans(context)
  else describeServerPlans(context)
}

function describeServerPlans(context: Context): void {
  describe('how the statements run', () => {
    let runner: QueryRunner
    let prefix: string

    beforeAll(async () => {
      runner = context.store.dataSource.createQueryRunner()
      prefix = context.unique('plan')
      await fill(context, prefix)
      for (const table of ['recent_groups', 'recent_items']) await runner.query(`ANALYZE TABLE ${table}`)
    }, 60_000)
    afterAll(() => runner.release())

    const plan = async (sql: string, parameters: unknown[]): Promise<Map<string, Step>> => {
      const steps: Step[] = await runner.query(`EXPLAIN FORMAT=TRADITIONAL ${sql}`, parameters)
      return new Map(steps.map((step) => [step.table, step]))
    }
    /** How many rows or index entries the storage engine handed out for a statement. */
    const rowsTouched = async (sql: string, parameters: unknown[]): Promise<number> => {
      const counted = async () => {
        const rows: { Value: string }[] = await runner.query("SHOW SESSION STATUS LIKE 'Handler_read%'")
        return rows.reduce((sum, row) => sum + Number(row.Value), 0)
      }
      const first = await counted()
      const before = await counted()
      const idle = before - first // what the counting itself costs
      await runner.query(sql, parameters)
      return (await counted()) - before - idle
    }
    const extras = (steps: Map<string, Step>) => [...steps.values()].map((step) => step.Extra ?? '').join('; ')

    it('the last 10 of a group: by the prefix of the primary key, no temporary table, a sort of the window', async () => {
      for (const options of [{}, { before: 5n }, { exclude: ['m1', 'm2'] }]) {
        const { sql, parameters } = selectRecent(reader, { group: `${prefix}77`, limit: 10, ...options })
        const steps = await plan(sql, parameters)
        expect(steps.get('g')).toMatchObject({ type: 'const', key: 'PRIMARY' })
        expect(steps.get('i')).toMatchObject({ type: expect.stringMatching(/^(ref|range)$/), key: 'PRIMARY' })
        expect(Number(steps.get('i')?.rows)).toBeLessThanOrEqual(20)
        expect(extras(steps)).not.toMatch(/temporary/i)
        // The window once; where the sort goes by row ids, each row of it is fetched again, which counts twice.
        expect(await rowsTouched(sql, parameters)).toBeLessThanOrEqual(3 * 10 + 6)
      }
    })

    it('a member in all groups: along recent_items_member, nobody else is looked at', async () => {
      const sql = selectMemberSql(reader, false)
      const steps = await plan(sql, [`${prefix}rare`, 10])
      expect(steps.get('i')).toMatchObject({ type: 'ref', key: 'recent_items_member' })
      expect(steps.get('g')).toMatchObject({ type: 'eq_ref', key: 'PRIMARY' })
      expect(extras(steps)).not.toMatch(/temporary|filesort/i)
      expect(await rowsTouched(sql, [`${prefix}rare`, 10])).toBeLessThanOrEqual(2 * 3 + 4)
    })

    it('a page of a member: no more entries of the index than the page has', async () => {
      const first = await runner.query(selectMemberSql(reader, false), [`${prefix}often`, 10])
      const last = first.at(-1)
      const { created_at_ms: at, head_group_key: group, id } = last
      const sql = selectMemberSql(reader, true)
      const parameters = [`${prefix}often`, at, at, at, group, group, id, 10]
      const steps = await plan(sql, parameters)
      expect(steps.get('i')).toMatchObject({ type: 'range', key: 'recent_items_member' })
      expect(extras(steps)).not.toMatch(/temporary|filesort/i)
    })

    it('the erasure of a member: along recent_items_member', async () => {
      const sql = selectErasableSql(reader, false)
      const parameters = [`${prefix}rare`, Number.MAX_SAFE_INTEGER, 64]
      const steps = await plan(sql, parameters)
      expect(steps.get('i')).toMatchObject({ key: 'recent_items_member' })
      expect(steps.get('i')?.type).toMatch(/^(ref|range)$/)
      expect(extras(steps)).not.toMatch(/temporary|filesort/i)
      expect(await rowsTouched(sql, parameters)).toBeLessThanOrEqual(3 + 3)
    })

    it('the sweeper: along recent_groups_sweep, which only groups that expire are in', async () => {
      const sql = selectDueSql(`(${reader.now} + 999999999999)`, mysqlEngine.useIndex)
      const steps = await plan(sql, [100])
      const [step] = [...steps.values()]
      expect(step).toMatchObject({ type: 'range', key: 'recent_groups_sweep' })
      expect(extras(steps)).not.toMatch(/temporary|filesort/i)
      const due = (await runner.query(sql, [100])) as unknown[]
      expect(due.length).toBeGreaterThanOrEqual(5)
      expect(await rowsTouched(sql, [100])).toBeLessThanOrEqual(due.length + 3)
    })
  })
}

/** SQLite says less about its plans: which index, and whether it sorts. */
function describeSqlitePlans(context: Context): void {
  describe('how the statements run', () => {
    const plan = async (sql: string, parameters: unknown[]): Promise<string> => {
      const steps: { detail: string }[] = await context.store.dataSource.query(`EXPLAIN QUERY PLAN ${sql}`, parameters)
      return steps.map((step) => step.detail).join('\n')
    }

    it('by primary key, by the member index, by the index of the sweeper', async () => {
      const sqlite = { engine: sqliteEngine, now: sqliteEngine.nowMs }
      const recent = selectRecent(sqlite, { group: 'a', limit: 10 })
      const read = await plan(recent.sql, recent.parameters)
      expect(read).toMatch(/SEARCH g USING INDEX \S+ \(group_key=\?\)/)
      expect(read).toMatch(/SEARCH i USING PRIMARY KEY \(group_key=\?\)/)
      const member = await plan(selectMemberSql(sqlite, false), ['m', 10])
      expect(member).toMatch(/SEARCH i USING (COVERING )?INDEX recent_items_member \(member=\?\)/)
      expect(member).not.toMatch(/TEMP B-TREE/)
      const erasure = await plan(selectErasableSql(sqlite, false), ['m', 1, 64])
      expect(erasure).toMatch(/recent_items_member \(member=\? AND created_at_ms<\?\)/)
      expect(erasure).not.toMatch(/TEMP B-TREE/)
      const sweep = await plan(selectDueSql(sqlite.now, sqliteEngine.useIndex), [100])
      expect(sweep).toMatch(/recent_groups_sweep \(sweep_at_ms<\?\)/)
    })
  })
}

/** 200 groups of 10 items by common members, one member in 3 of them, five groups that expire. */
async function fill(context: Context, prefix: string): Promise<void> {
  const { groups } = context.store
  for (let n = 0; n < 5; n++) await groups.put(`${prefix}${n}`, { ttlSeconds: 1_000_000 })
  for (let from = 0; from < GROUPS; from += 100) {
    for (let round = 0; round < 10; round++) {
      await groups.appendMany(
        Array.from({ length: 100 }, (_, n) => ({
          group: `${prefix}${from + n}`,
          member: round === 9 && (from + n) % 70 === 0 ? `${prefix}rare` : round === 5 ? `${prefix}often` : `m${round}`,
          payload: { path: '/some/page', status: 200 },
        })),
      )
    }
  }
}

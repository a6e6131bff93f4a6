/**
 * How the hot statements run, looked at from the server. The plan that EXPLAIN gives, and the rows that the storage
 * engine was in truth asked for, which no plan can gloss over. On tables where every group is a small part.
 */
import type { QueryRunner } from 'typeorm'
import { mysqlEngine } from '../../../src/database/mysql/mysql-engine'
import { sqliteEngine } from '../../../src/database/sqlite/sqlite-engine'
import { tablesOf } from '../../../src/database/tables'
import { selectTakenSql } from '../../../src/repositories/recent/batch-heads'
import { deleteErasedSql, selectErasableSql } from '../../../src/repositories/recent/erasure'
import { selectDueSql } from '../../../src/repositories/recent/expiry'
import { MEDIUM, NEWEST, SMALL, WHOLE } from '../../../src/repositories/recent/layouts'
import { selectItemSql, selectMemberSql } from '../../../src/repositories/recent/members'
import { type QuickPlan, quickSelect } from '../../../src/repositories/recent/quick-read'
import { thoroughSelect } from '../../../src/repositories/recent/read'
import { selectPlacedSql } from '../../../src/repositories/recent/rows'
import { watchedHeadsSql, watchedWindowsSql } from '../../../src/repositories/recent/watch'
import type { Context } from '../context'

interface Step {
  table: string
  type: string
  key: string | null
  rows: string | number
  Extra: string | null
}

const reader = { engine: mysqlEngine, tables: tablesOf(), now: mysqlEngine.nowMs }
const GROUPS = 200
const LARGE = 10
/** Groups of one item, so that by what the servers count a group is small. */
const LONE = 4000

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
      for (const table of ['recentn_groups', 'recentn_items']) await runner.query(`ANALYZE TABLE ${table}`)
    })
    afterAll(() => runner.release())

    const stepsOf = (sql: string, parameters: unknown[]): Promise<Step[]> =>
      runner.query(`EXPLAIN FORMAT=TRADITIONAL ${sql}`, parameters)
    const plan = async (sql: string, parameters: unknown[]): Promise<Map<string, Step>> =>
      new Map((await stepsOf(sql, parameters)).map((step) => [step.table, step]))
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
    const names = (count: number) => Array.from({ length: count }, (_, n) => `${prefix}${77 + n}`)

    it.each([
      [1, SMALL],
      [50, SMALL],
      [1, WHOLE],
      [50, WHOLE],
    ])(
      'the last 10 of %d group(s) at once, up to %d slots: by primary key, without a sort or a temporary table',
      async (count, slots) => {
        const { sql, parameters } = quickSelect(reader, {
          slots: new Map(names(count).map((name) => [name, slots])),
          newest: 0,
          payloads: true,
        })
        const steps = (await stepsOf(sql, parameters)).filter(({ table }) => table === 'g' || table === 'i')
        expect(steps).toHaveLength(2)
        for (const step of steps)
          expect(step).toMatchObject({ type: expect.stringMatching(/^(const|range)$/), key: 'PRIMARY' })
        expect(steps.map((step) => step.Extra).join()).not.toMatch(/temporary|filesort|join buffer/i)
        // Each head and each item once, and where a range ends.
        expect(await rowsTouched(sql, parameters)).toBeLessThanOrEqual(count * (2 + 10 + 1) + 2)
      },
    )

    it('the last 10 of large groups: by slots that the head says, so that the rest of the window is not looked at', async () => {
      const large = Array.from({ length: LARGE }, (_, n) => `${prefix}large${n}`)
      const { sql, parameters } = quickSelect(reader, {
        slots: new Map(large.map((name) => [name, NEWEST])),
        newest: 11,
        payloads: true,
      })
      const steps = await stepsOf(sql, parameters)
      expect(steps.find(({ table }) => table === 'i')).toMatchObject({ type: 'eq_ref', key: 'PRIMARY' })
      for (const { table, type, key } of steps) {
        if (table === 'g') expect({ type, key }).toEqual({ type: 'range', key: 'PRIMARY' })
      }
      // For each group its head twice and 11 items, and the numbers of the slots, made once and read for each.
      expect(await rowsTouched(sql, parameters)).toBeLessThanOrEqual(LARGE * (2 * 2 + 11 + 12) + 24)
    })

    it('one item of a large group: by the slot that its id says', async () => {
      const sql = selectItemSql(reader)
      const large = `${prefix}large1`
      const parameters = [700, large, 700, large, 700]
      const steps = await stepsOf(sql, parameters)
      expect(steps.find(({ table }) => table === 'i')).toMatchObject({ type: 'const', key: 'PRIMARY' })
      expect(steps.find(({ table }) => table === 'g')).toMatchObject({ type: 'const', key: 'PRIMARY' })
      expect(await rowsTouched(sql, parameters)).toBeLessThanOrEqual(5)
    })

    it.each([1, 50])('%d watched group(s): heads, windows and items by primary key, each once', async (count) => {
      const heads = watchedHeadsSql(reader, names(count))
      const windows = watchedWindowsSql(reader, names(count))
      const slots = names(count).flatMap((name) => [name, 3])
      const items = { sql: selectPlacedSql(reader, count), parameters: slots }
      for (const [{ sql, parameters }, rows] of [
        [heads, 1],
        [windows, 12],
        [items, 1],
      ] as const) {
        const steps = (await stepsOf(sql, parameters)).filter(({ table }) => table === 'g' || table === 'i')
        for (const step of steps)
          expect(step).toMatchObject({ type: expect.stringMatching(/^(const|ref|range)$/), key: 'PRIMARY' })
        expect(steps.map((step) => step.Extra).join()).not.toMatch(/temporary|filesort|join buffer/i)
        expect(await rowsTouched(sql, parameters)).toBeLessThanOrEqual(count * rows + 2)
      }
    })

    it.each([1, 50])('%d head(s) that a batch has locked, and the moment: each once, by primary key', async (count) => {
      const sql = selectTakenSql(reader, count)
      const steps = await plan(sql, names(count))
      expect(steps.get('recentn_groups')).toMatchObject({
        type: expect.stringMatching(/^(const|range)$/),
        key: 'PRIMARY',
      })
      expect(steps.get('e')).toMatchObject({ type: 'const', key: 'PRIMARY' })
      expect(extras(steps)).not.toMatch(/temporary|filesort|join buffer/i)
      expect(await rowsTouched(sql, names(count))).toBeLessThanOrEqual(count + 2)
    })

    it('one head for a conditional read: no table of items', async () => {
      const { sql, parameters } = quickSelect(reader, {
        slots: new Map([[`${prefix}77`, 0]]),
        newest: 0,
        payloads: true,
      })
      expect(sql).not.toMatch(/recentn_items/)
      expect((await stepsOf(sql, parameters))[0]).toMatchObject({ table: 'g', type: 'const', key: 'PRIMARY' })
      expect(await rowsTouched(sql, parameters)).toBe(1)
    })

    it.each([
      ['the last 10', {}, null],
      ['those before an id', { before: 5n }, null],
      ['those of other members', { exclude: ['m1', 'm2'] }, null],
      ['as many as fit', { limit: 1000, maxBytes: 100_000 }, null],
      ['those of a longer window', {}, { capacity: 5, mode: 'history', ttlSeconds: 1000, forgetEmptySeconds: null }],
      ['the newest of each member', {}, { capacity: 5, mode: 'distinct', ttlSeconds: 1000, forgetEmptySeconds: null }],
    ] as const)(
      '%s where a window must be sorted: by the primary key, each row a few times',
      async (_, options, settings) => {
        const group = `${prefix}77`
        const { sql, parameters } = thoroughSelect(
          reader,
          [{ group, limit: 10, maxBytes: Number.POSITIVE_INFINITY, ...options }],
          new Map([[group, settings]]),
        )
        const steps = (await stepsOf(sql, parameters)).filter(({ table }) => /^[giso]$/.test(table))
        expect(steps.length).toBeGreaterThanOrEqual(4)
        for (const { table, type, key } of steps) {
          if (type === 'ALL')
            expect(table).toBe('i') // the derived table that ranks the members
          else expect([table, key, /^(const|eq_ref|ref|range)$/.test(type)]).toEqual([table, 'PRIMARY', true])
        }
        // The window, its sort and its ranks; each item of the page again, with its payload.
        expect(await rowsTouched(sql, parameters)).toBeLessThanOrEqual(20 * 10)
      },
    )

    it('a member in all groups: along recentn_items_member, no other member is read', async () => {
      const sql = selectMemberSql(reader, false)
      const steps = await plan(sql, [`${prefix}rare`, 10])
      expect(steps.get('i')).toMatchObject({ type: 'ref', key: 'recentn_items_member' })
      expect(steps.get('g')).toMatchObject({ type: 'eq_ref', key: 'PRIMARY' })
      expect(extras(steps)).not.toMatch(/temporary|filesort/i)
      expect(await rowsTouched(sql, [`${prefix}rare`, 10])).toBeLessThanOrEqual(2 * 3 + 4)
    })

    it('a page of a member: no more entries of the index than the page has', async () => {
      const first = await runner.query(selectMemberSql(reader, false), [`${prefix}often`, 10])
      const last = first.at(-1)
      const { created_at_ms: at, group_key: group, id } = last
      const sql = selectMemberSql(reader, true)
      const parameters = [`${prefix}often`, at, at, at, group, group, id, 10]
      const steps = await plan(sql, parameters)
      expect(steps.get('i')).toMatchObject({ type: 'range', key: 'recentn_items_member' })
      expect(extras(steps)).not.toMatch(/temporary|filesort/i)
    })

    it('the erasure of a member: along recentn_items_member', async () => {
      const sql = selectErasableSql(reader, false)
      const parameters = [`${prefix}rare`, Number.MAX_SAFE_INTEGER, 64]
      const steps = await plan(sql, parameters)
      expect(steps.get('i')).toMatchObject({ key: 'recentn_items_member' })
      expect(steps.get('i')?.type).toMatch(/^(ref|range)$/)
      expect(extras(steps)).not.toMatch(/temporary|filesort/i)
      expect(await rowsTouched(sql, parameters)).toBeLessThanOrEqual(3 + 3)
      const found = await runner.query(sql, parameters)
      const groups = reader.engine.values([found.map((row: { group_key: string }) => row.group_key)])
      const among = [`${prefix}rare`, found[0].created_at_ms, found.at(-1).created_at_ms, ...groups.parameters]
      const erasing = deleteErasedSql(reader, groups.sql)
      expect((await plan(erasing, among)).get('i')).toMatchObject({ type: 'range', key: 'recentn_items_member' })
    })

    it('the sweeper: along recentn_groups_sweep, which only groups that expire are in', async () => {
      const sql = selectDueSql({ ...reader, now: `(${reader.now} + 999999999999)` })
      const steps = await plan(sql, [100])
      const [step] = [...steps.values()]
      expect(step).toMatchObject({ type: 'range', key: 'recentn_groups_sweep' })
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
      const sqlite = { engine: sqliteEngine, tables: tablesOf(), now: sqliteEngine.nowMs }
      const slots: QuickPlan['slots'] = new Map([
        ['a', SMALL],
        ['b', SMALL],
        ['c', MEDIUM],
        ['d', NEWEST],
      ])
      const quick = quickSelect(sqlite, { slots, newest: 11, payloads: true })
      const read = await plan(quick.sql, quick.parameters)
      expect(read.match(/SEARCH g USING INDEX \S+ \(group_key=\?\)/g)).toHaveLength(2)
      expect(read.match(/SEARCH i USING PRIMARY KEY \(group_key=\? AND slot<\?\)/g)).toHaveLength(2)
      expect(read.match(/SEARCH i USING PRIMARY KEY \(group_key=\? AND slot=\?\)/g)).toHaveLength(1)
      expect(read).not.toMatch(/TEMP B-TREE/)
      const watched = watchedWindowsSql(sqlite, ['a', 'b'])
      const windows = await plan(watched.sql, watched.parameters)
      expect(windows).toMatch(/SEARCH g USING INDEX \S+ \(group_key=\?\)/)
      expect(windows).toMatch(/SEARCH i USING PRIMARY KEY \(group_key=\?\)/)
      const placed = await plan(selectPlacedSql(sqlite, 2), ['a', 1, 'b', 1])
      expect(placed.match(/SEARCH i USING PRIMARY KEY \(group_key=\? AND slot=\?\)/g)).toHaveLength(2)
      const thorough = thoroughSelect(
        sqlite,
        [{ group: 'a', limit: 10, maxBytes: Number.POSITIVE_INFINITY }],
        new Map(),
      )
      const sorted = await plan(thorough.sql, thorough.parameters)
      expect(sorted).toMatch(/SEARCH g USING INDEX \S+ \(group_key=\?\)/)
      expect(sorted).toMatch(/SEARCH i USING PRIMARY KEY \(group_key=\?\)/)
      const one = await plan(selectItemSql(sqlite), [7, 'a', 7, 'a', 7])
      expect(one).toMatch(/SEARCH i USING PRIMARY KEY \(group_key=\? AND slot=\?\)/)
      expect(one).not.toMatch(/SCAN/)
      const member = await plan(selectMemberSql(sqlite, false), ['m', 10])
      expect(member).toMatch(/SEARCH i USING (COVERING )?INDEX recentn_items_member \(member=\?\)/)
      expect(member).not.toMatch(/TEMP B-TREE/)
      const erasure = await plan(selectErasableSql(sqlite, false), ['m', 1, 64])
      expect(erasure).toMatch(/recentn_items_member \(member=\? AND created_at_ms<\?\)/)
      expect(erasure).not.toMatch(/TEMP B-TREE/)
      const range = /SEARCH i USING INDEX recentn_items_member \(member=\? AND created_at_ms>\? AND created_at_ms<\?\)/
      expect(await plan(deleteErasedSql(sqlite, "('a', 'b')"), ['m', 1, 2])).toMatch(range)
      const sweep = await plan(selectDueSql(sqlite), [100])
      expect(sweep).toMatch(/recentn_groups_sweep \(sweep_at_ms<\?\)/)
    })
  })
}

/** 200 groups of 10 items by common members, one member in 3 of them, five that expire, ten large ones. */
async function fill(context: Context, prefix: string): Promise<void> {
  const { groups } = context.store
  for (let n = 0; n < 5; n++) await groups.put(`${prefix}${n}`, { ttlSeconds: 1_000_000 })
  for (let from = 0; from < LONE; from += 500) {
    await groups.appendMany(Array.from({ length: 500 }, (_, n) => ({ group: `${prefix}lone${from + n}` })))
  }
  for (let n = 0; n < LARGE; n++) {
    const group = `${prefix}large${n}`
    await groups.put(group, { capacity: 1000 })
    await groups.appendMany(Array.from({ length: 1000 }, () => ({ group, payload: 1 })))
  }
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

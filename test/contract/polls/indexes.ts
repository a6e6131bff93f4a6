import type { ObjectLiteral } from 'typeorm'
import { sessionOf } from '../../../src/database/attached/attach'
import type { PollOptions } from '../../../src/index'
import { ownConditions } from '../../../src/repositories/polls/own-columns'
import { freshConditions } from '../../../src/repositories/polls/ready'
import { PollRepository } from '../../../src/repositories/polls/repository'
import { chooseSql } from '../../../src/repositories/polls/rows'
import { POLL_TABLES, type PollTable } from '../../support/poll-shapes'
import { type Context, refusal } from '../context'
import { PLACES, pollTools } from './tools'

/** Shapes whose claims need an index beside the key. */
const WITH_INDEX = POLL_TABLES.filter(({ indexes }) => indexes)

export function describePollIndexes(context: Context): void {
  const { query, tableOf, poll } = pollTools(context)

  const planOf = (name: string, table: PollTable) => {
    const { dataSource } = context.store
    return new PollRepository(dataSource, sessionOf(dataSource), name, table.options).plan()
  }

  /** The engine's plan of the statement that chooses rows: which index, and whether it sorts. */
  const explained = async (name: string, table: PollTable): Promise<{ index: string; sorts: boolean }> => {
    const plan = await planOf(name, table)
    return sessionOf(context.store.dataSource).read(async (reader) => {
      const conditions = plan.own ? ownConditions(reader, plan) : freshConditions(reader, plan, null)
      const sql = chooseSql(reader.engine, plan, conditions, 10)
      const how = context.engine === 'sqlite' ? 'EXPLAIN QUERY PLAN' : 'EXPLAIN FORMAT=TRADITIONAL'
      const rows = await reader.rows(`${how} ${sql}`, conditions.parameters)
      if (context.engine !== 'sqlite') {
        const row = rows.find(({ table: of }) => of === name)
        return { index: String(row?.key), sorts: /filesort|temporary/.test(JSON.stringify(rows)) }
      }
      const steps = rows.map(({ detail }) => String(detail)).join('\n')
      const [, index = 'none'] = new RegExp(`${name} USING (?:COVERING )?INDEX (\\w+)`).exec(steps) ?? []
      return { index, sorts: /TEMP B-TREE/.test(steps) }
    })
  }

  describe('polls: indexes', () => {
    it.each(WITH_INDEX.map((table) => [table.title, table] as const))(
      '%s: what is advised is used, in its order',
      async (_, table) => {
        const name = await tableOf({ ...table, indexes: [] }, 300)
        const { advice } = await planOf(name, table)
        const statement = /CREATE INDEX .*$/.exec(advice ?? '')?.[0]
        expect(statement).toBeDefined()
        await query(statement as string)
        expect((await planOf(name, table)).advice).toBeNull()
        const { index, sorts } = await explained(name, table)
        expect(index).toMatch(new RegExp(`^${name}_`))
        expect(sorts).toBe(false)
      },
    )

    it('that fit under another name, or end with the primary key by themselves, are used', async () => {
      const [, table] = PLACES[0] as (typeof PLACES)[number]
      const columns = table.columns.replace('bigint', 'integer')
      const name = await tableOf({ ...table, columns, indexes: ['status'] }, 100)
      expect((await planOf(name, table)).advice).toBeNull()
      expect(await explained(name, table)).toEqual({ index: `${name}_0`, sorts: false })
    })

    it('that are missing are reported at the start, once; the table is polled all the same', async () => {
      const [, table] = PLACES[0] as (typeof PLACES)[number]
      const name = await tableOf({ ...table, indexes: ['n', 'id, status'] }, 5)
      const warnings: string[] = []
      const poller = poll(name, () => {}, { ...table.options, onWarning: (warning) => warnings.push(warning) })
      expect(await poller.once()).toMatchObject({ done: 5 })
      await poller.once()
      const q = context.engine === 'sqlite' ? '"' : '`'
      const index = `${q}${name}_status_id${q}`
      expect(warnings).toEqual([
        expect.stringContaining(
          `CREATE INDEX ${index} ON ${q}${name}${q} (${q}status${q}${context.engine === 'sqlite' ? `, ${q}id${q}` : ''})`,
        ),
      ])

      const told = jest.spyOn(process, 'emitWarning').mockImplementation(() => {})
      context.afterwards(async () => told.mockRestore())
      await context.store.poll(name, () => {}, { ...(table.options as PollOptions<ObjectLiteral>), auto: false }).once()
      expect(told.mock.calls).toEqual([[warnings[0], { code: 'RECENTN_POLL_INDEX' }]])
    })

    it('that are dropped while it polls only make it slower', async () => {
      const [, table] = PLACES[0] as (typeof PLACES)[number]
      const name = await tableOf(table, 5)
      const poller = poll(name, () => {}, { ...table.options, where: 'n < 3' })
      expect(await poller.once()).toMatchObject({ done: 3 })
      await query(context.engine === 'sqlite' ? `DROP INDEX ${name}_0` : `DROP INDEX ${name}_0 ON ${name}`)
      await query(`UPDATE ${name} SET n = 0 WHERE status = 'ready'`)
      expect(await poller.once()).toMatchObject({ done: 2 })
    })

    const [, plain] = PLACES[0] as (typeof PLACES)[number]
    const isSqlite = context.engine === 'sqlite'
    const [isMysql, isMariadb] = [context.engine === 'mysql', context.engine === 'mariadb']
    it.each<[string, (name: string) => string]>([
      ['descending', (name) => `CREATE INDEX ${name}_x ON ${name} (status, id DESC)`],
      ...(isMysql
        ? [['hidden', (name: string) => `CREATE INDEX ${name}_x ON ${name} (status, id) INVISIBLE`] as const]
        : []),
      ...(isMariadb
        ? [['ignored', (name: string) => `CREATE INDEX ${name}_x ON ${name} (status, id) IGNORED`] as const]
        : []),
      ...(isSqlite
        ? []
        : [
            [
              'of the words of a text',
              (name: string) => `CREATE FULLTEXT INDEX ${name}_x ON ${name} (status)`,
            ] as const,
          ]),
    ] as [string, (name: string) => string][])('that are %s are none that fit', async (_, statement) => {
      const name = await tableOf({ ...plain, indexes: [] }, 5)
      await query(statement(name))
      const warnings: string[] = []
      const poller = poll(name, () => {}, { status: 'status', onWarning: (warning) => warnings.push(warning) })
      expect(await poller.once()).toMatchObject({ done: 5 })
      expect(warnings).toEqual([expect.stringContaining('CREATE INDEX')])
    })

    it('that are advised have a name that is free', async () => {
      const name = await tableOf({ ...plain, indexes: [] }, 5)
      await query(`CREATE INDEX ${name}_status_id ON ${name} (n)`)
      const { advice } = await planOf(name, plain)
      await query((advice as string).slice((advice as string).indexOf('CREATE INDEX')))
      expect((await planOf(name, plain)).advice).toBeNull()
    })

    it('of a TEXT are of its beginning', async () => {
      const columns = `id integer NOT NULL PRIMARY KEY, status text`
      const name = await tableOf({ ...plain, columns, indexes: [] }, 0)
      await query(`INSERT INTO ${name} (id, status, n) VALUES (1, 'ready', 1)`)
      const { advice } = await planOf(name, plain)
      if (!isSqlite) expect(advice).toContain('(`status`(64))')
      await query((advice as string).slice((advice as string).indexOf('CREATE INDEX')))
      expect((await planOf(name, plain)).advice).toBeNull()
      expect(await poll(name, () => {}, { status: 'status' }).once()).toMatchObject({ done: 1 })
    })

    if (!isSqlite) return
    it('and tables of SQLite are named with their schema', async () => {
      const name = await tableOf({ ...plain, indexes: [] }, 3)
      const whole = `main.${name}`
      const { advice } = await planOf(whole, plain)
      await query((advice as string).slice((advice as string).indexOf('CREATE INDEX')))
      expect((await planOf(whole, plain)).advice).toBeNull()
      expect(await poll(whole, () => {}, { status: 'status' }).once()).toMatchObject({ done: 3 })
      expect(await poll(whole, () => {}, { name: `${name} by id` }).once()).toMatchObject({ done: 3 })

      const error = await refusal(poll(`beside.${name}`, () => {}, { status: 'status' }).once())
      expect([error.code, error.message]).toEqual(['invalid_input', expect.stringMatching(/no database beside/)])
    })
  })
}

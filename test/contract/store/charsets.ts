import fc from 'fast-check'
import { Charsets } from 'mysql2'
import { type Connection, createConnection, type RowDataPacket } from 'mysql2/promise'
import { DataSource, type DataSourceOptions } from 'typeorm'
import { mysqlEngine } from '../../../src/database/mysql/mysql-engine'
import { nameFault } from '../../../src/fields/rules'
import { attachStore, RecentnError, type Store } from '../../../src/index'
import { mysqlUri } from '../../support/servers/server'
import { type Context, refusal, userSource } from '../context'

/** One name of each character set that the driver knows, such as `LATIN1_GERMAN1_CI`. */
const CHARSETS = [...new Map(Object.keys(Charsets).map((name) => [name.split('_')[0], name])).values()]

/** As SET NAMES takes them; the driver has its own names for none of these. */
const NAMES = [...new Set(CHARSETS.map((name) => name.split('_')[0]?.toLowerCase() as string))]

/** Each of them becomes a quote or a backslash in some charset, or its second byte does. */
const HARD = [
  'ħ',
  '≧',
  '‧',
  'ŧ',
  'Ü',
  '表',
  'ソ',
  '¥',
  '‾',
  '縗',
  '功',
  '許',
  '\\',
  "'",
  '`',
  '\u0000',
  '😀',
  'é',
  '語',
  '~',
  '@',
  '{',
]

/** The SQL behind a quote that got through. */
const ATTACK = ' OR 1=1 -- '

const text = fc
  .array(fc.oneof(fc.constantFrom(...HARD, ATTACK), fc.string({ unit: 'grapheme', maxLength: 4 })), { maxLength: 8 })
  .map((parts) => parts.join('').toWellFormed())

const name = text.map((part) => `m${part}`).filter((one) => nameFault(one) === null)

type Hook = (connection: { query(sql: string): void }) => void

/** Runs the hook for each new connection of the driver. */
function eachConnection(source: DataSource, hook: Hook): void {
  const { pool } = source.driver as unknown as { pool: { on(event: 'connection', listener: Hook): void } }
  pool.on('connection', hook)
}

/** The character sets of connections, and what they would make of texts: SQLite has none, and gets texts as parameters. */
export function describeCharsets(context: Context): void {
  if (context.engine === 'sqlite') return

  async function sourceOf(options: Partial<DataSourceOptions>): Promise<DataSource> {
    const source = new DataSource({ ...userSource(context.url).options, ...options } as DataSourceOptions)
    await source.initialize().catch((error: unknown) => {
      // TypeORM leaves the pool of a failed start open.
      const { pool } = source.driver as unknown as { pool?: { end(done: () => void): void } }
      if (pool) context.afterwards(() => new Promise<void>((resolve) => pool.end(() => resolve())))
      throw error
    })
    context.afterwards(() => source.destroy())
    return source
  }

  async function attached(source: DataSource): Promise<Store> {
    const store = await attachStore(source, { sweep: false, publish: false })
    context.afterwards(() => store.close())
    return store
  }

  describe('the character set of connections', () => {
    it.each([
      ['LATIN1_SWEDISH_CI', 'latin1'],
      ['UTF8_GENERAL_CI', 'utf8mb3'],
      ['SJIS_JAPANESE_CI', 'sjis'],
      ['GBK_CHINESE_CI', 'gbk'],
    ])('a DataSource with charset %s is refused by name', async (charset, name) => {
      const error = await refusal(attachStore(await sourceOf({ charset } as never)))
      expect([error.code, error.message]).toEqual(['database_refused', expect.stringContaining(name)])
      expect(error.message).toMatch(/charset: 'utf8mb4'/)
    })

    it.each([
      ['character_set_results = latin1', /latin1 \(character_set_results\)/],
      ['character_set_connection = latin1', /latin1 \(character_set_connection\)/],
      ["sql_mode = 'EMPTY_STRING_IS_NULL'", /EMPTY_STRING_IS_NULL/],
      ["sql_mode = 'ORACLE'", /ORACLE/],
    ])('connections with %s are refused by name', async (setting, said) => {
      if (context.engine === 'mysql' && setting.startsWith('sql_mode')) return // it knows neither
      const source = await sourceOf({ extra: { connectionLimit: 1 } } as never)
      await source.query(`SET SESSION ${setting}`)
      const error = await refusal(attachStore(source))
      expect([error.code, error.message]).toEqual(['database_refused', expect.stringMatching(said)])
    })

    it('one of them that is set otherwise later is refused when it is used', async () => {
      const source = await sourceOf({})
      const store = await attached(source)
      const group = context.unique()
      await store.groups.append(group, { payload: '😀' })
      eachConnection(source, (connection) => connection.query('SET NAMES latin1'))
      const codes = new Set<string>()
      const use = async (work: () => Promise<unknown>) =>
        work().then(
          () => codes.add('fine'),
          (error: RecentnError) => codes.add(error.code),
        )
      await Promise.all(
        Array.from({ length: 30 }, (_, n) =>
          use(n % 2 ? () => store.groups.append(group, { payload: '😀' }) : () => store.sequences.next(group, 1)),
        ),
      )
      expect(codes).toContain('database_refused')
      const { items } = await context.store.groups.recent(group)
      expect(new Set(items.map(({ payload }) => payload))).toEqual(new Set(['😀']))
      await Promise.all(Array.from({ length: 30 }, () => use(() => store.groups.recent(group))))
      expect(codes).toEqual(new Set(['fine', 'database_refused']))
    })

    it('is asked for once for each connection', async () => {
      const source = await sourceOf({ extra: { connectionLimit: 3 } } as never)
      const store = await attached(source)
      const statements: string[] = []
      const create = source.createQueryRunner.bind(source)
      source.createQueryRunner = (mode) => {
        const runner = create(mode)
        const query = runner.query.bind(runner) as (...all: unknown[]) => Promise<unknown>
        runner.query = ((sql: string, ...rest: unknown[]) => {
          statements.push(sql)
          return query(sql, ...rest)
        }) as typeof runner.query
        return runner
      }
      const group = context.unique()
      await Promise.all(Array.from({ length: 40 }, () => store.groups.append(group)))
      await Promise.all(Array.from({ length: 40 }, () => store.sequences.next(group, 1)))
      for (const _ of [1, 2, 3]) await source.transaction((manager) => store.within(manager).groups.append(group))
      const looks = statements.filter((sql) => sql.includes('character_set_client'))
      expect(looks.length).toBeLessThanOrEqual(3)
      expect(statements.length).toBeGreaterThan(100)
    })

    it('within a transaction on such a connection nothing is done, and after SET NAMES utf8mb4 all is', async () => {
      const store = await attached(await sourceOf({}))
      const foreign = await sourceOf({ charset: 'LATIN1_SWEDISH_CI' } as never)
      const group = context.unique()
      await foreign.transaction(async (manager) => {
        const { groups } = store.within(manager)
        const error = await refusal(groups.append(group, { payload: 1 }))
        expect([error.code, error.message]).toEqual(['database_refused', expect.stringContaining('latin1')])
        expect((await refusal(groups.recent(group))).code).toBe('database_refused')
        await manager.query('SET NAMES utf8mb4')
        await groups.append(group, { payload: '😀' })
        await manager.query('SET NAMES latin1')
        expect((await refusal(groups.recent(group))).code).toBe('database_refused')
      })
      expect((await store.groups.recent(group)).items.map(({ payload }) => payload)).toEqual(['😀'])
    })
  })

  describe('texts in whatever charset', () => {
    const victim = () => `${context.unique()}victim`

    it.each(CHARSETS)(
      '%s: attached or within, it is refused or the text comes back, and nothing else is read',
      async (charset) => {
        const store = await attached(await sourceOf({}))
        const secret = victim()
        await store.groups.append(`${secret}g`, { member: secret, payload: 'secret' })
        const source = await sourceOf({ charset, connectTimeout: 2000 } as never).catch(() => null)
        if (source === null) return // the driver, or TypeORM, has refused it
        const foreign = await attachStore(source, { sweep: false, publish: false }).catch((error: unknown) => {
          expect(error).toMatchObject({ code: 'database_refused' })
          return null
        })
        if (foreign) context.afterwards(() => foreign.close())
        const group = context.unique()
        const keepsIn = async (groups: Store['groups'], member: string) => {
          const appended = await groups.append(group, { member, payload: member })
          const { items } = await groups.memberItems(member)
          expect(items.map((item) => [item.member, item.payload])).toContainEqual([member, member])
          expect(items.every((item) => item.member === member)).toBe(true)
          expect([appended.member, appended.payload]).toEqual([member, member])
        }
        await fc.assert(
          fc.asyncProperty(name, async (member) => {
            if (foreign) await keepsIn(foreign.groups, member)
            await source.transaction(async (manager) => {
              await keepsIn(store.within(manager).groups as Store['groups'], member).catch((error: unknown) => {
                if (!(error instanceof RecentnError)) throw error
                expect(error.code).toBe('database_refused')
              })
            })
          }),
          { numRuns: 12, endOnFailure: true },
        )
      },
    )

    it.each(NAMES)('%s: set in a transaction, it is refused there or the text comes back', async (name) => {
      const source = await sourceOf({ extra: { connectionLimit: 1 } } as never)
      const store = await attached(source)
      const value = `ħ' OR 1=1 -- ~@{}[]\\ 表😀`
      const runner = source.createQueryRunner()
      context.afterwards(() => runner.release())
      await runner.startTransaction()
      const isThere = await runner.query(`SET NAMES ${name}`).then(
        () => true,
        () => false,
      )
      if (!isThere) return // no character set of clients, or none of this server
      const { groups } = store.within(runner)
      const group = context.unique()
      const kept = await groups.append(group, { member: value, payload: value }).catch((error: unknown) => error)
      if (kept instanceof Error) {
        expect(kept).toMatchObject({ code: 'database_refused' })
        return
      }
      // Of these the driver does not notice that the session has them: what is read there may have lost letters.
      const isUnnoticed = ['ujis', 'macce'].includes(name)
      const inside = await groups.memberItems(value)
      expect(inside.items.map((item) => [item.group, item.payload === value || isUnnoticed])).toEqual([[group, true]])
      await runner.commitTransaction()
      expect((await context.store.groups.recent(group)).items).toMatchObject([{ member: value, payload: value }])
      await context.store.groups.drop(group)
    })

    it.each(NAMES)('%s: a literal is one text', async (name) => {
      const connection: Connection = await createConnection({ uri: mysqlUri(context.url) })
      context.afterwards(async () => connection.destroy())
      const isThere = await connection.query(`SET NAMES ${name}`).then(
        () => true,
        () => false,
      )
      if (!isThere) return // no character set of clients, or none of this server
      await fc.assert(
        fc.asyncProperty(text, async (value) => {
          const sql = 'SELECT HEX(CONVERT(? USING utf8mb4)) AS hex, 1 AS one'
          const [bound] = mysqlEngine.bound(sql, [value])
          const answer = await connection.query<RowDataPacket[]>(bound).catch((error: Error) => error.message)
          // In these the driver or the server makes something else of letters that all others share.
          if (/swe7|armscii8|dec8|hp8|keybcs2|geostd8|eucjpms/.test(name)) {
            if (typeof answer !== 'string') expect(answer[0]).toEqual([{ hex: expect.any(String), one: 1 }])
          } else {
            const hex = Buffer.from(value, 'utf8').toString('hex').toUpperCase()
            // In binary the driver answers with bytes.
            const [row] = typeof answer === 'string' ? [] : answer[0]
            expect([value, String(row?.hex), row?.one]).toEqual([value, hex, 1])
          }
        }),
        { numRuns: 40, endOnFailure: true },
      )
    })
  })
}

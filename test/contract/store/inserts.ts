import type { DataSource } from 'typeorm'
import { sessionOf } from '../../../src/database/attached/attach'
import { type Parameter, placeholders, type Session, type Tx } from '../../../src/database/engine'
import { type Context, refusal, userSource } from '../context'

type Values = readonly [n: number, whole: bigint | null, text: string | null]

/** How many rows are inserted, whatever the runner makes of them: one text, or a prepared statement for each. */
export function describeInserts(context: Context): void {
  const COLUMNS = ['n', 'whole', 'text']
  const boom = new Error('boom')
  let user: DataSource
  let last = 0

  const into = (values: string) => `INSERT INTO many_rows (${COLUMNS.join(', ')}) VALUES ${values}`
  const insert = (tx: Tx, rows: readonly (readonly Parameter[])[]) => {
    const { sql, parameters } = tx.engine.insert(into, rows)
    return tx.execute(sql, parameters)
  }
  const numbered = (count: number): Values[] => Array.from({ length: count }, () => [++last, null, null] as const)
  const numbersOf = (rows: readonly Values[]) => rows.map(([n]) => n)
  const found = (tx: Tx, rows: readonly Values[]) =>
    tx.rows(
      `SELECT ${tx.engine.bigint('id')} AS id, n, ${tx.engine.bigint('whole')} AS whole, text FROM many_rows ` +
        `WHERE n IN (${placeholders(rows.length)}) ORDER BY many_rows.id`,
      numbersOf(rows),
    )
  const count = (session: Session, rows: readonly Values[]) =>
    session.write(async (tx) => (await found(tx, rows)).length)

  beforeAll(async () => {
    const id = context.engine === 'sqlite' ? 'INTEGER PRIMARY KEY' : 'BIGINT AUTO_INCREMENT PRIMARY KEY'
    const text = context.engine === 'sqlite' ? 'TEXT' : 'LONGTEXT CHARACTER SET utf8mb4'
    await context.store.dataSource.query(
      `CREATE TABLE many_rows (id ${id}, n INTEGER NOT NULL UNIQUE, whole BIGINT NULL, text ${text} NULL)`,
    )
    user = await userSource(context.url).initialize()
  })
  afterAll(() => user?.destroy())

  const ways: [string, (work: (session: Session) => Promise<unknown>) => Promise<unknown>][] = [
    ['in its own transaction', (work) => work(sessionOf(context.store.dataSource))],
    ["in the store's transaction", (work) => context.store.dataSource.transaction((inner) => work(sessionOf(inner)))],
    ["in the user's transaction", (work) => user.transaction((inner) => work(sessionOf(inner)))],
  ]

  describe.each(ways)('an insert of many rows, %s', (_, run) => {
    it('keeps each kind of value, in the order of the rows', async () => {
      const values: (readonly [bigint | null, string | null])[] = [
        [null, null],
        [0n, ''],
        [2n ** 53n + 1n, 'aé語😀z'],
        [2n ** 63n - 1n, 'it\'s ? "quoted" `here` \\\' ?, ?) -- /* '],
        [-(2n ** 63n), 'a\0b\n\r\t\u001a'],
        [-1n, 'long '.repeat(40_000)],
      ]
      const rows = values.map(([whole, text]): Values => [++last, whole, text]).reverse()
      await run((session) =>
        session.write(async (tx) => {
          expect((await insert(tx, rows)).affected).toBe(rows.length)
          const stored = (await found(tx, rows)).map(({ n, whole, text }) => {
            return [Number(n), whole === null ? null : BigInt(whole as string), text]
          })
          expect(stored).toEqual(rows)
        }),
      )
    })

    it.each([1, 2, 16, 47, 1000])('gives the ids of %d rows', async (many) => {
      const rows = numbered(many)
      await run((session) =>
        session.write(async (tx) => {
          const { affected, insertId } = await insert(tx, rows)
          expect(affected).toBe(many)
          const first = tx.engine.firstId(insertId, many)
          const [{ stride } = {}] = await tx.rows(`SELECT ${tx.engine.idStride} AS stride`)
          const ids = rows.map((__, index) => String(first + BigInt(index) * BigInt(stride as string)))
          const stored = await found(tx, rows)
          expect(stored.map(({ id }) => id)).toEqual(ids)
          expect(stored.map(({ n }) => Number(n))).toEqual(numbersOf(rows))
        }),
      )
    })

    it('answers with a row for each, where a write can', async () => {
      const rows = numbered(3)
      await run((session) =>
        session.write(async (tx) => {
          if (!tx.engine.returning) return
          const { sql, parameters } = tx.engine.insert((values) => `${into(values)} RETURNING n`, rows)
          const answered = await tx.rows(sql, parameters)
          expect(answered.map(({ n }) => Number(n))).toEqual(numbersOf(rows))
        }),
      )
    })

    it('updates the rows that are there', async () => {
      const rows = numbered(4)
      await run((session) =>
        session.write(async (tx) => {
          await insert(tx, rows.slice(1, 3))
          const written = rows.map(([n], index) => [n, 7n, `text ${index}`])
          const { sql, parameters } = tx.engine.upsert('many_rows', 'n', COLUMNS, ['text'], written)
          await tx.run(sql, parameters)
          const stored = (await found(tx, rows)).map(({ n, whole, text }) => [Number(n), whole, text])
          expect(stored.sort(([a], [b]) => Number(a) - Number(b))).toEqual(
            rows.map(([n], index) => [n, index === 1 || index === 2 ? null : '7', `text ${index}`]),
          )
        }),
      )
    })

    it('leaves nothing where a row in the middle is refused, and what else the transaction did stays', async () => {
      const [before, refused, after] = [numbered(1), numbered(5), numbered(1)]
      // Its third row is there already.
      const repeated = refused.map(([n], index): Values => [index === 2 ? (before[0] as Values)[0] : n, null, null])
      await run(async (session) => {
        await session.write((tx) => insert(tx, before))
        const failed = await session.write((tx) => insert(tx, repeated)).catch((error: unknown) => error)
        expect(String((failed as Error).message)).toMatch(/unique|duplicate/i)
        expect(await count(session, refused)).toBe(0)
        await session.write((tx) => insert(tx, after))
      })
      const session = sessionOf(context.store.dataSource)
      expect([await count(session, before), await count(session, refused), await count(session, after)]).toEqual([
        1, 0, 1,
      ])
    })

    it('is undone with its operation', async () => {
      const rows = numbered(3)
      const failed = run((session) =>
        session.write(async (tx) => {
          await insert(tx, rows)
          throw boom
        }),
      )
      await expect(failed).rejects.toBe(boom)
      expect(await count(sessionOf(context.store.dataSource), rows)).toBe(0)
    })

    it('is refused after the transaction has ended', async () => {
      const rows = numbered(2)
      const kept: Tx[] = []
      await run((session) =>
        session.write(async (tx) => {
          kept.push(tx)
        }),
      )
      const [tx] = kept as [Tx]
      expect((await refusal(insert(tx, rows))).code).toBe('closed')
      const { sql, parameters } = tx.engine.insert(into, rows)
      expect((await refusal(tx.rows(sql, parameters))).code).toBe('closed')
      expect(await count(sessionOf(context.store.dataSource), rows)).toBe(0)
    })
  })

  if (context.engine !== 'sqlite') return

  describe('SQLite', () => {
    it('a disk that is full in the middle of an insert leaves nothing, and is reported as a database that is away', async () => {
      const session = sessionOf(context.store.dataSource)
      const rows = numbered(200).map(([n]): Values => [n, null, 'x'.repeat(4000)])
      const failed = session.write(async (tx) => {
        const [{ page_count: pages } = {}] = await tx.rows('PRAGMA page_count')
        await tx.rows(`PRAGMA max_page_count = ${Number(pages) + 20}`)
        await insert(tx, rows)
      })
      expect((await refusal(failed)).code).toBe('database_unavailable')
      await session.write((tx) => tx.rows('PRAGMA max_page_count = 1000000000'))
      expect(await count(session, rows)).toBe(0)
      await session.write((tx) => insert(tx, rows.slice(0, 2)))
      expect(await count(session, rows)).toBe(2)
    })

    it('runs more texts than it keeps prepared', async () => {
      const session = sessionOf(context.store.dataSource)
      const texts = Array.from({ length: 450 }, (_, n) => `SELECT ${n} AS n`)
      await session.read(async (reader) => {
        for (const text of [...texts, ...texts]) expect(await reader.rows(text)).toEqual([{ n: expect.anything() }])
        const [row] = await reader.rows(texts[7] as string)
        expect(Number(row?.n)).toBe(7)
      })
    })
  })
}

/**
 * Transactions of other libraries for `store.within`, each by the shape of what that library gives: nothing here depends on any
 * of them. Owns which transaction was given before: all calls in one take turns.
 *
 * Invariant: statements go as they are, by the way on which the library neither looks for placeholders in texts nor renames
 * columns. Drivers round large numbers: the store reads those as texts, and asks for ids itself where they are missing.
 */
import type { QueryAnswer, QueryChanges, QueryTransaction, QueryValue } from '../database/attached/query-transaction'

export type { QueryAnswer, QueryChanges, QueryTransaction, QueryValue } from '../database/attached/query-transaction'

const known = new WeakMap<object, QueryTransaction>()

function once(source: object, query: QueryTransaction['query']): QueryTransaction {
  const made = known.get(source) ?? { query }
  known.set(source, made)
  return made
}

/** The result of a driver: rows, or changes by the names of mysql2 and mariadb, or of better-sqlite3. */
type Raw = Record<string, unknown>[] | (Partial<QueryChanges> & { changes?: number; lastInsertRowid?: number | bigint })

function answerOf(raw: unknown): QueryAnswer {
  const answer = raw as Raw
  if (Array.isArray(answer)) return answer
  const { affectedRows, insertId, changes, lastInsertRowid } = answer
  return { affectedRows: affectedRows ?? changes ?? 0, insertId: insertId ?? lastInsertRowid }
}

/** For libraries that want to know it before. Our texts double their quotes, and have no backslashes. */
function givesRows(sql: string): boolean {
  return /^\(?(SELECT|WITH)\b/.test(sql) || /\bRETURNING\b/.test(sql.replace(/'[^']*'/g, ''))
}

interface PromisedConnection {
  query(options: { sql: string; values: QueryValue[] }): Promise<[unknown, unknown]>
}

/** A connection of mysql2, of promises or of callbacks, that has begun a transaction. */
export function fromMysql2(connection: PromisedConnection | { promise(): PromisedConnection }): QueryTransaction {
  const promised = 'promise' in connection ? connection.promise() : connection
  return once(connection, async (sql, values) => {
    // Whatever the connection's options say: rows are objects, and values are the driver's own.
    const plain = { rowsAsArray: false, nestTables: false, typeCast: (_: unknown, next: () => unknown) => next() }
    const [answer] = await promised.query({ sql, values, ...plain })
    return answerOf(answer)
  })
}

/** A connection of better-sqlite3 that has begun a transaction: its own to the store's file, or the store's. */
export function fromBetterSqlite3(db: { prepare(sql: string): BetterStatement }): QueryTransaction {
  return once(db, (sql, values) => {
    const statement = db.prepare(sql)
    return answerOf(statement.reader ? statement.all(...values) : statement.run(...values))
  })
}

interface BetterStatement {
  reader: boolean
  all(...values: QueryValue[]): unknown
  run(...values: QueryValue[]): unknown
}

/** The transaction that `knex.transaction` gives, with mysql2, mysql or better-sqlite3. */
export function fromKnex(trx: { raw(sql: string, values?: never): PromiseLike<unknown> }): QueryTransaction {
  return once(trx, async (sql, values) => {
    const answer = await (values.length > 0 ? trx.raw(sql, values as never) : trx.raw(sql))
    // The MySQL drivers add what they know of the columns.
    const isPair = Array.isArray(answer) && (Array.isArray(answer[0]) || 'affectedRows' in Object(answer[0]))
    return answerOf(isPair ? answer[0] : answer)
  })
}

interface KyselyTransaction {
  withoutPlugins(): { executeQuery(query: never): Promise<KyselyResult> }
}
interface KyselyResult {
  rows: unknown[]
  numAffectedRows?: bigint | undefined
  insertId?: bigint | undefined
}

/** The transaction that Kysely's `db.transaction().execute` or `startTransaction` gives, without plugins that rename columns. */
export function fromKysely(trx: KyselyTransaction): QueryTransaction {
  const plain = trx.withoutPlugins()
  return once(trx, async (sql, parameters) => {
    const query = { kind: 'RawNode', sqlFragments: [sql], parameters: [] }
    const compiled = { sql, parameters, query, queryId: { queryId: 'recentn' } }
    const { rows, numAffectedRows, insertId } = await plain.executeQuery(compiled as never)
    if (numAffectedRows === undefined) return rows as Record<string, unknown>[]
    return { affectedRows: numAffectedRows, insertId }
  })
}

interface DrizzleTransaction {
  execute?(sql: never): PromiseLike<unknown>
  all?(sql: never): unknown
  run?(sql: never): unknown
}

/** The `tx` of Drizzle's `db.transaction`, and Drizzle's `sql`. On SQLite a database on which you have run `BEGIN`. */
export function fromDrizzle(
  tx: DrizzleTransaction,
  sql: (texts: TemplateStringsArray, ...values: never[]) => unknown,
): QueryTransaction {
  return once(tx, async (text, values) => {
    // A value has a question mark, and a statement with values has no other ones.
    const texts = values.length > 0 ? text.split('?') : [text]
    const query = sql(Object.assign(texts, { raw: texts }), ...(values as never[])) as never
    if (tx.execute) return answerOf(((await tx.execute(query)) as unknown[])[0])
    return answerOf(await (givesRows(text) ? tx.all?.(query) : tx.run?.(query)))
  })
}

interface PrismaTransaction {
  $queryRawUnsafe(sql: string, ...values: never[]): PromiseLike<unknown>
  $executeRawUnsafe(sql: string, ...values: never[]): PromiseLike<number>
}

/** The `tx` of Prisma's `$transaction(async (tx) => …)`; on MySQL with an adapter that has `useTextProtocol: true`. */
export function fromPrisma(tx: PrismaTransaction): QueryTransaction {
  return once(tx, async (sql, values) => {
    try {
      if (givesRows(sql)) return (await tx.$queryRawUnsafe(sql, ...(values as never[]))) as Record<string, unknown>[]
      return { affectedRows: await tx.$executeRawUnsafe(sql, ...(values as never[])) }
    } catch (error) {
      throw prismaError(error)
    }
  })
}

/** With the database's own number, which Prisma has in several places. */
function prismaError(error: unknown): unknown {
  const { meta } = error as { meta?: { code?: string; message?: string; driverAdapterError?: { cause?: PrismaCause } } }
  const cause = meta?.driverAdapterError?.cause
  const code = String(cause?.originalCode ?? meta?.code ?? '')
  const text = cause?.originalMessage ?? meta?.message ?? (error as Error).message
  return Object.assign(new Error(text, { cause: error }), /^\d+$/.test(code) ? { errno: Number(code) } : { code })
}

interface PrismaCause {
  originalCode?: string
  originalMessage?: string
}

interface SequelizeLike {
  query(sql: string, options: never): Promise<unknown>
}

/** An open transaction of Sequelize's, with mysql2. */
export function fromSequelize(sequelize: SequelizeLike, transaction: object | null | undefined): QueryTransaction {
  // Without one each statement takes a connection of the pool, which the store refuses by name.
  return once(transaction ?? sequelize, async (sql) => {
    const type = givesRows(sql) ? 'SELECT' : 'RAW'
    const answer = await sequelize.query(sql, { transaction, type, raw: true } as never)
    return answerOf(type === 'RAW' ? (answer as unknown[])[0] : answer)
  })
}

interface MikroOrmManager {
  execute(sql: string, values: unknown[], method: 'all' | 'run'): Promise<unknown>
}

/** The `em` of MikroORM's `em.transactional(async (em) => …)`, or one that has begun a transaction. */
export function fromMikroOrm(em: MikroOrmManager): QueryTransaction {
  return once(em, async (sql, values) => answerOf(await em.execute(sql, values, givesRows(sql) ? 'all' : 'run')))
}

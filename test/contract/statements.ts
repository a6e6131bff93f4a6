import type { HeldConnection } from '../../src/database/connection'
import { ownPoolOf } from '../../src/database/mysql/own-pool'
import { gatedSourceOf } from '../../src/database/sqlite/gated-runner'
import type { Store } from '../../src/index'
import { withoutReports } from '../support/opened'
import type { Context } from './context'

type Around = (sql: string, run: () => Promise<unknown>, parameters?: unknown) => Promise<unknown>

/** Has each statement of the store run by `around`. Those of its transactions’ managers are not among them. */
export function watch({ dataSource }: Store, around: Around): void {
  const own = ownPoolOf(dataSource) ?? gatedSourceOf(dataSource)
  if (!own) throw new Error('the connections are not the store’s own')
  const open = own.open.bind(own)
  own.open = (done) =>
    open((error, connection) => {
      if (connection) watchConnection(connection, around)
      done(error, connection)
    })
}

function watchConnection(connection: HeldConnection, around: Around): void {
  const { rows, execute, later, begin, commit, rollBack } = connection
  // One method of a connection may be written with another: a statement is one all the same.
  let isInside = false
  const alone = <Answer>(call: () => Answer): Answer => {
    isInside = true
    try {
      return call()
    } finally {
      isInside = false
    }
  }
  const watched =
    <Answer>(method: (this: HeldConnection, sql: string, values: null) => Answer | Promise<Answer>) =>
    (sql: string, values: unknown) => {
      const call = () => method.call(connection, sql, values as null)
      return (isInside ? call() : around(sql, async () => alone(call), values)) as Promise<never>
    }
  const ending = (sql: string, end: () => Promise<void>) => () =>
    around(sql, () => alone(() => end.call(connection))) as Promise<void>
  Object.assign(connection, {
    rows: watched(rows),
    execute: watched(execute),
    later: watched(later),
    begin: (how: object) => around('START TRANSACTION', async () => begin.call(connection, how)),
    commit: ending('COMMIT', commit),
    rollBack: ending('ROLLBACK', rollBack),
  })
}

/** A store, and the statements that its calls have run since, in the order sent, each after `before`. */
export async function statementsOf(
  context: Context,
  before: (sql: string) => Promise<unknown> = async () => {},
): Promise<{ store: Store; statements: string[] }> {
  const store = withoutReports(await context.open())
  const statements: string[] = []
  watch(store, async (sql, run) => {
    statements.push(sql)
    await before(sql)
    return run()
  })
  return { store, statements }
}

/** Runs `work` once, after the first statement of the store that matches; answers whether it has begun. */
export function afterFirst(store: Store, pattern: RegExp, work: () => Promise<unknown>): () => boolean {
  let hasBegun = false
  watch(store, async (sql, run) => {
    const result = await run()
    if (!hasBegun && pattern.test(sql)) {
      hasBegun = true
      await work()
    }
    return result
  })
  return () => hasBegun
}

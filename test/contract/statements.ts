import type { Store } from '../../src/index'
import type { Context } from './context'

type Around = (sql: string, run: () => Promise<unknown>) => Promise<unknown>

/** Has each statement of the store run by `around`. */
function watch({ dataSource }: Store, around: Around): void {
  const create = dataSource.createQueryRunner.bind(dataSource)
  dataSource.createQueryRunner = (mode) => {
    const runner = create(mode)
    const query = runner.query.bind(runner) as (...all: unknown[]) => Promise<unknown>
    const watched = (sql: string, ...rest: unknown[]) => around(sql, () => query(sql, ...rest))
    runner.query = watched as typeof runner.query
    return runner
  }
}

/** A store, and the statements that it has run since, in the order in which they were sent, each after `before`. */
export async function statementsOf(
  context: Context,
  before: (sql: string) => Promise<unknown> = async () => {},
): Promise<{ store: Store; statements: string[] }> {
  const store = await context.open()
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

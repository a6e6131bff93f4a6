import type { Store } from '../../src/index'
import type { Context } from './context'

/** A store, and the statements that it has run since, in the order in which they were sent, each after `before`. */
export async function statementsOf(
  context: Context,
  before: (sql: string) => Promise<unknown> = async () => {},
): Promise<{ store: Store; statements: string[] }> {
  const store = await context.open()
  const statements: string[] = []
  const { dataSource } = store
  const create = dataSource.createQueryRunner.bind(dataSource)
  dataSource.createQueryRunner = (mode) => {
    const runner = create(mode)
    const query = runner.query.bind(runner) as (...all: unknown[]) => Promise<unknown>
    const watched = async (sql: string, ...rest: unknown[]) => {
      statements.push(sql)
      await before(sql)
      return query(sql, ...rest)
    }
    runner.query = watched as typeof runner.query
    return runner
  }
  return { store, statements }
}

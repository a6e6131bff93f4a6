/** Shared by the tests of polls. */
import type { Poller, PollHandler, PollOptions, Store } from '../../../src/index'
import { createSql, insertSql, POLL_TABLES, type PollTable } from '../../support/poll-shapes'
import { type Context, eventually, refusal } from '../context'

export type NumberedRow = { n: number | bigint }

/** One shape for each place where claims are noted: the status, the row, recentn's own table. */
export const PLACES: readonly (readonly [string, PollTable])[] = [
  'an id and a status: soft delete',
  'an id, a status, and columns for claims',
  'an id and no status: done rows are remembered',
].map((title) => [title, POLL_TABLES.find((table) => table.title === title) as PollTable])

export function upTo(count: number): number[] {
  return Array.from({ length: count }, (_, n) => n)
}

export function pollTools(context: Context) {
  const query = (sql: string) => context.store.dataSource.query(sql)

  /** A new table of the shape, with rows 0 to `rows`. */
  const tableOf = async (table: PollTable, rows: number): Promise<string> => {
    const name = context.unique('polled').replace(/\W/g, '_')
    for (const statement of createSql(table, name)) await query(statement)
    context.afterwards(() => query(`DROP TABLE ${name}`))
    if (rows > 0) await query(insertSql(table, name, upTo(rows)))
    return name
  }

  /** A poller that is stopped after the test. */
  const poll = (
    name: string,
    handler: PollHandler<NumberedRow>,
    options: PollOptions<NumberedRow> = {},
    store: Store = context.store,
  ): Poller => {
    const poller = store.poll<NumberedRow>(name, handler, {
      auto: false,
      onWarning: () => {},
      onError: () => {},
      ...options,
    })
    context.afterwards(() => poller.stop({ timeoutSeconds: 0 }))
    return poller
  }

  /** A new table of these columns; `behind` comes after them. */
  const made = async (columns: string, behind = '') => {
    const name = context.unique('polled').replace(/\W/g, '_')
    await query(`CREATE TABLE ${name} (${columns})${behind}`)
    context.afterwards(() => query(`DROP TABLE ${name}`))
    return name
  }

  /** For a poll that is refused. */
  const faultsOf = async (name: string, options: PollOptions<NumberedRow>) => {
    const { code, faults } = await refusal(poll(name, () => {}, options).once())
    expect(code).toBe('invalid_input')
    return faults.map(({ pointer, detail }) => `${pointer}: ${detail}`).join('\n')
  }

  /** The numbers of the rows for which it is true. */
  const numbersWhere = async (name: string, condition = '1 = 1'): Promise<number[]> => {
    const rows: NumberedRow[] = await query(`SELECT n FROM ${name} WHERE ${condition}`)
    return rows.map(({ n }) => Number(n)).sort((a, b) => a - b)
  }

  /** A handler that does nothing but note the rows, until it may continue. */
  const holding = () => {
    let letGo = () => {}
    const held = new Promise<void>((resolve) => {
      letGo = resolve
    })
    const begun: number[] = []
    const attempts: number[] = []
    const handler: PollHandler<NumberedRow> = async ({ n }, { attempt }) => {
      begun.push(Number(n))
      attempts.push(attempt)
      await held
    }
    const until = (count: number) => eventually(5000, `${count} rows begun`, async () => begun.length >= count)
    return { handler, begun, attempts, until, letGo }
  }

  return { query, tableOf, made, poll, faultsOf, numbersWhere, holding }
}

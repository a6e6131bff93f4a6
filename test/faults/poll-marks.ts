/**
 * The notes of the database itself about polls under fire, by triggers, in the transaction of the noted change: `done`, `error`
 * or `deleted` for each recorded result, and `over` or `early` for each claim that another took, by whether the first had
 * run out. So a result that was recorded twice, or a claim taken from one who still held it, can't hide.
 */
import type { Store } from '../../src'
import { sessionOf } from '../../src/database/attached/attach'
import { STATE } from '../../src/repositories/polls/claims'
import type { FireTable } from './poll-tables'

export interface Mark {
  table: string
  /** The number of the row; its key where `recentn_poll_claims` says it. */
  row: string
  word: 'done' | 'error' | 'deleted' | 'over' | 'early'
  /** Null where the table does not know. */
  attempts: number | null
  at: number
}

interface Times {
  now: string
  /** In the column `next_at` of this table. */
  nextTime(table: FireTable): string
}

/** Makes the table of marks and the triggers. */
export async function noteMarks(store: Store, tables: readonly FireTable[]): Promise<void> {
  const { dataSource } = store
  const times = await sessionOf(dataSource).read(async ({ now, engine }): Promise<Times> => {
    const nextTime = ({ table }: FireTable) =>
      engine.rowFacts.time(now, table.columns.includes('next_at datetime') ? 'datetime' : 'bigint')
    return { now, nextTime }
  })
  await dataSource.query(
    'CREATE TABLE poll_marks (of_table varchar(40), of_row varchar(80), word varchar(10), attempts integer, at_ms bigint)',
  )
  for (const statement of [...claimsTriggers(times), ...tables.flatMap((table) => tableTriggers(table, times))]) {
    await dataSource.query(statement)
  }
}

/** The marks of tables by their names, those of `recentn_poll_claims` by the names of the polls. */
export async function readMarks({ dataSource }: Store): Promise<Mark[]> {
  const polls: { id: unknown; poll: unknown }[] = await dataSource.query('SELECT id, poll FROM recentn_polls')
  const names = new Map(polls.map(({ id, poll }) => [String(id), `${NOTED}${poll}`]))
  const rows: Record<string, unknown>[] = await dataSource.query('SELECT * FROM poll_marks')
  return rows.map(({ of_table: of, of_row: row, word, attempts, at_ms: at }) => ({
    table: names.get(String(of)) ?? String(of),
    row: String(row),
    word: word as Mark['word'],
    attempts: attempts === null ? null : Number(attempts),
    at: Number(at),
  }))
}

/** Before the name of the table, in marks of `recentn_poll_claims`. */
export const NOTED = 'notes of '

/** In SQL that all three engines take. */
function trigger(name: string, when: 'UPDATE' | 'DELETE', on: string, inserts: readonly string[]): string {
  return `CREATE TRIGGER ${name} AFTER ${when} ON ${on} FOR EACH ROW BEGIN ${inserts.map((sql) => `${sql};`).join(' ')} END`
}

function mark(values: readonly string[], condition: string): string {
  return (
    'INSERT INTO poll_marks (of_table, of_row, word, attempts, at_ms) ' +
    `SELECT ${values.join(', ')} FROM (SELECT 1 AS one) AS single_row WHERE ${condition}`
  )
}

const taken = (due: string, now: string) => `CASE WHEN ${due} <= ${now} THEN 'over' ELSE 'early' END`

function claimsTriggers({ now }: Times): string[] {
  const word = `CASE WHEN NEW.state = ${STATE.done} THEN 'done' ELSE 'error' END`
  const row = ['NEW.poll_id', 'NEW.row_key']
  return [
    trigger('fire_claims', 'UPDATE', 'recentn_poll_claims', [
      mark(
        [...row, word, 'NEW.attempts', now],
        `NEW.state IN (${STATE.done}, ${STATE.failed}) AND NEW.state <> OLD.state`,
      ),
      mark(
        [...row, taken('OLD.due_at_ms', now), 'NEW.attempts', now],
        `OLD.state = ${STATE.claimed} AND NEW.claim_key <> OLD.claim_key`,
      ),
    ]),
  ]
}

function tableTriggers(one: FireTable, times: Times): string[] {
  const { name, options } = one
  const { now } = times
  const attempts = options.claim ? `OLD.${options.claim.attempts}` : 'NULL'
  const deleted = mark([`'${name}'`, 'OLD.n', "'deleted'", attempts, now], '1 = 1')
  return [
    trigger(`${name}_deleted`, 'DELETE', name, [deleted]),
    ...(options.status || options.claim
      ? [trigger(`${name}_marked`, 'UPDATE', name, [...resultOf(one, now), ...takenOf(one, times)])]
      : []),
  ]
}

function resultOf({ name, options }: FireTable, now: string): string[] {
  const { status, claim } = options
  const given = typeof status === 'string' ? { column: status } : status
  const column = given?.column ?? claim?.claim
  const done = sqlOf(given?.done ?? 'done')
  const error = sqlOf(given?.error ?? 'error')
  const word = `CASE WHEN NEW.${column} = ${done} THEN 'done' ELSE 'error' END`
  const attempts = claim ? `NEW.${claim.attempts}` : 'NULL'
  const isNew = `NEW.${column} IN (${done}, ${error}) AND (OLD.${column} IS NULL OR OLD.${column} <> NEW.${column})`
  return [mark([`'${name}'`, 'NEW.n', word, attempts, now], isNew)]
}

function takenOf(one: FireTable, { now, nextTime }: Times): string[] {
  const { claim } = one.options
  if (!claim) return []
  const { claim: key, attempts, nextTime: time } = claim
  const isTaken =
    `NEW.${key} IS NOT NULL AND OLD.${key} IS NOT NULL AND NEW.${key} <> OLD.${key} ` +
    `AND NEW.${key} NOT IN ('done', 'error')`
  const word = taken(`OLD.${time}`, nextTime(one))
  return [mark([`'${one.name}'`, 'NEW.n', word, `NEW.${attempts}`, now], isTaken)]
}

function sqlOf(value: string | number): string {
  return typeof value === 'number' ? String(value) : `'${value}'`
}

/** The `where` of a poll as SQL: text as it stands, text with parameters, or columns that must have these values. */
import type { Parameter, Statement } from '../../database/engine'
import type { PollCondition, PollMatch, PollShape } from './types'

type Where = NonNullable<PollShape['where']>

export interface WhereReading {
  /** The SQL of a column by its name, or null after reporting the fault. */
  find(pointer: string, name: string): string | null
  fault(pointer: string, detail: string): void
  /** The number of placeholders in a text; null when a quote or comment is left open. */
  placeholders(sql: string): number | null
}

const NOTHING: Statement = { sql: '1 = 0', parameters: [] }

/** Reports faults; the condition is not to be used then. */
export function conditionOf(where: Where, faults: WhereReading): Statement {
  const { find, fault } = faults
  if (typeof where === 'string') return textOf(where, [], '/where', faults)
  const isPlain = typeof where === 'object' && where !== null && Object.getPrototypeOf(where) === Object.prototype
  if (!isPlain) {
    fault('/where', 'must be a text, { sql, parameters }, or { column: value }')
    return NOTHING
  }
  if (isCondition(where)) {
    const parameters: readonly unknown[] = where.parameters ?? []
    if (!Array.isArray(parameters)) {
      fault('/where/parameters', 'must be a list')
      return NOTHING
    }
    for (const [index, value] of parameters.entries()) {
      if (value !== null) checkValue(value, `/where/parameters/${index}`, fault)
    }
    return textOf(where.sql, parameters as Parameter[], '/where/sql', faults)
  }
  const parts = Object.entries(where).map(([name, value]) => {
    const column = find(`/where/${name}`, name) ?? 'NULL'
    if (value === null) return { sql: `${column} IS NULL`, parameters: [] }
    const list: readonly unknown[] = Array.isArray(value) ? value : [value]
    for (const one of list) checkValue(one, `/where/${name}`, fault)
    const values = (list as (string | number | bigint | boolean)[]).map(parameterOf)
    if (values.length === 0) return { sql: '1 = 0', parameters: [] }
    return { sql: `${column} IN (${values.map(() => '?').join(', ')})`, parameters: values }
  })
  if (parts.length === 0) return { sql: '1 = 1', parameters: [] }
  return { sql: parts.map(({ sql }) => sql).join(' AND '), parameters: parts.flatMap(({ parameters }) => parameters) }
}

/** The line ends before the bracket closes: a comment may stand last. */
function textOf(
  sql: string,
  parameters: Parameter[],
  pointer: string,
  { fault, placeholders }: WhereReading,
): Statement {
  const count = placeholders(sql)
  if (count === null) {
    fault(pointer, 'leaves a quote or a comment open, or has a backslash before a quote: write the quote twice')
  } else if (count !== parameters.length) {
    const at = pointer === '/where' ? pointer : '/where/parameters'
    fault(at, `must have one parameter for each ? in the text: ${count}, not ${parameters.length}`)
  } else return { sql: `(${sql}\n)`, parameters }
  return NOTHING
}

/** Anything but these values would be taken as SQL, or would be an error of the database. */
function checkValue(value: unknown, pointer: string, fault: WhereReading['fault']): void {
  const isValue =
    typeof value === 'string' || typeof value === 'bigint' || typeof value === 'boolean' || Number.isFinite(value)
  if (!isValue) fault(pointer, 'must be a text, a finite number, a bigint, true, false, or a list of these')
}

function isCondition(where: PollCondition | PollMatch): where is PollCondition {
  return typeof where.sql === 'string' && Object.keys(where).every((key) => key === 'sql' || key === 'parameters')
}

function parameterOf(value: string | number | bigint | boolean): Parameter {
  return typeof value === 'boolean' ? Number(value) : value
}

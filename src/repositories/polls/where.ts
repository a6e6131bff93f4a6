/** The `where` of a poll as SQL: text as it stands, text with parameters, or columns that must have these values. */
import type { Parameter, Statement } from '../../database/engine'
import type { PollCondition, PollMatch, PollShape } from './types'

type Where = NonNullable<PollShape['where']>

/** The SQL of a column by its name, or null, which says the fault. */
type Find = (pointer: string, name: string) => string | null

export function conditionOf(where: Where, find: Find): Statement {
  if (typeof where === 'string') return { sql: `(${where})`, parameters: [] }
  if (isCondition(where)) return { sql: `(${where.sql})`, parameters: [...(where.parameters ?? [])] }
  const parts = Object.entries(where).map(([name, value]) => {
    const column = find(`/where/${name}`, name) ?? 'NULL'
    if (value === null) return { sql: `${column} IS NULL`, parameters: [] }
    const values = (Array.isArray(value) ? value : [value]).map(parameterOf)
    if (values.length === 0) return { sql: '1 = 0', parameters: [] }
    return { sql: `${column} IN (${values.map(() => '?').join(', ')})`, parameters: values }
  })
  if (parts.length === 0) return { sql: '1 = 1', parameters: [] }
  return { sql: parts.map(({ sql }) => sql).join(' AND '), parameters: parts.flatMap(({ parameters }) => parameters) }
}

function isCondition(where: PollCondition | PollMatch): where is PollCondition {
  return typeof where.sql === 'string' && Object.keys(where).every((key) => key === 'sql' || key === 'parameters')
}

function parameterOf(value: string | number | bigint | boolean): Parameter {
  return typeof value === 'boolean' ? Number(value) : value
}

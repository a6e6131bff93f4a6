/** The common SQL of the engines by which rows get consecutive numbers. */
import type { Numbering, Statement } from '../engine'

/** SELECT of the keys of the rows that are to be numbered, with their places, and the condition that joins them to the table. */
export function chosenFree(
  { table, keys, where, parameters, order, limit }: Numbering,
  useIndex: string,
  lock: string,
): Statement & { on: string } {
  const columns = [...new Set([...keys, ...order])].join(', ')
  const picked = `SELECT ${columns} FROM ${table}${useIndex} WHERE ${where} ORDER BY ${order.join(', ')} LIMIT ${limit}${lock}`
  return {
    sql: `SELECT ${keys.join(', ')}, ROW_NUMBER() OVER (ORDER BY ${order.join(', ')}) AS recentn_number FROM (${picked}) picked`,
    on: keys.map((key) => `${table}.${key} = chosen.${key}`).join(' AND '),
    parameters: [...parameters],
  }
}

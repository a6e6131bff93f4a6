/** SQL that the engines have in common: rows get consecutive numbers, and are inserted or updated. */
import type { Engine, Numbering, Statement } from '../engine'

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

/** A method of every engine. */
export const upsert: Engine['upsert'] = function (this: Engine, table, key, columns, updated, rows) {
  const sets = updated.map((column) => `${column} = ${this.proposed(column)}`).join(', ')
  const into = `INSERT INTO ${table} (${columns.join(', ')}) VALUES`
  return this.insert((values) => `${into} ${values} ${this.onDuplicate(key)} ${sets}`, rows)
}

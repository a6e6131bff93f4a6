/** The part of a list that is asked for: names after one, and those that begin with a prefix. Bytes decide, as in indexes. */
import { afterPrefix } from '../database/engine'

/** SQL and its parameters. Every name is greater than ''. */
export function nameRange(column: string, after: string, prefix: string): { where: string; parameters: string[] } {
  const conditions = [`${column} > ?`]
  const parameters = [after]
  if (prefix !== '') {
    conditions.push(`${column} >= ?`)
    parameters.push(prefix)
    const end = afterPrefix(prefix)
    if (end !== null) {
      conditions.push(`${column} < ?`)
      parameters.push(end)
    }
  }
  return { where: conditions.join(' AND '), parameters }
}

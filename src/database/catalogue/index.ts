/**
 * Reads what an engine's catalogue says of a user's table. It is read when work on the table begins, and never cached.
 * The table may change a moment later: then a statement may fail.
 */
import type { Reader } from '../engine'
import { mysqlCatalogue } from './mysql'
import type { Catalogue } from './parts'
import { sqliteCatalogue } from './sqlite'

export function catalogueOf(reader: Reader, path: string): Promise<Catalogue> {
  const [table, schema] = path.split('.').reverse() as [string, string | undefined]
  return reader.engine.family === 'sqlite'
    ? sqliteCatalogue(reader, table, schema)
    : mysqlCatalogue(reader, table, schema)
}

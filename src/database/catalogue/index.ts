/**
 * What the catalogues of the engines say of a table of the user's: read when work on it begins, and never kept. The server
 * may have changed the table a moment later; whoever uses this lives with a statement that fails.
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

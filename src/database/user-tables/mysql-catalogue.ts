/** The catalogue of MySQL and MariaDB: `information_schema`. */
import type { Reader, Row } from '../engine'
import { type Catalogue, type IndexPart, indexesOf, path, type TableKind } from './table-parts'

export async function mysqlCatalogue(reader: Reader, table: string, schema: string | undefined): Promise<Catalogue> {
  const where = `table_schema = ${schema === undefined ? 'DATABASE()' : '?'} AND table_name = ?`
  const parameters = schema === undefined ? [table] : [schema, table]
  const columns = await reader.rows(
    'SELECT column_name AS name, data_type AS type, character_maximum_length AS length, is_nullable AS nullable, extra AS extra, ' +
      `column_type AS spec, datetime_precision AS digits, collation_name AS collated FROM information_schema.columns WHERE ${where} ORDER BY ordinal_position`,
    parameters,
  )
  // The servers have different columns for indexes that they do not use.
  const parts = await reader.rows(
    `SELECT * FROM information_schema.statistics WHERE ${where} ORDER BY index_name, seq_in_index`,
    parameters,
  )
  const texts = new Set(columns.filter(({ type }) => /text$/i.test(String(type))).map(({ name }) => name as string))
  const indexes = indexesOf(parts.map((part) => mysqlPart(part, texts)))
  return {
    columns: columns.map(({ name, type, length, nullable, extra, spec, digits, collated }) => ({
      name: name as string,
      property: name as string,
      type: String(type).toLowerCase(),
      length: length === null ? null : Number(length),
      values: type === 'enum' ? listedIn(String(spec)) : null,
      isNullable: nullable === 'YES',
      isUpdateTime: /on update/i.test(String(extra)),
      isGenerated: /(virtual|stored|persistent)/i.test(String(extra)),
      precision: digits === null ? null : Number(digits),
      collation: collated as string | null,
    })),
    primaryKey: indexes.find(({ name }) => name === 'PRIMARY')?.columns ?? [],
    indexes,
    ...(await mysqlKind(reader, where, parameters, table)),
    indexOn: (quoted, index) => `${quoted(index)} ON ${path(quoted, schema, table)}`,
    clearingTrigger: (quoted, trigger, column) =>
      `CREATE TRIGGER ${path(quoted, schema, trigger)} BEFORE UPDATE ON ${path(quoted, schema, table)} FOR EACH ROW ` +
      `SET NEW.${quoted(column)} = IF(OLD.${quoted(column)} IS NULL, NEW.${quoted(column)}, NULL)`,
  }
}

async function mysqlKind(reader: Reader, where: string, parameters: string[], table: string): Promise<TableKind> {
  const found = await reader.rows(
    'SELECT t.table_schema AS home, t.table_name AS name, t.table_schema = DATABASE() AS is_own, t.table_type AS kind, ' +
      'e.transactions AS transactions FROM information_schema.tables t ' +
      `LEFT JOIN information_schema.engines e ON e.engine = t.engine WHERE t.${where.replace(' AND ', ' AND t.')}`,
    parameters,
  )
  const row = found.find(({ name }) => name === table) ?? found[0]
  const name = (row?.name ?? table) as string
  const isView = /view/i.test(String(row?.kind))
  // For views only, and not by a join: MariaDB would open every table of the server.
  const [view] = isView
    ? await reader.rows(`SELECT is_updatable AS updatable FROM information_schema.views WHERE ${where}`, parameters)
    : []
  return {
    fullName: row && Number(row.is_own) !== 1 ? `${row.home}.${name}` : name,
    isView,
    isUpdatable: !isView || view?.updatable === 'YES',
    hasRowIds: true,
    // A view has no engine.
    isTransactional: row?.transactions !== 'NO',
  }
}

/** How many characters of a TEXT an index needs to distinguish status words and batch keys. */
const WHOLE_WORDS = 22

function mysqlPart(raw: Row, texts: ReadonlySet<string>): IndexPart {
  const row = Object.fromEntries(Object.entries(raw).map(([name, value]) => [name.toLowerCase(), value]))
  const column = row.column_name as string | null
  const length = row.sub_part === null ? null : Number(row.sub_part)
  const isWhole = length === null
  return {
    index: row.index_name as string,
    isUnique: Number(row.non_unique) === 0,
    column: isWhole ? column : null,
    walked:
      row.index_type === 'BTREE' &&
      row.collation === 'A' &&
      row.is_visible !== 'NO' &&
      row.ignored !== 'YES' &&
      column !== null &&
      (isWhole || (texts.has(column) && length >= WHOLE_WORDS))
        ? column
        : null,
  }
}

/** The values in `enum('a','it''s')`. */
function listedIn(spec: string): string[] {
  const texts = spec.match(/'(?:[^']|'')*'/g) ?? []
  return texts.map((text) => text.slice(1, -1).replaceAll("''", "'").toLowerCase())
}

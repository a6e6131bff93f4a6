/**
 * How each engine identifies and changes rows of the user's tables. A row is identified by exact SQL literals of its
 * columns, which the database itself writes. Values as a driver reads them (rounded numbers, dates in another zone)
 * never go back into a statement. Nor does text that does not look like a literal.
 */
export interface RowFacts {
  /** SQL: the literal of a column's value, as text. */
  exact(column: string, type: string): string
  /** Matches what `exact` returns. */
  readonly literal: RegExp
  /** SQL: identifies the row within its table, from the literals of its key; at most 64 characters where the engine
   * limits keys. */
  rowKey(exacts: readonly string[], types: readonly string[]): string
  /** SQL: milliseconds since 1970 as a value of a column, which is a date and time or a BIGINT. */
  time(ms: string, type: string): string
  /** SQL: the same as a value to store, never earlier than `ms` after it is rounded to `precision` digits of a second. */
  timeNotBefore(ms: string, type: string, precision: number | null): string
  /** SQL: a time that never comes. */
  never(type: string): string
  holdsTimes(type: string): boolean
  /** True where the primary key follows the columns of an index, as further columns. */
  endsWithKey(keyTypes: readonly string[]): boolean
  /** Whether =, > and ORDER BY of a column agree with its literals: not where two texts count as equal, nor for an ENUM. */
  ordersWhole(type: string, collation: string | null): boolean
  /** SQL: the session's offset from UTC in seconds at a time in seconds since 1970; null if it is always 0. */
  readonly offsetAt: ((seconds: number) => string) | null
  /** True where a column takes only values of its declared type. */
  readonly typedColumns: boolean
  /** SQL of a column in CREATE INDEX. */
  indexed(column: string, type: string): string
  updateOne(table: string, sets: string, where: string): string
  deleteOne(table: string, where: string): string
}

const NUMBERS = /^(tinyint|smallint|mediumint|int|integer|bigint|year|decimal|numeric)$/
const WHOLE = /^(tinyint|smallint|mediumint|int|integer|bigint)$/
const FLOATS = /^(float|double|real)$/
const BYTES =
  /^(binary|varbinary|tinyblob|blob|mediumblob|longblob|vector|point|linestring|polygon|geometry|multi\w+|geom\w*collection)$/
const TIMES = /^(date|datetime|timestamp|time)$/
/** MariaDB writes these as texts that it accepts back. */
const NAMES = /^(uuid|inet4|inet6)$/
const TEXTS = /^(char|varchar|tinytext|text|mediumtext|longtext|enum|set)$/

function mysqlExact(column: string, type: string): string {
  if (NUMBERS.test(type)) return `CAST(${column} AS CHAR)`
  if (type === 'bit') return `CAST(CAST(${column} AS UNSIGNED) AS CHAR)`
  // As text a FLOAT would keep six digits only.
  if (FLOATS.test(type)) return `CAST(${column} + 0e0 AS CHAR)`
  if (BYTES.test(type)) return `CONCAT('x''', HEX(${column}), '''')`
  if (TIMES.test(type)) return `CONCAT('''', CAST(${column} AS CHAR), '''')`
  const text = TEXTS.test(type) ? column : `CAST(${column} AS CHAR)`
  return `CONCAT('_utf8mb4 x''', HEX(CONVERT(${text} USING utf8mb4)), '''')`
}

const ASCII = 'USING ascii) COLLATE ascii_bin'

const mysqlTime: RowFacts['time'] = (ms, type) => (type === 'bigint' ? ms : `FROM_UNIXTIME((${ms}) / 1000)`)

export const mysqlRows: RowFacts = {
  exact: mysqlExact,
  literal: /^(?:NULL|-?\d+(?:\.\d+)?(?:e[+-]?\d+)?|'[-\d :.]*'|(?:_utf8mb4 )?x'[0-9a-f]*')$/i,
  rowKey: (exacts, types) =>
    exacts.length === 1 && WHOLE.test(types[0] as string)
      ? `CONVERT(${exacts[0]} ${ASCII}`
      : `CONVERT(SHA2(CONCAT_WS(',', ${exacts.map((exact) => `IFNULL(${exact}, 'NULL')`).join(', ')}), 256) ${ASCII}`,
  time: mysqlTime,
  // One server rounds digits that do not fit, the other cuts them off.
  timeNotBefore: (ms, type, precision) => {
    if (type === 'bigint' || precision === null || precision >= 3) return mysqlTime(ms, type)
    const unit = 10 ** (3 - precision)
    return mysqlTime(`CEILING((${ms}) / ${unit}) * ${unit}`, type)
  },
  // A TIMESTAMP ends in 2038.
  never: (type) => (type === 'bigint' ? '9223372036854775807' : type === 'timestamp' ? "'2038-01-01'" : "'9999-12-31'"),
  holdsTimes: (type) => /^(bigint|datetime|timestamp)$/.test(type),
  endsWithKey: () => true,
  ordersWhole: (type, collation) =>
    [NUMBERS, FLOATS, TIMES, NAMES].some((types) => types.test(type)) ||
    /^(bit|binary|varbinary)$/.test(type) ||
    (/char|text/.test(type) && /_bin$/.test(collation ?? '')),
  offsetAt: (seconds) => `TIMESTAMPDIFF(SECOND, '1970-01-01', FROM_UNIXTIME(${seconds})) - ${seconds}`,
  typedColumns: true,
  // The servers index only the beginning of a TEXT.
  indexed: (column, type) => (/text|blob/.test(type) ? `${column}(64)` : column),
  updateOne: (table, sets, where) => `UPDATE ${table} SET ${sets} WHERE ${where} LIMIT 1`,
  deleteOne: (table, where) => `DELETE FROM ${table} WHERE ${where} LIMIT 1`,
}

// As TypeORM writes a date.
const sqliteTime: RowFacts['time'] = (ms, type) =>
  /int|num/.test(type) ? ms : `strftime('%Y-%m-%d %H:%M:%f', (${ms}) / 1000.0, 'unixepoch')`

/** In SQLite each value has its own type, whatever its column is declared as. */
export const sqliteRows: RowFacts = {
  // quote() ends a text at a zero in it.
  exact: (column) =>
    `CASE WHEN typeof(${column}) = 'text' AND instr(${column}, char(0)) > 0 ` +
    `THEN 'CAST(x''' || hex(${column}) || ''' AS TEXT)' ELSE quote(${column}) END`,
  literal: /^(?:NULL|-?\d+(?:\.\d+)?(?:e[+-]?\d+)?|'(?:[^']|'')*'|x'[0-9a-f]*'|CAST\(x'[0-9a-f]*' AS TEXT\))$/i,
  rowKey: (exacts) => exacts.map((exact) => `(${exact})`).join(" || ',' || "),
  time: sqliteTime,
  timeNotBefore: sqliteTime,
  never: (type) => (/int|num/.test(type) ? '9223372036854775807' : "'9999-12-31 00:00:00.000'"),
  holdsTimes: (type) => /int|num|date|time|text|char/.test(type),
  endsWithKey: (keyTypes) => keyTypes.length === 1 && keyTypes[0] === 'integer',
  ordersWhole: (_, collation) => collation === 'BINARY',
  offsetAt: null,
  typedColumns: false,
  indexed: (column) => column,
  updateOne: (table, sets, where) =>
    `UPDATE ${table} SET ${sets} WHERE _rowid_ = (SELECT _rowid_ FROM ${table} WHERE ${where} LIMIT 1)`,
  deleteOne: (table, where) =>
    `DELETE FROM ${table} WHERE _rowid_ = (SELECT _rowid_ FROM ${table} WHERE ${where} LIMIT 1)`,
}

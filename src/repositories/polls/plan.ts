/**
 * The plan of one poll: its shape, the number under which its claims are kept, and the index that they use, or the
 * statement that creates a missing one. Made when a poll begins, and again after a claim that failed, for the table may
 * have changed.
 */
import type { DataSource, EntityMetadata, EntityTarget, ObjectLiteral } from 'typeorm'
import { type Engine, type Parameter, placeholders, type Session, type Statement } from '../../database/engine'
import { poolSizeOf } from '../../database/pool/connection-use'
import { describeTable, type Table } from '../../database/user-tables/table'
import type { TableIndex } from '../../database/user-tables/table-parts'
import { RecentnError } from '../../shared/errors'
import type { PollShape } from '../../shared/poll-types'
import type { KnownTable } from './columns'
import { register } from './purpose'
import { type PolledTable, part } from './rows'
import { checkWords, checkZone, type Shape, shapeOf } from './shape'

export interface PollPlan extends Shape, PolledTable {
  pollId: bigint
  name: string
  /** A warning for the user; null when there is a fitting index. */
  advice: string | null
  /** A warning for the user that `where` has changed. */
  notice: string | null
  /** How many connections the store and the handlers share; null when they can't run out. */
  connections: number | null
}

export type PollTarget = EntityTarget<ObjectLiteral>

export async function planOf(
  source: DataSource,
  session: Session,
  target: PollTarget,
  options: PollShape,
): Promise<PollPlan> {
  const table = await describeTable(source, session, target)
  if (!table.isTransactional) {
    throw new RecentnError(
      'invalid_input',
      `The table ${table.name} has an engine without transactions, in which two could have one row: ALTER TABLE ${table.path} ENGINE = InnoDB`,
    )
  }
  const engine = await session.read(async (reader) => reader.engine)
  const metadata = source.hasMetadata(target) ? source.getMetadata(target) : null
  const shape = shapeOf(knownOf(metadata, table, engine), options)
  await checkWords(session, shape)
  await checkZone(session, shape)
  const name = options.name ?? nameOf(metadata, table)
  const { pollId, hasNewWhere } = await register(session, name, shape)
  const { index, advice } = adviceOf(shape, engine)
  return {
    ...shape,
    name,
    pollId,
    hint: index === null ? '' : engine.useIndex(table.escape(index)),
    keyHint: isPrimary(shape) ? engine.useIndex('PRIMARY') : '',
    advice,
    notice: hasNewWhere
      ? `recentn polls ${name} with another where than before: rows that were handled under that are not handled again. ` +
        'Two purposes need two names'
      : null,
    connections: poolSizeOf(source),
  }
}

function knownOf(metadata: EntityMetadata | null, table: Table, engine: Engine): KnownTable {
  const listed = metadata?.columns.filter((column) => column.enum).map((column) => column.databaseName)
  const always: Statement[] = []
  const deletedAt = metadata?.deleteDateColumn?.databaseName
  if (deletedAt !== undefined) always.push(part(`${table.escape(deletedAt)} IS NULL`))
  const classes = classesOf(metadata)
  if (classes) {
    always.push(part(`${table.escape(classes.column)} IN (${placeholders(classes.values.length)})`, ...classes.values))
  }
  return { engine, table, listed: new Set(listed), always }
}

/** For a class that shares its table with others: the values that mark a row as one of this class, or of a class that extends it. */
function classesOf(metadata: EntityMetadata | null): { column: string; values: Parameter[] } | null {
  if (!metadata?.discriminatorColumn || !metadata.parentEntityMetadata) return null
  const all = [metadata, ...metadata.childEntityMetadatas]
  const values = all.map(({ discriminatorValue }) => discriminatorValue as Parameter | undefined)
  return {
    column: metadata.discriminatorColumn.databaseName,
    values: [...new Set(values.filter((value) => value !== undefined))],
  }
}

/** Classes that share a table are polled under different names. */
function nameOf(metadata: EntityMetadata | null, { fullName }: Table): string {
  return classesOf(metadata) ? `${fullName}:${metadata?.discriminatorValue}` : fullName
}

/** The index with the columns of the claim's WHERE, then those of its ORDER BY; or the statement that creates it. */
function adviceOf(shape: Shape, engine: Engine): { index: string | null; advice: string | null } {
  const { equal, order, table } = shape
  const wanted = [...equal, ...order.filter((name) => !equal.includes(name))]
  if (wanted.length === 0 || (equal.length === 0 && isPrimary(shape) && sameStart(table.primaryKey, wanted))) {
    return { index: null, advice: null }
  }
  const suffix = engine.rowFacts.endsWithKey(table.primaryKey.map((name) => typeOf(shape, name)))
    ? table.primaryKey
    : []
  const walkedOf = ({ walked, isWalkedWhole }: TableIndex) => {
    const behind = isWalkedWhole ? suffix.filter((name) => !walked.includes(name)) : []
    return [...walked, ...behind]
  }
  const found = table.indexes.find((index) => sameStart(walkedOf(index), wanted))
  if (found) return { index: isNamed(found) ? found.name : null, advice: null }
  if (table.isView) return { index: null, advice: null }
  // Columns that the engine adds by itself are not named: with them the index might be too long.
  const columns = withoutSuffix(wanted, suffix).map((name) =>
    engine.rowFacts.indexed(table.escape(name), typeOf(shape, name)),
  )
  const statement = table.createIndex(freeName(shape, wanted), columns)
  return {
    index: null,
    advice: `recentn polls ${table.name} without a fitting index: each claim goes through the table. This helps: ${statement}`,
  }
}

function withoutSuffix(wanted: readonly string[], suffix: readonly string[]): readonly string[] {
  for (let length = 1; length < wanted.length; length++) {
    const start = wanted.slice(0, length)
    if (sameStart([...start, ...suffix.filter((name) => !start.includes(name))], wanted)) return start
  }
  return wanted
}

function isPrimary({ identity, table }: Shape): boolean {
  return identity.isKey && identity.key.length > 0 && identity.key.every((name, at) => table.primaryKey[at] === name)
}

function typeOf({ table }: Shape, column: string): string {
  return table.columns.find(({ name }) => name === column)?.type ?? ''
}

/** There may be an index of this name that does not fit. */
function freeName({ table }: Shape, wanted: readonly string[]): string {
  const name = [table.name.replaceAll('.', '_'), ...wanted].join('_').slice(0, 60)
  const taken = new Set(table.indexes.map((index) => index.name.toLowerCase()))
  for (let at = 2; ; at++) {
    const free = at === 2 ? name : `${name}_${at - 1}`
    if (!taken.has(free.toLowerCase())) return free
  }
}

function sameStart(columns: readonly string[], wanted: readonly string[]): boolean {
  return wanted.every((name, at) => columns[at] === name)
}

/** An index that SQLite made for a constraint can't be named in a statement, and a claim must work without PRIMARY. */
const isNamed = ({ name }: TableIndex) => name !== 'PRIMARY' && !name.startsWith('sqlite_autoindex')

/**
 * What the claims of one poll look like: its shape, the number under which its claims are kept, and the index that they
 * go along. Made when a poll begins, and anew after a claim that failed, for the table may have changed.
 */
import type { DataSource, EntityMetadata, EntityTarget, ObjectLiteral } from 'typeorm'
import { poolSizeOf } from '../../database/connection-use'
import type { Engine, Parameter, Session, Statement } from '../../database/engine'
import { describeTable, type Table } from '../../database/table'
import { RecentnError } from '../../errors'
import { adviceOf, isPrimary } from './advice'
import { register } from './purpose'
import { shapeOf } from './shape'
import { checkZone } from './shape-checks'
import type { Known, Shape } from './shape-parts'
import { checkWords } from './shape-status'
import type { PollShape } from './types'

export interface Plan extends Shape {
  pollId: bigint
  name: string
  /** SQL behind the table's name in a claim. */
  hint: string
  /** SQL behind the table's name where rows are found by their key. */
  keyHint: string
  /** What to tell the user; null where the index is there. */
  advice: string | null
  /** What to tell the user of a `where` that has changed. */
  notice: string | null
  /** How many connections the store and the handlers share; null where that can't run out. */
  connections: number | null
}

export type PollTarget = EntityTarget<ObjectLiteral>

export async function planOf(
  source: DataSource,
  session: Session,
  target: PollTarget,
  options: PollShape,
): Promise<Plan> {
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

function knownOf(metadata: EntityMetadata | null, table: Table, engine: Engine): Known {
  const listed = metadata?.columns.filter((column) => column.enum).map((column) => column.databaseName)
  const always: Statement[] = []
  const deletedAt = metadata?.deleteDateColumn?.databaseName
  if (deletedAt !== undefined) always.push({ sql: `${table.escape(deletedAt)} IS NULL`, parameters: [] })
  const classes = classesOf(metadata)
  if (classes) {
    const list = classes.values.map(() => '?').join(', ')
    always.push({ sql: `${table.escape(classes.column)} IN (${list})`, parameters: classes.values })
  }
  return { engine, table, listed: new Set(listed), always }
}

/** Of a class that shares its table with others: what says that a row is one of it, or of one that extends it. */
function classesOf(metadata: EntityMetadata | null): { column: string; values: Parameter[] } | null {
  if (!metadata?.discriminatorColumn || !metadata.parentEntityMetadata) return null
  const all = [metadata, ...metadata.childEntityMetadatas]
  const values = all.map(({ discriminatorValue }) => discriminatorValue as Parameter | undefined)
  return {
    column: metadata.discriminatorColumn.databaseName,
    values: [...new Set(values.filter((value) => value !== undefined))],
  }
}

/** Classes that share a table are polled for different purposes. */
function nameOf(metadata: EntityMetadata | null, { fullName }: Table): string {
  return classesOf(metadata) ? `${fullName}:${metadata?.discriminatorValue}` : fullName
}

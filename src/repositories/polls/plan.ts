/**
 * What the claims of one poll look like: its shape, the number under which its claims are kept, and the index that they
 * go along. Made when a poll begins, and anew after a claim that failed, for the table may have changed.
 */
import type { DataSource, EntityTarget, ObjectLiteral } from 'typeorm'
import type { Engine, Session } from '../../database/engine'
import { describeTable, type Table, type TableIndex } from '../../database/table'
import { shapeOf } from './shape'
import type { Known, Shape } from './shape-parts'
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
}

export type PollTarget = EntityTarget<ObjectLiteral>

export async function planOf(
  source: DataSource,
  session: Session,
  target: PollTarget,
  options: PollShape,
): Promise<Plan> {
  const table = await describeTable(source, session, target)
  const engine = await session.read(async (reader) => reader.engine)
  const shape = shapeOf(knownOf(source, target, table, engine), options)
  const name = options.name ?? table.name
  const { index, advice } = adviceOf(shape, engine)
  return {
    ...shape,
    name,
    pollId: await pollIdOf(session, name),
    hint: index === null ? '' : engine.useIndex(table.escape(index)),
    keyHint: isPrimary(shape) ? engine.useIndex('PRIMARY') : '',
    advice,
  }
}

function knownOf(source: DataSource, target: PollTarget, table: Table, engine: Engine): Known {
  const metadata = source.hasMetadata(target) ? source.getMetadata(target) : null
  const listed = metadata?.columns.filter((column) => column.enum).map((column) => column.databaseName)
  return { engine, table, listed: new Set(listed), deletedAt: metadata?.deleteDateColumn?.databaseName ?? null }
}

async function pollIdOf(session: Session, name: string): Promise<bigint> {
  return session.write(async (tx) => {
    const find = async () => {
      const [row] = await tx.rows(`SELECT ${tx.engine.bigint('id')} AS poll_id FROM polls WHERE poll = ?`, [name])
      return row ? BigInt(row.poll_id as string) : null
    }
    const known = await find()
    if (known !== null) return known
    await tx.run(
      `INSERT INTO polls (poll, created_at_ms) VALUES (?, ${tx.now}) ${tx.engine.onDuplicate('poll')} poll = ${tx.engine.proposed('poll')}`,
      [name],
    )
    return (await find()) as bigint
  })
}

function isPrimary({ identity, table }: Shape): boolean {
  return identity.isKey && identity.key.length > 0 && identity.key.every((name, at) => table.primaryKey[at] === name)
}

// ---- the index of a claim

interface Advice {
  index: string | null
  advice: string | null
}

/** The index that has the columns of the claim's WHERE, then those of its ORDER BY; or the statement that makes it. */
function adviceOf(shape: Shape, engine: Engine): Advice {
  const { equal, order, table } = shape
  const wanted = [...equal, ...order.filter((name) => !equal.includes(name))]
  if (wanted.length === 0 || (equal.length === 0 && isPrimary(shape) && sameStart(table.primaryKey, wanted))) {
    return { index: null, advice: null }
  }
  const keyTypes = table.primaryKey.map((name) => table.columns.find((column) => column.name === name)?.type ?? '')
  const suffix = engine.rowFacts.endsWithKey(keyTypes) ? table.primaryKey : []
  const columnsOf = (index: TableIndex) => [...index.columns, ...suffix.filter((name) => !index.columns.includes(name))]
  const found = table.indexes.find((index) => sameStart(columnsOf(index), wanted))
  if (found) return { index: isNamed(found) ? found.name : null, advice: null }
  const named = [table.name, ...wanted].join('_').slice(0, 60)
  const columns = wanted.map(table.escape).join(', ')
  const statement = `CREATE INDEX ${table.escape(named)} ON ${table.path} (${columns})`
  return {
    index: null,
    advice: `recentn polls ${table.name} without a fitting index: each claim goes through the table. This helps: ${statement}`,
  }
}

function sameStart(columns: readonly string[], wanted: readonly string[]): boolean {
  return wanted.every((name, at) => columns[at] === name)
}

/** An index that SQLite made for a constraint can't be named in a statement, and a claim must go on without PRIMARY. */
function isNamed({ name }: TableIndex): boolean {
  return name !== 'PRIMARY' && !name.startsWith('sqlite_autoindex')
}

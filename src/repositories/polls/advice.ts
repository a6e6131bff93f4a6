/** The index that a claim goes along, and the statement that makes it where it is missing. */
import type { Engine } from '../../database/engine'
import type { TableIndex } from '../../database/table-parts'
import type { Shape } from './shape-parts'

export interface Advice {
  index: string | null
  advice: string | null
}

/** The index that has the columns of the claim's WHERE, then those of its ORDER BY; or the statement that makes it. */
export function adviceOf(shape: Shape, engine: Engine): Advice {
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
  // What the engine adds by itself is not named: the whole may be longer than an index may be.
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

export function isPrimary({ identity, table }: Shape): boolean {
  return identity.isKey && identity.key.length > 0 && identity.key.every((name, at) => table.primaryKey[at] === name)
}

function typeOf({ table }: Shape, column: string): string {
  return table.columns.find(({ name }) => name === column)?.type ?? ''
}

/** An index of this name may be there, and not fit. */
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

/** An index that SQLite made for a constraint can't be named in a statement, and a claim must go on without PRIMARY. */
function isNamed({ name }: TableIndex): boolean {
  return name !== 'PRIMARY' && !name.startsWith('sqlite_autoindex')
}

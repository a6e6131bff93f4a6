/**
 * The user's rows as a claim reads them. What the user's code makes of one (transformers, JSON) is done later and for each
 * row by itself, so that one that can't be read is nobody's fault but its own.
 */
import type { ObjectLiteral } from 'typeorm'
import type { Reader, Row, Statement } from '../../database/engine'
import { chunksOf } from '../chunks'
import { type GivenUp, type Held, MAX_ROWS, unfinished } from './claims'
import type { RowRef } from './identity'
import type { Plan } from './plan'

export interface Loaded {
  /** As the user's code knows it, without what the claim wrote; throws what a transformer of the user's throws. */
  load(): ObjectLiteral
  /** What names it, by the user's names; all of it where it has no key. */
  key: ObjectLiteral
}

/** By row key; of those that `also` holds for, where it is given. */
export async function readRows(
  reader: Reader,
  plan: Plan,
  refs: readonly RowRef[],
  also: Statement | null = null,
): Promise<Map<string, Loaded>> {
  const { table, identity } = plan
  const rows = new Map<string, Loaded>()
  const hidden = hiddenOf(plan)
  for (const chunk of chunksOf(refs, identity.isKey ? MAX_ROWS : 1)) {
    const { sql, parameters } = identity.any(chunk)
    const found = await reader.rows(
      `SELECT ${table.selected}, ${identity.rowKey} AS recentn_row_key FROM ${table.path} WHERE ${sql}${also ? ` AND ${also.sql}` : ''}`,
      [...parameters, ...(also?.parameters ?? [])],
    )
    for (const { recentn_row_key: rowKey, ...raw } of found) {
      // Without a key it is by itself, and may have changed since it was named.
      const name = identity.isKey ? (rowKey as string) : (chunk[0] as RowRef).rowKey
      rows.set(name, { load: () => table.rowOf(raw, hidden), key: keyOf(plan, raw, hidden) })
    }
  }
  return rows
}

/** What a claim writes: who saves a row late must not put it over what a successor has written. */
function hiddenOf({ table, status, own }: Plan): ReadonlySet<string> {
  const written = new Set([status?.column, own?.claim, own?.attempts, own?.nextTime])
  const names = table.columns.map(({ name }) => name)
  // Half a primary key would be another row's.
  return new Set(names.filter((name) => written.has(table.escape(name)) && !table.primaryKey.includes(name)))
}

function keyOf({ table, identity }: Plan, raw: Row, hidden: ReadonlySet<string>): ObjectLiteral {
  const names = identity.isKey ? identity.key : Object.keys(raw).filter((name) => !hidden.has(name))
  const property = new Map(table.columns.map((column) => [column.name, column.property]))
  return Object.fromEntries(names.map((name) => [property.get(name) ?? name, raw[name]]))
}

/** The row of what is about to be given up. */
export async function asGivenUp(reader: Reader, plan: Plan, held: Held): Promise<GivenUp> {
  const row = (await readRows(reader, plan, [held.ref])).get(held.ref.rowKey)
  return { ...held, row: row ? readable(row) : null, error: unfinished(held.attempts) }
}

function readable({ load, key }: Loaded): ObjectLiteral {
  try {
    return load()
  } catch {
    return key
  }
}

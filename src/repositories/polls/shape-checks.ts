/** What a table must be for the shape of a poll, beyond its columns being there: see `shapeOf`. */
import type { Reader, Session } from '../../database/engine'
import type { TableColumn } from '../../database/table-parts'
import { invalidInput } from '../../errors'
import type { Shape, TableReading } from './shape-parts'

/** A cursor is a literal that is compared: what it passes must be what lies before it, and nothing that is only alike. */
export function checkCursor(cursor: TableColumn, { known, fault }: TableReading): void {
  const { name, type, collation, isNullable } = cursor
  if (isNullable) fault('/sequence', `the column ${name} must not take NULL: a cursor never comes to such rows`)
  if (known.engine.rowFacts.ordersWhole(type, collation)) return
  const said = collation === null ? type : `${type}, ${collation}`
  fault(
    '/sequence',
    `the column ${name}, ${said}, is no place for a cursor, which would pass rows that only compare alike: it must be a ` +
      'number, a time, binary, or a text of a binary collation',
  )
}

/** `pointer`: of the option by which rows are changed. */
export function checkChanges(pointer: string, hasKey: boolean, { known: { table }, fault }: TableReading): void {
  if (!table.isUpdatable) {
    fault(pointer, `rows of ${table.name}, which is a view, can't be changed: poll the table behind it`)
  } else if (!hasKey && !table.hasRowIds) {
    fault('/key', `${table.name} is WITHOUT ROWID: say which other columns tell its rows apart`)
  }
}

const DAY_SECONDS = 86_400
/** How often in the year that comes it is looked what time it is. */
const LOOKS = 25

/**
 * Throws `invalid_input` for a time of claims that would be written in a time zone with summer time: of the hour that
 * comes twice nobody can say which one it is, and a claim would be over when it begins.
 */
export async function checkZone(session: Session, { own }: Shape): Promise<void> {
  if (own === null || !/^(datetime|timestamp)$/.test(own.timeType)) return
  const offsets = await session.read(offsetsOf)
  if (new Set(offsets).size <= 1) return
  const detail =
    `a ${own.timeType.toUpperCase()} can't say when a claim ends, for the time zone of the connection has summer time, and ` +
    "an hour of each autumn twice: use a BIGINT, or SET time_zone = '+00:00' on each connection"
  throw invalidInput([{ pointer: '/claim/nextTime', detail }])
}

async function offsetsOf({ engine, rows }: Reader): Promise<number[]> {
  const { offsetAt } = engine.rowFacts
  if (offsetAt === null) return []
  const now = Math.floor(Date.now() / 1000)
  const times = Array.from({ length: LOOKS }, (_, at) => now + at * 15 * DAY_SECONDS)
  const [row] = await rows(`SELECT ${times.map((time, at) => `${offsetAt(time)} AS offset_${at}`).join(', ')}`)
  return Object.values(row ?? {}).flatMap((offset) => (offset === null ? [] : [Number(offset)]))
}

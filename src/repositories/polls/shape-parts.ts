/** What the statements of a poll need to know of its table: see `shapeOf`. */
import type { Engine, Parameter, Statement } from '../../database/engine'
import type { Table } from '../../database/table'
import type { TableColumn } from '../../database/table-parts'
import type { Identity } from './identity'

/** A batch key: 128 random bits in base64url. */
export const CLAIM_KEY_LENGTH = 22

/** `column` is SQL. */
export interface Status {
  column: string
  /** Null: rows wait that have no status. */
  ready: Parameter
  isReady: Statement
  /** Null: the batch key. */
  claimed: Parameter
  /** Null: done rows are deleted. */
  done: Parameter
  /** Null: so are those that failed. */
  error: Parameter
}

/** All but those about types and lengths are SQL. */
export interface OwnColumns {
  claim: string
  attempts: string
  nextTime: string
  timeType: string
  /** Of a second; null: as many as there are. */
  timeDigits: number | null
  timeIsNullable: boolean
  error: string | null
  errorLength: number
  /** Whether that is the length of its UTF-8, as a TINYTEXT counts. */
  errorInBytes: boolean
}

export interface Shape {
  table: Table
  identity: Identity
  status: Status | null
  /** Null: claims live in recentn's own table. */
  own: OwnColumns | null
  /** Set where a cursor moves along it. */
  sequence: TableColumn | null
  onDone: 'mark' | 'delete' | 'remember'
  deletesFailed: boolean
  where: Statement | null
  lateMs: number
  maxAttempts: number
  timeoutMs: number
  /** Names of columns: those that a claim compares, and those in whose order it goes. */
  equal: readonly string[]
  order: readonly string[]
}

/** What is known of a table beside its catalogue. */
export interface Known {
  engine: Engine
  table: Table
  /** Columns whose values the entity lists. */
  listed: ReadonlySet<string>
  /** What an entity has to do with: rows that TypeORM would find for it, not those deleted or of another class. */
  always: readonly Statement[]
}

/** The options and the table side by side; faults are told, and the reading goes on. */
export interface TableReading {
  known: Known
  /** Columns that the poll changes. */
  changing: ReadonlySet<string>
  find(pointer: string, name: string): TableColumn | null
  /** SQL of a column that the poll changes. */
  changed(pointer: string, name: string): string
  fault(pointer: string, detail: string): void
}

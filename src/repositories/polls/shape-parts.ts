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
  /** Null: rows without a status are ready. */
  ready: Parameter
  isReady: Statement
  /** Null: the batch key. */
  claimed: Parameter
  /** Null: done rows are deleted. */
  done: Parameter
  /** Null: failed rows are deleted. */
  error: Parameter
}

/** Names of columns are SQL. */
export interface OwnColumns {
  claim: string
  attempts: string
  nextTime: string
  timeType: string
  /** Digits of a second; null: as many as there are. */
  timeDigits: number | null
  timeIsNullable: boolean
  error: string | null
  errorLength: number
  /** The length is in bytes of UTF-8, as a TINYTEXT counts. */
  errorInBytes: boolean
}

export interface Shape {
  table: Table
  identity: Identity
  status: Status | null
  /** Null: claims are noted in recentn's own table. */
  own: OwnColumns | null
  /** The column that a cursor moves along; null when there is no cursor. */
  sequence: TableColumn | null
  onDone: 'mark' | 'delete' | 'remember'
  deletesFailed: boolean
  where: Statement | null
  lateMs: number
  maxAttempts: number
  timeoutMs: number
  /** Names of the columns that a claim compares, and of those that it is ordered by. */
  equal: readonly string[]
  order: readonly string[]
}

/** A table, and what is known of it beside its catalogue. */
export interface KnownTable {
  engine: Engine
  table: Table
  /** Columns whose values the entity lists. */
  listed: ReadonlySet<string>
  /** Conditions of the rows that TypeORM would find for the entity: not deleted, and of its class. */
  always: readonly Statement[]
}

/** The options beside the table. A fault is reported, and the reading goes on. */
export interface TableReading {
  known: KnownTable
  /** Columns that the poll changes. */
  changing: ReadonlySet<string>
  find(pointer: string, name: string): TableColumn | null
  /** SQL of a column that the poll changes. */
  changed(pointer: string, name: string): string
  fault(pointer: string, detail: string): void
}

/**
 * From the options of a poll and the catalogue to what its statements need: which columns, in which order, and what
 * becomes of the rows. Every fault of the options at once, each with what would mend it.
 */
import type { Statement } from '../../database/engine'
import type { Table, TableColumn } from '../../database/table'
import { type Fault, invalidInput } from '../../errors'
import { Identity } from './identity'
import { CLAIM_KEY_LENGTH, type Known, type OwnColumns, type Shape, type Status } from './shape-parts'
import type { PollColumns, PollShape, PollStatus } from './types'
import { conditionOf } from './where'

const TEXT = /char|text/
const MEASURED = /^(char|varchar)$/
const FLOAT = /^(float|double|real)$/

/** Throws `invalid_input`. */
export function shapeOf(known: Known, options: PollShape): Shape {
  const reading = new Reading(known, options)
  const shape = reading.shape()
  if (reading.faults.length > 0) throw invalidInput(reading.faults)
  return shape
}

/** One reading of the options: where a column is missing it goes on, for there may be more faults. */
class Reading {
  readonly faults: Fault[] = []
  readonly #known: Known
  readonly #table: Table
  readonly #options: PollShape
  /** Columns that a poll changes. */
  readonly #changing = new Set<string>()

  constructor(known: Known, options: PollShape) {
    this.#known = known
    this.#table = known.table
    this.#options = options
  }

  shape(): Shape {
    const { onFailed, lateSeconds = 3600, maxAttempts = 5, claimTimeoutSeconds = 60 } = this.#options
    const given = this.#status()
    // These say which columns change, before it is asked what tells rows apart.
    const status = given && this.#statusOf(given)
    const own = this.#own(status !== null)
    const sequence = this.#sequence()
    const identity = this.#identity(sequence)
    const onDone = this.#onDone(status !== null || own !== null, identity, sequence)
    return {
      table: this.#table,
      identity,
      status,
      own,
      sequence: status || own || onDone !== 'remember' ? null : sequence,
      onDone,
      deletesFailed: onFailed === 'delete',
      where: this.#where(),
      lateMs: lateSeconds * 1000,
      maxAttempts,
      timeoutMs: claimTimeoutSeconds * 1000,
      equal: given ? [this.#find('/status', given.column)?.name ?? ''] : [],
      order: this.#order(identity, sequence),
    }
  }

  #fault(pointer: string, detail: string): void {
    this.faults.push({ pointer, detail })
  }

  #find(pointer: string, name: string): TableColumn | null {
    const { columns } = this.#table
    const column = columns.find(({ property }) => property === name) ?? columns.find((one) => one.name === name)
    if (!column && !this.faults.some((fault) => fault.pointer === pointer)) {
      this.#fault(pointer, `the table ${this.#table.name} has no column ${name}`)
    }
    return column ?? null
  }

  /** SQL of a column that a poll changes. */
  #changed(pointer: string, name: string): string {
    const column = this.#find(pointer, name)
    if (column) this.#changing.add(column.name)
    return this.#table.escape(column?.name ?? name)
  }

  // ---- where claims and results are noted

  #status(): PollStatus | null {
    const { status } = this.#options
    return typeof status === 'string' ? { column: status } : (status ?? null)
  }

  #statusOf({ column: name, ready = 'ready', claimed, done = 'done', error = 'error' }: PollStatus): Status {
    const sql = this.#changed('/status', name)
    const column = this.#find('/status', name)
    if (column && claimed === undefined && !this.#options.claim) {
      this.#mustHoldKeys(
        '/status',
        column,
        ", or say in status.claimed which value a claimed row has, or name the table's own columns in claim",
      )
    }
    const values = Object.entries({ ready, claimed, done, error })
    for (const [what, value] of values) {
      if (value !== undefined && column?.values?.includes(String(value).toLowerCase()) === false) {
        this.#fault(`/status/${what}`, `${value} is not one of the values of the column ${column.name}`)
      }
      if (typeof value !== 'string' || !column?.length || value.length <= column.length) continue
      this.#fault(`/status/${what}`, `has more than the ${column.length} characters of the column ${column.name}`)
    }
    if (new Set([ready, done, error, claimed ?? '']).size < 4)
      this.#fault('/status', 'must have four values that differ')
    return { column: sql, ready, claimed: claimed ?? null, done, error }
  }

  #own(hasStatus: boolean): OwnColumns | null {
    const { claim } = this.#options
    if (!claim) return null
    const sql = (what: keyof PollColumns) => this.#changed(`/claim/${what}`, claim[what] as string)
    const column = this.#find('/claim/claim', claim.claim)
    if (column) this.#mustHoldKeys('/claim/claim', column, '')
    if (column && !column.isNullable) this.#fault('/claim/claim', `the column ${column.name} must take NULL`)
    const time = this.#find('/claim/nextTime', claim.nextTime)
    if (time && !this.#known.engine.rowFacts.holdsTimes(time.type)) {
      this.#fault(
        '/claim/nextTime',
        `the column ${time.name}, ${time.type}, must be a BIGINT (milliseconds) or a date and time`,
      )
    }
    if (time && !time.isNullable && hasStatus) this.#fault('/claim/nextTime', `the column ${time.name} must take NULL`)
    const error = claim.error === undefined ? null : this.#find('/claim/error', claim.error)
    // It is null again once a row is done.
    if (error && !error.isNullable) this.#fault('/claim/error', `the column ${error.name} must take NULL`)
    return {
      claim: sql('claim'),
      attempts: sql('attempts'),
      nextTime: sql('nextTime'),
      timeType: time?.type ?? 'bigint',
      error: claim.error === undefined ? null : sql('error'),
      errorLength: error?.length ?? 1000,
      errorInBytes: /text/.test(error?.type ?? ''),
    }
  }

  #mustHoldKeys(pointer: string, { name, type, length }: TableColumn, otherwise: string): void {
    const isListed = this.#known.listed.has(name)
    const isFree = this.#known.engine.family === 'sqlite'
    const fits = isFree || (MEASURED.test(type) ? (length ?? 0) >= CLAIM_KEY_LENGTH : TEXT.test(type))
    if (fits && !isListed) return
    const said = isListed ? 'a list of values' : length === null ? type : `${type}(${length})`
    this.#fault(
      pointer,
      `the column ${name}, ${said}, can't hold a batch key: make it VARCHAR(${CLAIM_KEY_LENGTH}) or longer${otherwise}`,
    )
  }

  // ---- which rows, and in which order

  #sequence(): TableColumn | null {
    const { sequence } = this.#options
    return sequence === undefined ? null : this.#find('/sequence', sequence)
  }

  #identity(sequence: TableColumn | null): Identity {
    const { rowFacts } = this.#known.engine
    const key = this.#key()
    if (key) return new Identity(this.#table, rowFacts, key, key, true)
    const lasting = this.#table.columns.filter(({ name }) => !this.#changing.has(name))
    return new Identity(this.#table, rowFacts, lasting, sequence ? [sequence] : [], false)
  }

  #key(): TableColumn[] | null {
    const { key } = this.#options
    const names = key === undefined ? this.#keyOfTable() : typeof key === 'string' ? [key] : key
    if (names === null) return null
    const columns = names.flatMap((name) => this.#find('/key', name) ?? [])
    const float = columns.find(({ type }) => FLOAT.test(type))
    if (float) this.#fault('/key', `the column ${float.name}, ${float.type}, is not exact: it tells no rows apart`)
    const changing = columns.find(({ name }) => this.#changing.has(name))
    if (changing) this.#fault('/key', `the column ${changing.name} is changed by the poll: it names no row`)
    return columns
  }

  #keyOfTable(): readonly string[] | null {
    const { primaryKey, indexes, columns } = this.#table
    const usable = (names: readonly string[]) => !names.some((name) => this.#changing.has(name))
    if (primaryKey.length > 0 && usable(primaryKey)) return primaryKey
    const nullable = new Set(columns.filter(({ isNullable }) => isNullable).map(({ name }) => name))
    const whole = indexes.find(
      (one) => one.isUnique && usable(one.columns) && !one.columns.some((name) => nullable.has(name)),
    )
    return whole?.columns ?? null
  }

  #order({ key }: Identity, sequence: TableColumn | null): string[] {
    const { claim } = this.#options
    const time = claim ? this.#find('/claim/nextTime', claim.nextTime) : null
    return [...new Set([...(time ? [time.name] : []), ...(sequence ? [sequence.name] : []), ...key])]
  }

  #where(): Statement | null {
    const { where } = this.#options
    const { deletedAt } = this.#known
    const find = (pointer: string, name: string) => {
      const column = this.#find(pointer, name)
      return column && this.#table.escape(column.name)
    }
    const given =
      where === undefined
        ? null
        : conditionOf(where, { find, fault: (pointer, detail) => this.#fault(pointer, detail) })
    if (deletedAt === null) return given
    const alive = `${this.#table.escape(deletedAt)} IS NULL`
    return given ? { ...given, sql: `${given.sql} AND ${alive}` } : { sql: alive, parameters: [] }
  }

  #onDone(canMark: boolean, { isKey }: Identity, sequence: TableColumn | null): Shape['onDone'] {
    const onDone = this.#options.onDone ?? (canMark ? 'mark' : 'remember')
    if (onDone === 'mark' && !canMark) this.#fault('/onDone', 'needs a status column, or the columns of a claim')
    if (onDone === 'remember' && canMark)
      this.#fault('/onDone', 'is for tables without a status and columns for claims: use mark')
    if (onDone === 'remember' && !isKey && !sequence) {
      this.#fault(
        '/onDone',
        'must be delete: the table has no key, and no sequence is named, by which done rows could be remembered',
      )
    }
    return onDone
  }
}

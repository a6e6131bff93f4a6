/**
 * Makes from the options of a poll and the catalogue what its statements need: which columns, in which order, and what
 * becomes of the rows. Reports every fault of the options at once, each with what would fix it.
 */
import type { Statement } from '../../database/engine'
import type { Table } from '../../database/table'
import type { TableColumn } from '../../database/table-parts'
import { type Fault, invalidInput } from '../../errors'
import { Identity } from './identity'
import { checkChanges, checkCursor, keyOf, mustHoldKeys, statusOf } from './shape-columns'
import type { KnownTable, OwnColumns, Shape, TableReading } from './shape-parts'
import type { PollColumns, PollShape, PollStatus } from './types'
import { conditionOf } from './where'

/** Throws `invalid_input`. */
export function shapeOf(known: KnownTable, options: PollShape): Shape {
  const reading = new ShapeReading(known, options)
  const shape = reading.shape()
  if (reading.faults.length > 0) throw invalidInput(reading.faults)
  return shape
}

/** One reading of the options. It goes on after a missing column, to report all faults. */
class ShapeReading {
  readonly faults: Fault[] = []
  readonly #known: KnownTable
  readonly #table: Table
  readonly #options: PollShape
  /** Columns that the poll changes. */
  readonly #changing = new Set<string>()
  readonly #reading: TableReading

  constructor(known: KnownTable, options: PollShape) {
    this.#known = known
    this.#table = known.table
    this.#options = options
    this.#reading = {
      known,
      changing: this.#changing,
      find: (pointer, name) => this.#find(pointer, name),
      changed: (pointer, name) => this.#changed(pointer, name),
      fault: (pointer, detail) => this.#fault(pointer, detail),
    }
  }

  shape(): Shape {
    const { onFailed, lateSeconds = 3600, maxAttempts = 5, claimTimeoutSeconds = 60 } = this.#options
    const given = this.#status()
    // These say which columns change: a key must not.
    const status = given && statusOf(given, this.#options, this.#reading)
    const own = this.#own(status !== null)
    const sequence = this.#sequence()
    const identity = this.#identity(sequence, own?.claim ?? (status?.claimed === null ? status.column : null))
    const onDone = this.#onDone(status !== null || own !== null, identity, sequence)
    const cursor = status || own || onDone !== 'remember' ? null : sequence
    if (cursor) checkCursor(cursor, this.#reading)
    const changes = status ? '/status' : own ? '/claim' : onDone === 'delete' ? '/onDone' : '/onFailed'
    if (changes !== '/onFailed' || onFailed === 'delete') checkChanges(changes, identity.isKey, this.#reading)
    return {
      table: this.#table,
      identity,
      status,
      own,
      sequence: cursor,
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
    if (column?.isGenerated) this.#fault(pointer, `the column ${column.name} is computed by the database`)
    return this.#table.escape(column?.name ?? name)
  }

  // ---- where claims and results are noted

  #status(): PollStatus | null {
    const { status } = this.#options
    return typeof status === 'string' ? { column: status } : (status ?? null)
  }

  #own(hasStatus: boolean): OwnColumns | null {
    const { claim } = this.#options
    if (!claim) return null
    const sql = (what: keyof PollColumns) => this.#changed(`/claim/${what}`, claim[what] as string)
    const column = this.#find('/claim/claim', claim.claim)
    if (column) mustHoldKeys('/claim/claim', column, '', this.#reading)
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
    // The poll sets it to NULL once a row is done.
    if (error && !error.isNullable) this.#fault('/claim/error', `the column ${error.name} must take NULL`)
    return {
      claim: sql('claim'),
      attempts: sql('attempts'),
      nextTime: sql('nextTime'),
      timeType: time?.type ?? 'bigint',
      timeDigits: time?.precision ?? null,
      timeIsNullable: time?.isNullable ?? true,
      error: claim.error === undefined ? null : sql('error'),
      errorLength: error?.length ?? 1000,
      errorInBytes: /text/.test(error?.type ?? ''),
    }
  }

  // ---- which rows, and in which order

  #sequence(): TableColumn | null {
    const { sequence } = this.#options
    return sequence === undefined ? null : this.#find('/sequence', sequence)
  }

  #identity(sequence: TableColumn | null, claims: string | null): Identity {
    const { rowFacts } = this.#known.engine
    const key = keyOf(this.#options.key, this.#reading)
    if (key) return new Identity(this.#table, rowFacts, key, key, true, claims)
    // Columns that the database sets by itself may change with the claim.
    const lasting = this.#table.columns.filter(
      ({ name, isUpdateTime, isGenerated }) => !this.#changing.has(name) && !isUpdateTime && !isGenerated,
    )
    return new Identity(this.#table, rowFacts, lasting, sequence ? [sequence] : [], false, claims)
  }

  #order({ key }: Identity, sequence: TableColumn | null): string[] {
    const { claim } = this.#options
    const time = claim ? this.#find('/claim/nextTime', claim.nextTime) : null
    return [...new Set([...(time ? [time.name] : []), ...(sequence ? [sequence.name] : []), ...key])]
  }

  #where(): Statement | null {
    const { where } = this.#options
    const find = (pointer: string, name: string) => {
      const column = this.#find(pointer, name)
      return column && this.#table.escape(column.name)
    }
    const given =
      where === undefined
        ? null
        : conditionOf(where, { find, fault: this.#reading.fault, placeholders: this.#known.engine.placeholders })
    const all = [...(given ? [given] : []), ...this.#known.always]
    if (all.length === 0) return null
    return { sql: all.map(({ sql }) => sql).join(' AND '), parameters: all.flatMap(({ parameters }) => parameters) }
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

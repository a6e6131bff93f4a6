/**
 * Tables with a row for each name in a queue, which is its lock: keys, message groups, turns, dedup ids. Rows are locked in the
 * order of queues and names. One that is not there is made first, so that there is something to lock.
 */
import {
  compareNames,
  type Insert,
  type Parameter,
  type Reader,
  type Row,
  type Statement,
  type Tx,
} from '../../database/engine'
import { anyOf, chunksOf } from '../chunks'

export class NamedRows<One> {
  constructor(
    private readonly table: 'queueKeys' | 'queueMessageGroups' | 'queueTurns' | 'queueDedups',
    private readonly column: string,
    /** The further columns, as a row has them that was made to be locked. */
    private readonly none: Readonly<Record<string, Parameter>>,
    private readonly nameOf: (one: One) => readonly [queueId: bigint, name: string],
    /** Rows of one statement. */
    private readonly atOnce = 200,
  ) {}

  readonly keyOf = (one: One): string => this.nameOf(one).join('/')

  readonly keyIn = (row: Row): string => `${row.queue_id}/${row[this.column]}`

  /** Each name once, in the order in which they are locked: the parts for one statement each. */
  chunks<Kind extends One>(all: Iterable<Kind>): Kind[][] {
    const distinct = new Map([...all].map((one) => [this.keyOf(one), one]))
    const sorted = [...distinct.values()].sort((a, b) => {
      const [[idA, nameA], [idB, nameB]] = [this.nameOf(a), this.nameOf(b)]
      return idA === idB ? compareNames(nameA, nameB) : idA < idB ? -1 : 1
    })
    return chunksOf(sorted, this.atOnce)
  }

  #where(some: readonly One[]): Statement {
    return anyOf(some, `(queue_id = ? AND ${this.column} = ?)`, this.nameOf)
  }

  /** SELECT of their queues, names and these columns, along the primary key. */
  select({ engine, tables }: Reader, some: readonly One[], columns: string, lock: string): Statement {
    const { sql, parameters } = this.#where(some)
    const from = `${tables[this.table]}${engine.useIndex('PRIMARY')}`
    const select = `SELECT ${engine.bigint('queue_id')} AS queue_id, ${this.column}, ${columns} FROM ${from}`
    return { sql: `${select} WHERE ${sql}${lock}`, parameters }
  }

  #upsert({ engine, tables }: Tx, updated: readonly string[], rows: readonly Parameter[][]): Insert {
    const columns = ['queue_id', this.column, ...Object.keys(this.none)]
    return engine.upsert(tables[this.table], `queue_id, ${this.column}`, columns, updated, rows)
  }

  /** Makes the rows that are not there. */
  make(tx: Tx, some: readonly One[]): Insert {
    const rows = some.map((one) => [...this.nameOf(one), ...Object.values(this.none)])
    return this.#upsert(tx, ['queue_id'], rows)
  }

  /** Writes the further columns; a row for which there are none is removed. */
  async save<Kind extends One>(
    tx: Tx,
    all: Iterable<Kind>,
    valuesOf: (one: Kind) => readonly Parameter[] | null,
  ): Promise<void> {
    for (const chunk of this.chunks(all)) {
      const rows: Parameter[][] = []
      const over: One[] = []
      for (const one of chunk) {
        const values = valuesOf(one)
        const row = [...this.nameOf(one), ...(values ?? [])]
        if (values === null) over.push(one)
        else rows.push(row)
      }
      if (rows.length > 0) await tx.later(this.#upsert(tx, Object.keys(this.none), rows))
      const { sql, parameters } = this.#where(over)
      if (over.length > 0) await tx.later(`DELETE FROM ${tx.tables[this.table]} WHERE ${sql}`, parameters)
    }
  }
}

/** The shapes of followed tables, which the library alone has. */
import type { EntityTarget, ObjectLiteral } from 'typeorm'
import type { Running } from '../../shared/running'

export type FollowedRow = ObjectLiteral

/** An entity of the store's DataSource, or the name of a table. */
export type FollowTarget<Row extends FollowedRow> = EntityTarget<Row>

/** Which key and value a row of a followed table has as an entry. */
export interface FollowOptions<Row extends FollowedRow = FollowedRow> {
  /** The feed. Default: the name of the table. */
  feed?: string | undefined
  /**
   * The nullable BIGINT property (of an entity) or column (of a table given by name) that gets the sync id. The user's own
   * code sets it to null with every change of a row. An index must begin with it.
   */
  syncColumn: string
  /** The property or column with the key of the entry: a unique text or whole number. */
  key: string
  /** The value: one property or column, several as an object, or the function's result. Default: all of them. */
  value?: string | readonly string[] | ((row: Row) => unknown) | undefined
  /** Stops it when it is aborted, as `stop()`. */
  signal?: AbortSignal | undefined
}

/** A followed table. `stop` ends publishing and serving it in this process. */
export interface Followed extends Running {
  readonly feed: string
}

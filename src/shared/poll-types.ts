/** The public shapes of polls: what a table has, and what becomes of its rows. */
/** A status column: rows go from `ready` to the batch key of their claim, then to `done` or `error`. */
export interface PollStatus {
  /** A property of the entity or a column of the table. */
  column: string
  /** The value of a row that waits, or null; `ready` when left out. */
  ready?: string | number | null | undefined
  /** The value of a row while it is claimed; when left out the batch key, 22 characters that are new with each claim. */
  claimed?: string | number | undefined
  /** `done` when left out. */
  done?: string | number | undefined
  /**
   * In place of `done`: the words of which a handler resolves to one, which becomes the status of its row. Another word, or none,
   * counts as a failed attempt. Not with `onDone: 'delete'`, and not for `pollMany`.
   */
  results?: readonly (string | number)[] | undefined
  /** `error` when left out. */
  error?: string | number | undefined
}

/** Columns of the table for what a claim has to note. */
export interface PollColumns {
  /** Text of at least 22 characters: the batch key; null while no poller works on the row. */
  claim: string
  /** A whole number: how often the row was claimed since it was made ready. */
  attempts: string
  /**
   * A BIGINT (milliseconds since 1970) or a date and time: the time from which the row may be claimed; null: at once.
   * While the row is claimed, the time at which the claim ends. For a finished row without a status, a time far in the future.
   */
  nextTime: string
  /** Text: the message of the last error. */
  error?: string | undefined
}

/** Part of a WHERE, with `?` for each parameter. */
export interface PollCondition {
  sql: string
  parameters?: readonly (string | number | bigint | null)[] | undefined
}

/** Values by property or column, all of which must match; a list matches if one of its values does. */
export type PollMatch = Record<
  string,
  string | number | bigint | boolean | null | readonly (string | number | bigint | boolean)[]
>

/** The columns of the table, and the fate of its rows. */
export interface PollShape {
  /**
   * The name under which recentn keeps the claims and the cursor. Each purpose has its own name; a second purpose
   * with the same name is refused. When left out, the name of the table, with the discriminator of a child entity.
   */
  name?: string | undefined
  /**
   * The columns that identify a row: they have no nulls, and a primary key or unique index lies within them. When left
   * out: the primary key, or a unique key without nulls, or otherwise the whole row.
   */
  key?: string | readonly string[] | undefined
  status?: string | PollStatus | undefined
  /** Claims are noted in the row. */
  claim?: PollColumns | undefined
  /**
   * A number or time that grows: rows go in its order. A stored cursor moves along it where rows are remembered, and it must
   * not be null there.
   */
  sequence?: string | undefined
  /**
   * `cycle`: rows go by their key, of one column, in turns from a place that is stored under the name of the poll. After the
   * last row the first one comes again, until it is done or has no attempts left. When left out, the first rows go first.
   */
  order?: 'cycle' | undefined
  /** How late a row may appear behind the cursor, in seconds, 0 to 315,360,000; 3600 when left out. */
  lateSeconds?: number | undefined
  /** The fate of a row that is done. When left out: `mark` if there is a status or columns for claims, otherwise `remember`. */
  onDone?: 'mark' | 'delete' | 'remember' | undefined
  /** The fate of a row whose last attempt failed; `keep` when left out. */
  onFailed?: 'keep' | 'delete' | undefined
  /** The rows to poll; others are left alone. Text is used in the WHERE unchanged. */
  where?: string | PollCondition | PollMatch | undefined
  /** 1 to 1,000,000; 5 when left out. */
  maxAttempts?: number | undefined
  /** How long a claim holds unless it is renewed, in seconds, 1 to 43,200; 60 when left out. */
  claimTimeoutSeconds?: number | undefined
}

/** The numbers of rows by state, as they are now: each one is a query. */
export interface PollCounts {
  /** Rows that a claim would take. */
  ready: number
  claimed: number
  /** Rows that failed and wait for the next attempt. */
  waiting: number
  /** Rows that have failed for good; null if such rows are deleted. */
  failed: number | null
  /** Null if such rows are deleted. Where there is a cursor, the rows behind it are not counted. */
  done: number | null
}

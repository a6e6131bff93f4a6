/** The public shapes of polls: what a table has, and what becomes of its rows. */
/** A status column: rows go from `ready` to the batch key of their claim, then to `done` or `error`. */
export interface PollStatus {
  /** A property of the entity or a column of the table. */
  column: string
  /** What a row has that waits, or null; `ready` when left out. */
  ready?: string | number | null | undefined
  /** What a row has while it is claimed; when left out the batch key, 22 characters that are new with each claim. */
  claimed?: string | number | undefined
  /** `done` when left out. */
  done?: string | number | undefined
  /** `error` when left out. */
  error?: string | number | undefined
}

/** Columns of the table for what a claim has to note. */
export interface PollColumns {
  /** Text of at least 22 characters: the batch key; null for a row that nobody works on. */
  claim: string
  /** A whole number: how often the row was claimed since it was made ready. */
  attempts: string
  /**
   * A BIGINT (milliseconds since 1970) or a date and time: from when on the row may be claimed; null: at once. Of a row
   * that is claimed, when the claim ends; of one that is finished and has no status, a time that never comes.
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

/** By properties or columns, all of which must be so; a list: one of these. */
export type PollMatch = Record<
  string,
  string | number | bigint | boolean | null | readonly (string | number | bigint | boolean)[]
>

/** What the table has, and what becomes of its rows. */
export interface PollShape {
  /**
   * Under which recentn keeps the claims and the cursor: one for each purpose, and refused to a second. The name of the
   * table when left out, with the discriminator of a child entity.
   */
  name?: string | undefined
  /**
   * What tells rows apart: columns without nulls, with a primary key or unique index within them. When left out the primary
   * key, else a unique key without nulls, else the whole row.
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
  /** How late a row may appear behind the cursor, in seconds, 0 to 315,360,000; 3600 when left out. */
  lateSeconds?: number | undefined
  /** What becomes of a row that is done. When left out: `mark` where there is a status or columns for claims, else `remember`. */
  onDone?: 'mark' | 'delete' | 'remember' | undefined
  /** What becomes of a row whose last attempt failed; `keep` when left out. */
  onFailed?: 'keep' | 'delete' | undefined
  /** Which rows: the others are left alone. Text is a part of the WHERE as it stands. */
  where?: string | PollCondition | PollMatch | undefined
  /** 1 to 1,000,000; 5 when left out. */
  maxAttempts?: number | undefined
  /** How long a claim holds that nobody renews, 1 to 43,200; 60 when left out. */
  claimTimeoutSeconds?: number | undefined
}

/** How many rows stand where. Each is as it is now, and asks the database. */
export interface PollCounts {
  /** Those that a claim would take. */
  ready: number
  claimed: number
  /** Those that have failed and wait to be tried again. */
  waiting: number
  /** Those that have failed for good; null where they were deleted. */
  failed: number | null
  /** Null where they were deleted. Of a table with a cursor: those that lie behind it are not counted. */
  done: number | null
}

/** Options that several calls have in common. */
export interface Page {
  /** At most so many, 1 to 1,000; 100 when left out. */
  limit?: number | undefined
  /** The `nextAfter` of the page before. */
  after?: string | undefined
}

export interface DryRun {
  /** Changes nothing, and resolves to how many messages it would have been, counted now. */
  dryRun?: boolean | undefined
}

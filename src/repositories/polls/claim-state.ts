/** What `poll_claims.state` says of a row. */
export const STATE = { claimed: 1, waiting: 2, done: 3, failed: 4 } as const

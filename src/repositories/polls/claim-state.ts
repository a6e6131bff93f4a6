/** What `recentn_poll_claims.state` says of a row. `locked`: of a claim in columns of the row, which somebody else has locked. */
export const STATE = { claimed: 1, waiting: 2, done: 3, failed: 4, locked: 5 } as const

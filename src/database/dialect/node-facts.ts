/** The facts of engines that differ on a node of a cluster. */
export interface NodeFacts {
  /**
   * Locks the next rows to work on: skips locked rows where that is safe. On a node of a Galera cluster it waits for them,
   * because nodes crash there when SKIP LOCKED meets a row that another node changes.
   */
  readonly forNext: string
  /**
   * True where a statement may commit by itself. On a node of a Galera cluster it must not: if its commit is replayed, the
   * answer with its rows is lost. Nor may a packet hold several statements with an effect there (`packets.ts`).
   */
  readonly commitsAlone: boolean
  /** SQL: between these two, reads wait until the server has applied what the cluster committed before; null on one server. */
  readonly caughtUp: { readonly begin: readonly string[]; readonly end: string } | null
  /** SQL: the members of its group; empty for a server that is in none. */
  readonly members: string
  /** True where the step between ids may change between two statements, so that an INSERT must return its ids. */
  readonly returnsIds: boolean
}

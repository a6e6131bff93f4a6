/**
 * The requests of many callers. A repository says what goes together and how it waits, and a mechanism of the kit does it: both
 * know these shapes, and neither knows the other.
 */

/** Gets the result of a request. `reject` gets the error that `resolve` throws. */
export interface Requester<Result> {
  resolve(result: Result): void
  reject(error: unknown): void
}

/** Which requests one statement answers, or a few. */
export interface Merging<Request, Result> {
  /** The counted things, as an error names them. */
  what: string
  /** Requests of one kind may go together. One kind when left out. */
  kindOf?(request: Request): string
  /** 1 when left out. */
  sizeOf?(request: Request): number
  /** The size of one statement; one request is taken whatever its size. */
  maxBatchSize: number
  /**
   * The first request is sent at once, and the others of its turn of the event loop collect beside it. The server works while
   * this process reads the answers of the statement before. Otherwise requests of one turn go together.
   */
  startsAtOnce?: boolean
  /** The request to make in the place of one whose result is not its answer; undefined where it is. */
  again?(request: Request, result: Result): Request | undefined
  /** The key that two statements in flight must not have in common. */
  idsOf?(request: Request): readonly string[]
}

/** A call that looks for something, and may wait for events of a topic in order to look again. */
export interface Waiting<Mark = void> {
  /** Called before each look: events from now on end the next wait. */
  look(): void
  /**
   * Resolves to true when it is time to look again, at the latest after `withinMs`, and to false when the call is to be
   * answered.
   */
  again(mark: Mark, withinMs?: number): Promise<boolean>
  leave(): void
}

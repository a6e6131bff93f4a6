/**
 * How a repository has its operations run. In a transaction, and without a store, each call runs by itself. A store gives its
 * repositories runners in which calls share statements and commits, and lets callers wait for news.
 */
import { invalidInput } from '../shared/errors'

/** Runs a request, at once or together with other requests of its key. */
export interface Runner<Request, Result, Size = number, Key = string> {
  readonly add: (key: Key, request: Request, size: Size) => Promise<Result>
}

export function alone<Request, Result, Size>(
  run: (request: Request) => Promise<Result>,
): Runner<Request, Result, Size, unknown> {
  return { add: (_, request) => run(request) }
}

/** A call that looks for something, and may wait for news of a topic in order to look again. */
export interface Waiting<Mark = void> {
  /** Called before each look: news from now on are news for the next wait. */
  look(): void
  /** Resolves to true when it is time to look again, and to false when the call is to be answered. */
  news(mark: Mark): Promise<boolean>
  /** Resolves as the look does, or to null once the caller has aborted. */
  unlessAborted<T>(look: Promise<T>): Promise<T | null>
  leave(): void
}

export interface WaitOptions {
  waitMs: number
  signal: AbortSignal | undefined
}

/** Lets callers wait. Throws where a call can't be taken. */
export interface Waits<Mark = void> {
  enter(topic: string, options: WaitOptions): Waiting<Mark>
}

const once: Waiting<unknown> = {
  look: () => {},
  news: async () => false,
  unlessAborted: (look) => look,
  leave: () => {},
}

/** Calls look once, and can't wait. */
export const noWaits: Waits<unknown> = {
  enter(_, { waitMs }) {
    if (waitMs === 0) return once
    throw invalidInput([{ pointer: '/waitSeconds', detail: 'must be 0 inside a transaction, and without a store' }])
  },
}

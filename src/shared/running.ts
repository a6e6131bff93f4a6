/// <reference lib="esnext.disposable" preserve="true" />
/** What workers, consumers, pollers and followed tables have in common: how they are stopped. Browsers load this file too. */

export interface StopOptions {
  /** Seconds to wait for running handlers before their signals are aborted and their claims released; no limit when left out. */
  timeoutSeconds?: number | undefined
}

/** What runs until it is stopped: by `stop`, by its `signal`, by `await using`, or because its store is closed. */
export interface Running {
  /**
   * Begins nothing more, and resolves when the handlers that run have ended. After `timeoutSeconds` their signals are
   * aborted, and a second later what they had claimed is released. A consumer resolves at once when its own handler calls
   * it; a handler of a worker must not wait for it. Repeatable.
   */
  stop(options?: StopOptions): Promise<void>
  /** Resolves when it has stopped, for whatever reason. */
  readonly stopped: Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

/** A class of what runs calls `ended` when it has stopped. */
export abstract class Stoppable implements Running {
  protected ended: () => void = () => {}
  readonly stopped = new Promise<void>((resolve) => {
    this.ended = resolve
  })

  abstract stop(options?: StopOptions): Promise<void>

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop()
  }

  /** Stops when the signal is aborted, which may be so already. */
  protected stopBy(signal: AbortSignal | undefined, stop: () => unknown = () => this.stop()): void {
    if (!signal) return
    if (signal.aborted) stop()
    signal.addEventListener('abort', stop)
    void this.stopped.then(() => signal.removeEventListener('abort', stop))
  }
}

/** The hook `around` of what runs. */
export type Around<Given> = ((given: Given, next: () => Promise<unknown>) => unknown) | undefined

/** The handler within the hook. */
export function surrounded<Given, Context>(
  around: Around<Given>,
  handler: (given: Given, context: Context) => unknown,
): (given: Given, context: Context) => unknown {
  if (!around) return handler
  return (given, context) => around(given, async () => handler(given, context))
}

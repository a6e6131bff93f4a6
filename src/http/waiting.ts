/**
 * Requests that wait for something to happen. The waiting ends early if the client is gone or the server stops: the
 * handler gets one signal for both, and answers with what it has.
 */
import type { IncomingMessage } from 'node:http'
import { SenderGone } from './input/body'

export class WaitingRequests {
  readonly #waiting = new Set<AbortController>()

  constructor(private readonly stopping?: AbortSignal) {
    // One listener for all requests: the signal lives as long as the server and must not collect listeners.
    stopping?.addEventListener('abort', () => {
      for (const ending of this.#waiting) ending.abort()
    })
  }

  /** Runs `work` with a signal that ends its waiting. Throws `SenderGone` if the client is gone already. */
  async run<T>(request: IncomingMessage, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const { socket } = request
    if (socket.destroyed) throw new SenderGone()
    const ending = new AbortController()
    const end = () => ending.abort()
    if (this.stopping?.aborted) end()
    this.#waiting.add(ending)
    // The request closes once its body has been read, and its answer may wait for earlier answers: only the connection
    // shows that the client is gone.
    socket.once('close', end)
    try {
      return await work(ending.signal)
    } finally {
      socket.off('close', end)
      this.#waiting.delete(ending)
    }
  }
}

/** One connection to a stream of server-sent events: its events until it ends, and the notice that it is dead. */
import { createParser, type EventSourceMessage } from 'eventsource-parser'
import { RecentnError } from '../errors'
import { limitOf } from './signals'
import { type Transport, unreachable } from './transport'

export class Connection {
  readonly #transport: Transport
  readonly #group: string
  readonly #idleMs: number
  readonly #ending: AbortSignal
  /** What the server wants between two connections. */
  retryMs = 1000

  constructor(transport: Transport, group: string, idleMs: number, ending: AbortSignal) {
    this.#transport = transport
    this.#group = group
    this.#idleMs = idleMs
    this.#ending = ending
  }

  /**
   * The events of one connection, of which the first is null: it stands. Ends when the server ends it; throws when it
   * can't be had, is cut, or nothing has come for too long, heartbeats included.
   */
  async *events(after: bigint): AsyncGenerator<EventSourceMessage | null, void, undefined> {
    const limit = limitOf(this.#ending, this.#transport.timeoutMs)
    const headers = { Accept: 'text/event-stream' }
    try {
      const response = await this.#transport.open(
        'streamGroup',
        { path: { group: this.#group }, query: { after }, headers },
        limit,
      )
      limit.stopClock()
      if (!response.body || !response.headers.get('Content-Type')?.startsWith('text/event-stream')) {
        throw new RecentnError('unexpected_answer', 'The answer is no stream of events', { status: response.status })
      }
      yield null
      yield* this.#read(response.body.getReader(), limit.abort)
    } catch (error) {
      throw error instanceof RecentnError ? error : unreachable(error, limit)
    } finally {
      limit.release()
      limit.abort()
    }
  }

  async *#read(
    reader: ReadableStreamDefaultReader<Uint8Array>,
    abort: () => void,
  ): AsyncGenerator<EventSourceMessage, void, undefined> {
    const came: EventSourceMessage[] = []
    const parser = createParser({
      onEvent: (event) => came.push(event),
      onRetry: (ms) => {
        this.retryMs = ms
      },
    })
    const decoder = new TextDecoder()
    for (;;) {
      const { done, value } = await this.#inTime(reader.read(), abort)
      if (done) return
      parser.feed(decoder.decode(value, { stream: true }))
      yield* came.splice(0)
    }
  }

  async #inTime<T>(work: Promise<T>, abort: () => void): Promise<T> {
    let isSilent = false
    const timer = setTimeout(() => {
      isSilent = true
      abort()
    }, this.#idleMs)
    try {
      return await work
    } catch (error) {
      if (!isSilent) throw error
      throw new RecentnError('unreachable', `Nothing has come for ${this.#idleMs} ms, not even a heartbeat`)
    } finally {
      clearTimeout(timer)
    }
  }
}

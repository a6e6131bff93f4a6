/** One connection to the stream of a group: its events until it ends, and the notice that it is dead. */

import { RecentnError } from '../shared/recentn-error'
import { decoded, errorOf, requestOf } from './format'
import * as operations from './operations'
import { type TimeLimit, timeLimit } from './retry'
import { type Transport, unreachable } from './transport'
import type { GroupRemoved, GroupReset, Item } from './wire'

/**
 * A change of a group's window. To have the window, keep the newest `capacity` items of these events without the removed
 * ones; in a `history` group drop also those whose id is `capacity` or more below the newest, in a `distinct` group the
 * member's older item. An `item` event may be of an item that a page read meanwhile has already.
 */
export type GroupEvent<Payload = unknown> =
  | { type: 'item'; item: Item<Payload> }
  /** The item left the window, but not because newer items filled it. The listener may not have the item. */
  | ({ type: 'removed' } & GroupRemoved)
  /**
   * Discard your local state and read the group again. Leave out items with an id of `totalAppended` or more: they follow as
   * events, and so do later changes.
   */
  | ({ type: 'reset' } & GroupReset)

/** Characters. A payload has 64 KiB, of which each byte may be escaped. */
const MAX_EVENT = 1 << 20

export class GroupStream {
  /** How long the server wants clients to wait before they connect again. */
  retryMs = 1000

  constructor(
    private readonly transport: Transport,
    private readonly group: string,
    private readonly idleSeconds: number,
    private readonly ending: AbortSignal,
  ) {}

  /**
   * Connects, and gives the events of the items after `after` and what follows them; with `resumes` also what was removed
   * since a stream ended there. Ends when the server ends the connection. Throws if the connection fails, breaks, or stays
   * silent too long: the server sends heartbeats.
   */
  async *events(after: bigint, resumes = false): AsyncGenerator<'connected' | GroupEvent, void, undefined> {
    const limit = timeLimit(this.ending, this.transport.timeoutSeconds * 1000)
    const headers = { Accept: 'text/event-stream', ...(resumes && { 'Last-Event-ID': String(after) }) }
    const parts = { path: { group: this.group }, query: { after }, headers }
    try {
      const response = await this.transport.fetch(requestOf(operations.streamGroup, parts), limit)
      if (!response.ok) throw errorOf(response.status, response.headers, await response.text())
      limit.stopClock()
      if (!response.body || !response.headers.get('Content-Type')?.startsWith('text/event-stream')) {
        throw new RecentnError('unexpected_answer', 'The answer is not a stream of events', { status: response.status })
      }
      yield 'connected'
      yield* this.#read(response.body.getReader(), limit)
    } catch (error) {
      throw error instanceof RecentnError ? error : unreachable(error, limit)
    } finally {
      limit.release()
      limit.abort()
    }
  }

  async *#read(
    reader: ReadableStreamDefaultReader<Uint8Array>,
    limit: TimeLimit,
  ): AsyncGenerator<GroupEvent, void, undefined> {
    const decoder = new TextDecoder()
    let text = ''
    for (;;) {
      const { done, value } = await this.#inTime(reader.read(), limit)
      if (done) return
      // The server ends each event with an empty line.
      const blocks = (text + decoder.decode(value, { stream: true })).split('\n\n')
      text = blocks.pop() as string
      if (text.length > MAX_EVENT) throw new RecentnError('unexpected_answer', 'An event of the stream is too long')
      for (const block of blocks) {
        const event = this.#eventOf(block)
        if (event !== null) yield event
      }
    }
  }

  async #inTime<T>(work: Promise<T>, limit: TimeLimit): Promise<T> {
    let isSilent = false
    const timer = setTimeout(() => {
      isSilent = true
      limit.abort()
    }, this.idleSeconds * 1000)
    try {
      return await work
    } catch (error) {
      if (!isSilent) throw error
      const silence = `Nothing has come for ${this.idleSeconds} s, not even a heartbeat`
      throw new RecentnError('unreachable', silence, { status: 503 })
    } finally {
      clearTimeout(timer)
    }
  }

  /** Null for a comment, and for a kind of event that this version does not know. */
  #eventOf(block: string): GroupEvent | null {
    const fields: Record<string, string> = {}
    for (const line of block.split('\n')) {
      const [, name, value] = /^(\w+): ?(.*)/.exec(line) ?? []
      if (name) fields[name] = name in fields ? `${fields[name]}\n${value}` : (value as string)
    }
    const { event: type, data, retry } = fields
    if (retry) this.retryMs = Number(retry)
    if (data === undefined) return null
    const value = this.transport.parse(data)
    if (type === 'item') return { type, item: decoded(value, operations.itemShape) as Item }
    if (type === 'removed') return { type, id: (decoded(value, operations.groupRemovedShape) as GroupRemoved).id }
    return type === 'reset' ? { type, ...(decoded(value, operations.groupResetShape) as GroupReset) } : null
  }
}

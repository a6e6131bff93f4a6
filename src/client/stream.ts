/** One connection to the stream of a group: its events until it ends, and the notice that it is dead. */

import type { GroupEvent } from '../shared/group-types'
import { RecentnError } from '../shared/recentn-error'
import { errorOf, requestOf } from './format'
import { streamGroup } from './operations'
import { type TimeLimit, timeLimit } from './retry'
import { type Transport, unreachable } from './transport'

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
      const response = await this.transport.fetch(requestOf(streamGroup, parts), limit)
      if (!response.ok) throw errorOf(response.status, response.headers, await response.text())
      if (!response.body || !response.headers.get('Content-Type')?.startsWith('text/event-stream')) {
        throw new RecentnError('unexpected_answer', 'The answer is not a stream of events', { status: response.status })
      }
      yield 'connected'
      yield* this.#read(response.body.getReader(), limit)
    } catch (error) {
      throw error instanceof RecentnError ? error : unreachable(error, limit)
    } finally {
      limit.end()
    }
  }

  async *#read(
    reader: ReadableStreamDefaultReader<Uint8Array>,
    limit: TimeLimit,
  ): AsyncGenerator<GroupEvent, void, undefined> {
    const decoder = new TextDecoder()
    let text = ''
    for (;;) {
      // A reader that takes its time does not count as silence of the server.
      limit.clock(this.idleSeconds * 1000, `nothing has come for ${this.idleSeconds} s`)
      const { done, value } = await reader.read()
      limit.clock()
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

  /** Null for a comment, and for a kind of event that this version does not know. */
  #eventOf(block: string): GroupEvent | null {
    const fields: Record<string, string> = {}
    for (const line of block.split('\n')) {
      const [, name, value] = /^(\w+): ?(.*)/.exec(line) ?? []
      if (name) fields[name] = name in fields ? `${fields[name]}\n${value}` : (value as string)
    }
    const { event: type, data, retry } = fields
    if (retry) this.retryMs = Number(retry)
    if (data === undefined || !/^(item|removed|reset)$/.test(type as string)) return null
    const value = this.transport.parse(data) as object
    return (type === 'item' ? { type, item: value } : { type, ...value }) as GroupEvent
  }
}

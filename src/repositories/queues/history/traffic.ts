/** The work of this process on each queue since it last wrote the history: plain numbers, of committed work. No SQL. */
export interface Traffic {
  sent: number
  acked: number
  failed: number
}

export class QueueTraffic {
  /** The end of the last coarse step that this process has seen written, in milliseconds. */
  roundedMs = 0
  #queues = new Map<string, Traffic>()

  get isEmpty(): boolean {
    return this.#queues.size === 0
  }

  add(queue: string, what: keyof Traffic, count: number): void {
    if (count > 0) this.#of(queue)[what] += count
  }

  /** All of it; counting begins again. */
  take(): ReadonlyMap<string, Traffic> {
    const taken = this.#queues
    this.#queues = new Map()
    return taken
  }

  /** It could not be written. */
  giveBack(taken: ReadonlyMap<string, Traffic>): void {
    for (const [queue, { sent, acked, failed }] of taken) {
      const all = this.#of(queue)
      all.sent += sent
      all.acked += acked
      all.failed += failed
    }
  }

  #of(queue: string): Traffic {
    const known = this.#queues.get(queue)
    if (known) return known
    const made = { sent: 0, acked: 0, failed: 0 }
    this.#queues.set(queue, made)
    return made
  }
}

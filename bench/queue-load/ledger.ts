/**
 * Which messages were sent and which were handled, by the mark in each. A message that a worker sees before its sender
 * has its answer counts as handled all the same.
 */
import { letterOf, markOf } from '../letters'
import type { Letter, WorkQueue } from '../types'

/** A queue that hands nothing out for so long is not going to. */
const PATIENCE_MS = 20_000

export class Ledger {
  sent = 0
  /** Different ones. */
  handled = 0
  repeated = 0
  readonly faults: string[] = []
  private times = new Uint8Array(1 << 16)
  private foreign = 0
  private whenAll: (() => void) | null = null

  next(): Letter {
    if (this.sent === this.times.length) {
      const longer = new Uint8Array(2 * this.sent)
      longer.set(this.times)
      this.times = longer
    }
    return letterOf(this.sent++)
  }

  bulk(size: number): Letter[] {
    return Array.from({ length: size }, () => this.next())
  }

  /** To be called by the handler. Gives the mark, -1 for what was never sent. */
  readonly handle = (body: unknown): number => {
    const mark = markOf(body)
    if (mark < 0 || mark >= this.sent) {
      this.foreign++
      return -1
    }
    const times = this.times[mark] as number
    this.times[mark] = Math.min(255, times + 1)
    if (times > 0) this.repeated++
    else if (++this.handled === this.sent) this.whenAll?.()
    return mark
  }

  readonly fault = (text: string): void => {
    this.faults.push(text)
  }

  /** Resolves when all that was sent is handled, or nothing comes any more. Nothing may be sent meanwhile. */
  async all(): Promise<void> {
    if (this.handled === this.sent) return
    await new Promise<void>((resolve) => {
      let before = this.handled
      const look = setInterval(() => {
        if (this.handled === before) done()
        before = this.handled
      }, PATIENCE_MS)
      const done = () => {
        clearInterval(look)
        resolve()
      }
      this.whenAll = done
    })
  }

  /** To be called when the worker is stopped. */
  async check(queue: WorkQueue): Promise<{ faults: string[]; note: string }> {
    const faults = [...this.faults]
    if (this.handled < this.sent) faults.push(`${this.sent - this.handled} of ${this.sent} messages were not handled`)
    if (this.foreign > 0) faults.push(`${this.foreign} messages were handled that nobody sent`)
    const left = await queue.left()
    if (left > 0) faults.push(`${left} messages are left behind`)
    const repeated = this.repeated === 0 ? 'none twice' : `${this.repeated} more than once`
    return { faults, note: `${this.sent} messages, each handled, ${repeated}; none left` }
  }
}

/**
 * A set of names, for logs with more names than a `Set` can hold (2^24).
 *
 * Keeps 8 bytes of a digest of each name. Among 40 million names, the chance that two count as one is 1 in 20,000.
 */
import { createHash } from 'node:crypto'

const FIRST_SIZE = 1 << 12

export class NameSet {
  #size = 0
  #slots = new BigUint64Array(FIRST_SIZE)

  get size(): number {
    return this.#size
  }

  has(name: string): boolean {
    const key = keyOf(name)
    return this.#slots[this.#slotOf(key)] === key
  }

  /** True if the name is new. */
  add(name: string): boolean {
    const key = keyOf(name)
    const slot = this.#slotOf(key)
    if (this.#slots[slot] === key) return false
    this.#slots[slot] = key
    this.#size++
    if (this.#size > this.#slots.length / 2) this.#grow()
    return true
  }

  /** The slot of the key, or the empty one where it belongs. Open addressing; the length is a power of two. */
  #slotOf(key: bigint): number {
    const mask = this.#slots.length - 1
    let slot = Number(key & 0x7fffffffn) & mask
    while (this.#slots[slot] !== 0n && this.#slots[slot] !== key) slot = (slot + 1) & mask
    return slot
  }

  #grow(): void {
    const keys = this.#slots
    this.#slots = new BigUint64Array(keys.length * 2)
    for (const key of keys) if (key !== 0n) this.#slots[this.#slotOf(key)] = key
  }
}

/** Never 0, which marks an empty slot. */
function keyOf(name: string): bigint {
  return createHash('sha256').update(name).digest().readBigUInt64LE() || 1n
}

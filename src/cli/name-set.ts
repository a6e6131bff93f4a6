/**
 * Which names were seen: for logs with more of them than a `Set` holds (2^24) or memory should.
 *
 * Keeps 8 bytes of a digest of each name. Two of 40 million names are taken for one with a chance of 1 to 20,000.
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

  /** True when the name was not there. */
  add(name: string): boolean {
    const key = keyOf(name)
    const slot = this.#slotOf(key)
    if (this.#slots[slot] === key) return false
    this.#slots[slot] = key
    this.#size++
    if (this.#size > this.#slots.length / 2) this.#grow()
    return true
  }

  /** Where the key is, or the empty slot where it belongs: open addressing, the length a power of two. */
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

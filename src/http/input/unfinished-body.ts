/** The part of a body that has come. All of them count together, whichever requests they are of. */
import { HeldBytes, MIB } from '../held-bytes'

/** Of all unfinished bodies of the process. */
const unfinished = new HeldBytes(64 * MIB)

/** What a chunk takes beside its bytes: a sender may send a body byte by byte. */
const CHUNK_BYTES = 512

/** So many chunks are made one. */
const MOST_CHUNKS = 1024

export class UnfinishedBody {
  /** Bytes that have come. */
  size = 0
  #merged: Buffer[] = []
  #chunks: Buffer[] = []
  #held = 0

  static get areTooMany(): boolean {
    return unfinished.held > unfinished.limit
  }

  add(chunk: Buffer): void {
    this.size += chunk.length
    this.#chunks.push(chunk)
    this.#hold(chunk.length + CHUNK_BYTES)
    if (this.#chunks.length < MOST_CHUNKS) return
    this.#merged.push(Buffer.concat(this.#chunks))
    this.#chunks = []
    this.#hold(-(MOST_CHUNKS - 1) * CHUNK_BYTES)
  }

  whole(): Buffer {
    const all = this.#merged.length === 0 ? this.#chunks : [...this.#merged, ...this.#chunks]
    return all.length === 1 ? (all[0] as Buffer) : Buffer.concat(all, this.size)
  }

  /** Forgets what has come. */
  drop(): void {
    this.#merged = []
    this.#chunks = []
    this.#hold(-this.#held)
  }

  #hold(bytes: number): void {
    this.#held += bytes
    unfinished.add(bytes)
  }
}

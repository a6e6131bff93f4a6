/**
 * API keys as a process knows them. The answer about an id, a key or that there is none, holds for `AGE_MS`, so that a
 * revocation applies in every process within 5 seconds. From `FRESH_MS` on the id is looked up again in the background, so
 * that a key in use never waits for the database. One look-up runs at a time, for all ids that wait by then, and what
 * waits and what is remembered is bounded. Any number of wrong keys costs one connection and no more memory.
 */
import { timingSafeEqual } from 'node:crypto'
import { faultsOf, refuse } from '../fields/field'
import { partsOf, SECRET_LENGTH, VERIFY_RULES } from '../fields/keys'
import { MergedCalls } from '../kit/merged-calls'
import { hashOf, type KeyRepository, type KnownKey, USE_MS } from '../repositories/keys/repository'
import { endsWithin, sharing } from '../shared/backoff'
import { RecentnError } from '../shared/errors'
import type { ApiKey, CreatedKey, KeyPage, Keys, NewKey } from '../shared/key-types'
import { CLOCK, clearTimeout, outside, performance, setTimeout } from '../shared/platform'
import type { Page } from '../shared/types'

const FRESH_MS = 1000
const AGE_MS = 3000
const MAX_KNOWN = 10_000
const MAX_WAITING = 5000
const IDS_AT_ONCE = 250
/** How long uses are collected before they are written. */
const GATHER_MS = 1000

/** A secret is compared with this where there is no key: the time that it takes does not show which ids exist. */
const NO_HASH = Buffer.alloc(32)
const NO_SECRET = Buffer.alloc(SECRET_LENGTH)

interface KeyAnswer {
  key: KnownKey | null
  atMs: number
}

export class KnownKeys implements Keys {
  readonly #known = new Map<string, KeyAnswer>()
  readonly #lookUps: MergedCalls<string, KnownKey | null>
  /** The look-ups that are not answered yet, by id: all callers of an id share one. */
  readonly #sought = new Map<string, Promise<KnownKey | null>>()
  #waiting = 0
  #revocations = 0
  readonly #asked = sharing(() => outside(() => this.#ask()))
  #exist = { answer: false, atMs: Number.NEGATIVE_INFINITY }
  /** When a use of a key was last written, of those that are known. */
  readonly #usedAt = new Map<string, number>()
  /** The secrets that were found right: a key in use is hashed once with each look-up, and not with each request. */
  readonly #right = new WeakMap<KnownKey, Buffer>()
  #uses = new Set<string>()
  #timer: NodeJS.Timeout | null = null
  #writing: Promise<void> = Promise.resolve()
  #isClosed = false

  constructor(private readonly repository: KeyRepository) {
    this.#lookUps = new MergedCalls({
      what: 'keys',
      atOnce: 1,
      maxBatchSize: IDS_AT_ONCE,
      maxPendingSize: Number.POSITIVE_INFINITY,
      // A look-up serves many callers, and may be begun inside a transaction of one of them.
      run: (ids) => outside(() => this.#lookUp(ids)),
    })
  }

  async create(key: NewKey): Promise<CreatedKey> {
    const created = await this.repository.create(key)
    this.#exist = { answer: true, atMs: performance.now() }
    return created
  }

  list(options?: Page): Promise<KeyPage> {
    return this.repository.list(options)
  }

  async revoke(id: string): Promise<boolean> {
    const wasThere = await this.repository.revoke(id)
    this.#known.delete(id)
    this.#sought.delete(id)
    this.#revocations++
    return wasThere
  }

  /** At most 3 seconds late to say that there is one. */
  async exist(): Promise<boolean> {
    return this.known() ?? this.#waited(() => this.#asked())
  }

  known(): boolean | null {
    const { answer, atMs } = this.#exist
    if (answer) return true
    const ageMs = performance.now() - atMs
    if (ageMs > AGE_MS) return null
    if (ageMs > FRESH_MS) this.#asked().catch(() => {})
    return false
  }

  async #ask(): Promise<boolean> {
    const atMs = performance.now()
    const answer = await this.repository.exist()
    if (!this.#exist.answer) this.#exist = { answer, atMs }
    return this.#exist.answer
  }

  async verify(text: string, options?: { timeLimitMs?: number }): Promise<ApiKey | null> {
    if (options !== undefined) refuse(faultsOf(options, VERIFY_RULES))
    const timeLimitMs = options?.timeLimitMs
    const parts = partsOf(text)
    if (parts === null) return null
    const key = await (timeLimitMs === undefined ? this.#find(parts.id) : this.#findWithin(parts.id, timeLimitMs))
    if (!this.#isRight(parts.secret, key) || key === null || key.revokedAt !== null) return null
    this.#use(key.id)
    const { secretHash: _, ...shown } = key
    return shown
  }

  #isRight(secret: string, key: KnownKey | null): boolean {
    const given = Buffer.from(secret)
    if (timingSafeEqual(given, (key && this.#right.get(key)) ?? NO_SECRET)) return true
    const isRight = timingSafeEqual(hashOf(secret), key?.secretHash ?? NO_HASH)
    if (isRight && key !== null) this.#right.set(key, given)
    return isRight
  }

  async close(): Promise<void> {
    this.#isClosed = true
    await this.#write()
  }

  async #find(id: string): Promise<KnownKey | null> {
    const known = this.#known.get(id)
    const ageMs = known === undefined ? Number.POSITIVE_INFINITY : performance.now() - known.atMs
    if (known === undefined || ageMs > AGE_MS) return this.#waited(() => this.#seek(id))
    if (ageMs > FRESH_MS) this.#seek(id).catch(() => {})
    return known.key
  }

  async #findWithin(id: string, timeLimitMs: number): Promise<KnownKey | null> {
    const found = this.#find(id)
    const isInTime = await endsWithin(CLOCK, timeLimitMs, found).catch((error: unknown) => {
      if (!this.#known.has(id)) throw error
    })
    const last = isInTime ? { key: await found } : this.#known.get(id)
    if (last === undefined)
      throw new RecentnError('database_unavailable', 'The database does not say whose key this is')
    return last.key
  }

  #seek(id: string): Promise<KnownKey | null> {
    const known = this.#sought.get(id)
    if (known) return known
    const sought = new Promise<KnownKey | null>((resolve, reject) =>
      this.#lookUps.hand(id, { resolve, reject }),
    ).finally(() => {
      if (this.#sought.get(id) === sought) this.#sought.delete(id)
    })
    this.#sought.set(id, sought)
    return sought
  }

  async #waited<T>(ask: () => Promise<T>): Promise<T> {
    if (this.#waiting >= MAX_WAITING) {
      throw new RecentnError('overloaded', `${MAX_WAITING} callers wait for keys`, { retryAfterSeconds: 1 })
    }
    this.#waiting++
    try {
      return await ask()
    } finally {
      this.#waiting--
    }
  }

  async #lookUp(ids: readonly string[]): Promise<(KnownKey | null)[]> {
    const atMs = performance.now()
    const revocations = this.#revocations
    const found = await this.repository.find(ids)
    return ids.map((id) => {
      const key = found.get(id) ?? null
      // An answer that was read while a key was being revoked may be from before.
      if (revocations === this.#revocations) this.#remember(id, { key, atMs })
      return key
    })
  }

  /** The map is in the order of the look-ups, so that the key that was looked up longest ago is forgotten first. */
  #remember(id: string, known: KeyAnswer): void {
    this.#known.delete(id)
    this.#known.set(id, known)
    if (this.#known.size > MAX_KNOWN) this.#known.delete(this.#known.keys().next().value as string)
  }

  #use(id: string): void {
    const now = performance.now()
    if (this.#isClosed || now - (this.#usedAt.get(id) ?? Number.NEGATIVE_INFINITY) < USE_MS) return
    this.#usedAt.delete(id)
    this.#usedAt.set(id, now)
    if (this.#usedAt.size > MAX_KNOWN) this.#usedAt.delete(this.#usedAt.keys().next().value as string)
    this.#uses.add(id)
    this.#timer ??= setTimeout(() => void this.#write(), GATHER_MS).unref()
  }

  #write(): Promise<void> {
    if (this.#timer) clearTimeout(this.#timer)
    this.#timer = null
    const ids = [...this.#uses].sort()
    this.#uses = new Set()
    this.#writing = this.#writing.then(async () => {
      for (let from = 0; from < ids.length; from += IDS_AT_ONCE) {
        // A failure here is no reason for an error: the time is written with the next use.
        await this.repository.used(ids.slice(from, from + IDS_AT_ONCE)).catch(() => {})
      }
    })
    return this.#writing
  }
}

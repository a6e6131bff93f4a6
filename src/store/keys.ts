/**
 * API keys as a process knows them. What was looked up of an id, a key or that there is none, holds for `AGE_MS`, so
 * that a revocation is obeyed by every process within 5 seconds; from `FRESH_MS` on it is looked up anew meanwhile, so
 * that nobody who comes again waits for the database. One look-up runs at a time, for all ids that are wanted by then,
 * and what waits and what is remembered is bounded: any number of wrong keys costs one connection and no more memory.
 */
import { AsyncResource } from 'node:async_hooks'
import { timingSafeEqual } from 'node:crypto'
import { RecentnError } from '../errors'
import { faultsOf, refuse } from '../fields/field'
import { partsOf, VERIFY_RULES } from '../fields/keys'
import { within } from '../kit/patience'
import { hashOf, type KeyRepository, type KnownKey, USE_MS } from '../repositories/keys/repository'
import type { ApiKey, CreatedKey, KeyPage, Keys, NewKey } from '../repositories/keys/types'
import type { Page } from '../repositories/types'

const FRESH_MS = 1000
const AGE_MS = 3000
const MAX_KNOWN = 10_000
const MAX_WAITING = 5000
const IDS_AT_ONCE = 250
/** Uses are gathered so long. */
const GATHER_MS = 1000

/** A look-up serves many callers: it runs inside no transaction of one of them. */
const OUTSIDE = new AsyncResource('recentn.KnownKeys')

/** What a secret is compared with where there is no key: nobody can tell from the time which ids there are. */
const NO_HASH = Buffer.alloc(32)

interface Known {
  key: KnownKey | null
  atMs: number
}

interface Wanted {
  result: Promise<KnownKey | null>
  resolve(key: KnownKey | null): void
  reject(error: unknown): void
}

export class KnownKeys implements Keys {
  readonly #repository: KeyRepository
  readonly #known = new Map<string, Known>()
  /** Not asked for yet. */
  #wanted = new Map<string, Wanted>()
  #waiting = 0
  #isLooking = false
  #revocations = 0
  #asking: Promise<boolean> | null = null
  #exist = { answer: false, atMs: Number.NEGATIVE_INFINITY }
  /** When a use of a key was last written, of those that are known. */
  readonly #usedAt = new Map<string, number>()
  #uses = new Set<string>()
  #timer: NodeJS.Timeout | null = null
  #writing: Promise<void> = Promise.resolve()
  #isClosed = false

  constructor(repository: KeyRepository) {
    this.#repository = repository
  }

  async create(key: NewKey): Promise<CreatedKey> {
    const created = await this.#repository.create(key)
    this.#exist = { answer: true, atMs: performance.now() }
    return created
  }

  list(options?: Page): Promise<KeyPage> {
    return this.#repository.list(options)
  }

  async revoke(id: string): Promise<boolean> {
    const wasThere = await this.#repository.revoke(id)
    this.#known.delete(id)
    this.#revocations++
    return wasThere
  }

  /** At most 3 seconds late to say that there is one. */
  async exist(): Promise<boolean> {
    return this.known() ?? this.#waited(() => this.#asked())
  }

  /** As `exist`, where nobody has to be waited for; null else. */
  known(): boolean | null {
    const { answer, atMs } = this.#exist
    if (answer) return true
    const ageMs = performance.now() - atMs
    if (ageMs > AGE_MS) return null
    if (ageMs > FRESH_MS) this.#asked().catch(() => {})
    return false
  }

  #asked(): Promise<boolean> {
    this.#asking ??= OUTSIDE.runInAsyncScope(() => this.#ask()).finally(() => {
      this.#asking = null
    })
    return this.#asking
  }

  async #ask(): Promise<boolean> {
    const atMs = performance.now()
    const answer = await this.#repository.exist()
    if (!this.#exist.answer) this.#exist = { answer, atMs }
    return this.#exist.answer
  }

  /** The key whose text this is; null when there is none, or it was revoked. */
  async verify(text: string, options: { patienceMs?: number } = {}): Promise<ApiKey | null> {
    refuse(faultsOf(options, VERIFY_RULES))
    const { patienceMs } = options
    const parts = partsOf(text)
    if (parts === null) return null
    const key = await (patienceMs === undefined ? this.#find(parts.id) : this.#findWithin(parts.id, patienceMs))
    const isRight = timingSafeEqual(hashOf(parts.secret), key?.secretHash ?? NO_HASH)
    if (key === null || !isRight || key.revokedAt !== null) return null
    this.#use(key.id)
    const { secretHash: _, ...shown } = key
    return shown
  }

  /** Writes the uses that are not written yet. */
  async close(): Promise<void> {
    this.#isClosed = true
    await this.#write()
  }

  async #find(id: string): Promise<KnownKey | null> {
    const known = this.#known.get(id)
    const ageMs = known === undefined ? Number.POSITIVE_INFINITY : performance.now() - known.atMs
    if (known === undefined || ageMs > AGE_MS) return this.#waited(() => this.#sought(id))
    if (ageMs > FRESH_MS) this.#sought(id).catch(() => {})
    return known.key
  }

  /** What was known last, where the database doesn't answer in time. */
  async #findWithin(id: string, patienceMs: number): Promise<KnownKey | null> {
    const found = this.#find(id).then((key) => ({ key }))
    const inTime = await within(patienceMs, found).catch((error: unknown) => {
      if (!this.#known.has(id)) throw error
    })
    const last = inTime ?? this.#known.get(id)
    if (last === undefined)
      throw new RecentnError('database_unavailable', 'The database does not say whose key this is')
    return last.key
  }

  /** What the next look-up says of the id. */
  #sought(id: string): Promise<KnownKey | null> {
    const wanted = this.#wanted.get(id) ?? deferred()
    this.#wanted.set(id, wanted)
    if (!this.#isLooking) void OUTSIDE.runInAsyncScope(() => this.#look())
    return wanted.result
  }

  async #waited<T>(ask: () => Promise<T>): Promise<T> {
    if (this.#waiting >= MAX_WAITING) {
      throw new RecentnError('overloaded', `${MAX_WAITING} callers wait for keys`, { retryAfterMs: 1000 })
    }
    this.#waiting++
    try {
      return await ask()
    } finally {
      this.#waiting--
    }
  }

  /** Looks up what is wanted until nothing is. Only who began to want an id before the look-up began is answered by it. */
  async #look(): Promise<void> {
    this.#isLooking = true
    // Those that come in the same turn go together.
    await Promise.resolve()
    while (this.#wanted.size > 0) {
      const batch = [...this.#wanted].slice(0, IDS_AT_ONCE)
      for (const [id] of batch) this.#wanted.delete(id)
      await this.#lookUp(batch)
    }
    this.#isLooking = false
  }

  async #lookUp(batch: readonly [string, Wanted][]): Promise<void> {
    const atMs = performance.now()
    const revocations = this.#revocations
    try {
      const found = await this.#repository.find(batch.map(([id]) => id))
      for (const [id, { resolve }] of batch) {
        const key = found.get(id) ?? null
        // What was read while a key was being revoked may be from before.
        if (revocations === this.#revocations) this.#remember(id, { key, atMs })
        resolve(key)
      }
    } catch (error) {
      for (const [, { reject }] of batch) reject(error)
    }
  }

  /** The latest stands last in the map, so that what goes first was looked up longest ago. */
  #remember(id: string, known: Known): void {
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
        // When a key was used is worth no error: it is written with the next use.
        await this.#repository.used(ids.slice(from, from + IDS_AT_ONCE)).catch(() => {})
      }
    })
    return this.#writing
  }
}

function deferred(): Wanted {
  const wanted = {} as Wanted
  wanted.result = new Promise((resolve, reject) => Object.assign(wanted, { resolve, reject }))
  return wanted
}

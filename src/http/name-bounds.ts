/**
 * How many queues, schedules, policies and feeds requests that are confined to a prefix may create within it. Owns the
 * defaults, and the memory of feeds that exist, which every put would ask for otherwise.
 */

import type { NamedKind } from '../fields/options'
import { RecentnError } from '../shared/errors'
import { performance } from '../shared/platform'
import { innerOf } from '../store/inner'
import type { Store } from '../store/types'
import type { Subject } from './subjects'

/** The maximum number of names of each kind that begin with one prefix. */
export type NameBounds = Readonly<Partial<Record<NamedKind, number | undefined>>>

const DEFAULT_MOST = 1000

/** How long a feed that was seen is not asked for again, and of how many feeds that is remembered. */
const SEEN_MS = 5000
const MAX_SEEN = 10_000

interface NameBoundOptions {
  maxPerPrefix?: NameBounds | undefined
  isMounted?: boolean | undefined
}

export class NameBound {
  readonly #store: Store
  readonly #bounds: NameBounds | undefined
  /** The name of the setting in the message. */
  readonly #settingOf: (kind: NamedKind) => string
  /** When each feed was last seen, by its name. */
  readonly #seen = new Map<string, number>()

  constructor(store: Store, { maxPerPrefix, isMounted = false }: NameBoundOptions) {
    this.#store = store
    this.#bounds = maxPerPrefix
    this.#settingOf = (kind) => (isMounted ? `maxPerPrefix.${kind}` : `RECENTN_MAX_${kind.toUpperCase()}_PER_PREFIX`)
  }

  /** Throws `too_many` unless what the request names first exists, or may be created within the prefix. */
  async require(prefix: string, kind: NamedKind, about: readonly Subject[]): Promise<void> {
    const name = nameOf(kind, about)
    if (name === undefined) return
    const isFeed = kind === 'feeds'
    const seenAt = isFeed ? this.#seen.get(name) : undefined
    if (seenAt !== undefined && performance.now() - seenAt < SEEN_MS) return
    const most = this.#bounds?.[kind] ?? DEFAULT_MOST
    if (!(await innerOf(this.#store).mayCreate(kind, name, { prefix, most }))) {
      const detail = `${most} ${kind} or more have names that begin with ${JSON.stringify(prefix)}, and more may not be created`
      throw new RecentnError('too_many', `${detail} (${this.#settingOf(kind)})`)
    }
    if (!isFeed) return
    if (this.#seen.size >= MAX_SEEN) this.#seen.clear()
    this.#seen.set(name, performance.now())
  }

  /** A feed that is dropped counts as new when it is put to again. */
  dropped(about: readonly Subject[]): void {
    const name = nameOf('feeds', about)
    if (name !== undefined) this.#seen.delete(name)
  }
}

function nameOf(kind: NamedKind, about: readonly Subject[]): string | undefined {
  for (const subject of about) if (subject.kind === kind && 'name' in subject) return subject.name
  return undefined
}

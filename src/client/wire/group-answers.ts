// Made from the OpenAPI document by scripts/client-wire.cjs: not to be edited.
/** The bodies of answers. */

export interface Item {
  group: string
  id: bigint
  /** Its place in the ring: from 0 to capacity - 1. */
  slot: number
  member: string | null
  /** Any JSON value. */
  payload: unknown
  occurredAt: Date | null
  eventId: string | null
  createdAt: Date
}

export interface Appended {
  items: { group: string; id: bigint; slot: number }[]
}

export interface Recent {
  group: string
  /** 1 to 10000. */
  capacity: number
  mode: 'history' | 'distinct'
  total: bigint
  items: Item[]
  nextBefore: bigint | null
}

export interface RecentMany {
  groups: {
    group: string
    capacity: number
    mode: 'history' | 'distinct'
    total: bigint
    items: Item[]
    nextBefore?: bigint | undefined
  }[]
}

export interface MemberItems {
  items: Item[]
  nextAfter: string | null
}

export interface Group {
  group: string
  /** 1 to 10000. */
  capacity: number
  mode: 'history' | 'distinct'
  /** 1 to 315360000000. */
  ttlSeconds: number | null
  /** The settings that are its own, and only those: as PUT takes them. */
  own: {
    capacity?: number | undefined
    mode?: 'history' | 'distinct' | undefined
    ttlSeconds?: number | null | undefined
  }
  /** The prefix of the policy that the settings that are not its own are of; null: none, they are the defaults. */
  policy: string | null
  total: bigint
  createdAt: Date
}

export interface GroupPage {
  groups: Group[]
  nextAfter: string | null
}

export interface Policy {
  prefix: string
  /** 1 to 10000. */
  capacity: number
  mode: 'history' | 'distinct'
  /** 1 to 315360000000. */
  ttlSeconds: number | null
}

export interface PolicyPage {
  policies: Policy[]
  nextAfter: string | null
}

/** What the routes answer, as far as the dashboard shows it. Ids, totals and cursors are decimal strings. */

export type Mode = 'history' | 'distinct'

export interface Group {
  group: string
  capacity: number
  mode: Mode
  ttlSeconds: number | null
  total: string
  createdAt: string
}

export interface Item {
  group: string
  id: string
  slot: number
  member: string | null
  payload: unknown
  occurredAt: string | null
  eventId: string | null
  createdAt: string
}

export interface Recent {
  group: string
  capacity: number
  mode: Mode
  total: string
  items: Item[]
  nextBefore: string | null
}

export const STATES = ['ready', 'in-flight', 'delayed', 'dead', 'archived'] as const
export type State = (typeof STATES)[number]

export interface Counts {
  ready: number
  inFlight: number
  delayed: number
  dead: number
  archived: number
}

export interface QueueSettings {
  visibilityTimeoutSeconds: number
  maxReceives: number
  deadLetterQueue: string | null
  onDelete: 'remove' | 'archive'
  retentionSeconds: number | null
  paused: boolean
}

export interface Queue extends QueueSettings {
  queue: string
  createdAt: string
  counts: Counts
  oldestAgeSeconds: number | null
}

export interface Message {
  id: string
  state: State
  body: unknown
  receiveCount: number
  maxReceives: number
  sentAt: string
  visibleAt: string
  lastReceivedAt: string | null
  archivedAt: string | null
  lastError: string | null
  messageGroup: string | null
  priority: number
}

export interface Consumer {
  consumer: string
  cursor: string
  lag: number
}

export interface Feed {
  feed: string
  lastSyncId: string
  entries: number
  unpublished: number
  oldestUnpublishedSeconds: number | null
  consumers: Consumer[]
}

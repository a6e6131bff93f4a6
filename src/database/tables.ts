/**
 * The names of recentn's tables and indexes in one database. Each begins with the store's prefix, so that several
 * stores and the application's tables can share a database. The names are made once for each prefix.
 */

export const DEFAULT_PREFIX = 'recentn_'

const TABLES = {
  items: 'items',
  groups: 'groups',
  policies: 'policies',
  policyEpoch: 'policy_epoch',
  policyRollouts: 'policy_rollouts',
  queues: 'queues',
  queueMessages: 'queue_messages',
  queueArchive: 'queue_archive',
  queueFlows: 'queue_flows',
  queueMessageGroups: 'queue_message_groups',
  queueTurns: 'queue_turns',
  queueDedups: 'queue_dedups',
  queueKeys: 'queue_keys',
  queueCursors: 'queue_cursors',
  queueDrops: 'queue_drops',
  queueHistory: 'queue_history',
  queueReceivers: 'queue_receivers',
  schedules: 'schedules',
  feeds: 'feeds',
  feedEntries: 'feed_entries',
  feedTombstones: 'feed_tombstones',
  feedConsumers: 'feed_consumers',
  feedDrops: 'feed_drops',
  polls: 'polls',
  pollClaims: 'poll_claims',
  reminders: 'reminders',
  sends: 'sends',
  appends: 'appends',
  sequences: 'sequences',
  keys: 'keys',
  writers: 'writers',
  schema: 'schema',
  /** TypeORM's own table, on connections that the store has opened. */
  migrations: 'migrations',
} as const

const INDEXES = {
  itemsMember: 'items_member',
  groupsSweep: 'groups_sweep',
  messagesClaim: 'queue_messages_claim',
  messagesCycle: 'queue_messages_cycle',
  entriesSync: 'feed_entries_sync',
  claimsDue: 'poll_claims_due',
  remindersDue: 'reminders_due',
  sendsWaiting: 'sends_waiting',
  appendsWaiting: 'appends_waiting',
} as const

type Named<T> = { readonly [Key in keyof T]: string }

export interface Tables extends Named<typeof TABLES> {
  readonly prefix: string
  readonly index: Named<typeof INDEXES>
}

const made = new Map<string, Tables>()

export function tablesOf(prefix: string = DEFAULT_PREFIX): Tables {
  const known = made.get(prefix)
  if (known) return known
  const tables = { ...prefixed(TABLES, prefix), prefix, index: prefixed(INDEXES, prefix) }
  made.set(prefix, tables)
  return tables
}

function prefixed<T extends Record<string, string>>(names: T, prefix: string): Named<T> {
  return Object.fromEntries(Object.entries(names).map(([key, name]) => [key, prefix + name])) as Named<T>
}

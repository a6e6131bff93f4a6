/** The answers about feeds, their entries, changes and consumers. */
import type { Change, ChangeBase, Changes, Consumer, Entry, FeedPage, FeedStatus, PutEntry } from '../shared/feed-types'
import { type AnswerOf, answer, anyJson, count, cursor, id, list, name, orNull, text, time, truth } from './answers'

const key = name('fred')
const value = anyJson({ name: 'Fred', city: 'Oslo' }, 'Any JSON value; null for a tombstone.')
const RAISED = 'Raised by every write and delete, but not by a republish.'
const version = { ...count(3), schema: { type: 'integer', minimum: 1, description: RAISED } }
const versionOrNull = orNull(version, 'Null in a feed that follows a table.')
const deleted = truth(false, 'Whether it is a tombstone.')

const putEntry: AnswerOf<PutEntry> = answer('', { key, version })
export const PUT_ENTRIES: AnswerOf<{ entries: PutEntry[] }> = answer('PutEntries', {
  entries: list(putEntry, [putEntry.example, { key: 'jim', version: 1 }]),
})
export const ENTRY: AnswerOf<Entry> = answer('Entry', {
  key,
  value,
  version: versionOrNull,
  syncId: orNull(id('1042'), 'The number that a publisher gave the entry; null until then.'),
  deleted,
  updatedAt: orNull(time('2026-11-21T10:00:00.250Z'), 'Null in a feed that follows a table.'),
})
export const REPUBLISHED: AnswerOf<{ republished: number }> = answer('Republished', { republished: count(2) })

/** A change as a consumer reads it: its value is null if it is deleted, which the definition does not say. */
export const CHANGE: AnswerOf<ChangeBase & { value: unknown; deleted: boolean }> = answer('', {
  syncId: id('1042'),
  key,
  value,
  version: versionOrNull,
  deleted,
})
const deletion = { syncId: '1043', key: 'bob', value: null, version: 2, deleted: true }
export const CHANGES: AnswerOf<Changes> = answer('Changes', {
  changes: list<Change>(CHANGE as unknown as AnswerOf<Change>, [CHANGE.example, deletion]),
  cursor: cursor('1043', 'The cursor to continue from.'),
  hasMore: truth(false, 'Whether there are more changes after the cursor.'),
})

const consumer = {
  consumer: name('search'),
  cursor: cursor('1043'),
  lag: count(0, 'The number of sync ids after the cursor.'),
  movedAt: orNull(
    time('2026-11-20T08:30:00.000Z'),
    'When the cursor was last moved; null for one that no consumer has stored.',
  ),
}
export const CONSUMER: AnswerOf<Consumer> = answer('Consumer', consumer)
export const FEED: AnswerOf<FeedStatus> = answer('Feed', {
  feed: name('users'),
  lastSyncId: id('1043', '"0" until the first entry is published.'),
  entries: count(2, 'The number of entries without tombstones; at most 5 seconds old.'),
  unpublished: count(0, 'Entries and tombstones that no publisher has numbered yet; at most 5 seconds old.'),
  oldestUnpublishedSeconds: orNull(
    count(),
    'How long the oldest of them has waited; null if there is none. At most 5 seconds old.',
  ),
  consumers: list(answer('', consumer), undefined, 'The consumers by name, at most the first 1,000.'),
})
export const FEED_PAGE: AnswerOf<FeedPage> = answer('FeedPage', { feeds: list(FEED), nextAfter: orNull(text()) })

/** What the OpenAPI document says of feeds: the schemas of the answers, and an example of each body. */
import * as fields from '../../fields/feeds'
import { orNull, ref, type Schema } from '../../fields/field'
import * as dto from '../dto/feeds'
import { answer, anyJson, componentsOf, count, list, pageOf, truth } from './shapes'

const value = { ...anyJson, description: 'Any JSON value; null for a tombstone.' }
const version = { ...count, minimum: 1, description: 'Raised by every write and delete, but not by a republish.' }
const versionOrNull = { ...orNull(version), description: 'Null in a feed that follows a table.' }
const deletedFlag = truth('Whether it is a tombstone.')

const consumerSchema = answer({
  consumer: ref('Name'),
  cursor: ref('Cursor'),
  lag: { ...count, description: 'The number of sync ids after the cursor.' },
})

export const feedSchemas: Readonly<Record<string, Schema>> = {
  Cursor: fields.CURSOR_SCHEMA,
  ...componentsOf(dto.NewValueDto, dto.NewEntryDto, dto.NewEntriesDto),
  PutEntries: answer({ entries: list(answer({ key: ref('Name'), version })) }),
  Entry: answer({
    key: ref('Name'),
    value,
    version: versionOrNull,
    syncId: { ...orNull(ref('Id')), description: 'The number that a publisher gave the entry; null until then.' },
    deleted: deletedFlag,
    updatedAt: { ...orNull(ref('Time')), description: 'Null in a feed that follows a table.' },
  }),
  ...componentsOf(dto.RepublishDto),
  Republished: answer({ republished: count }),
  Changes: answer({
    changes: list(answer({ syncId: ref('Id'), key: ref('Name'), value, version: versionOrNull, deleted: deletedFlag })),
    cursor: { ...ref('Cursor'), description: 'The cursor to continue from.' },
    hasMore: truth('Whether there are more changes after the cursor.'),
  }),
  ...componentsOf(dto.NewCursorDto),
  Consumer: consumerSchema,
  Feed: answer({
    feed: ref('Name'),
    lastSyncId: { ...ref('Id'), description: '"0" until the first entry is published.' },
    entries: { ...count, description: 'The number of entries without tombstones; at most 5 seconds old.' },
    unpublished: {
      ...count,
      description: 'Entries and tombstones that no publisher has numbered yet; at most 5 seconds old.',
    },
    oldestUnpublishedSeconds: {
      ...orNull(count),
      description: 'How long the oldest of them has waited; null if there is none. At most 5 seconds old.',
    },
    consumers: list(consumerSchema, 'The consumers by name, at most the first 1,000.'),
  }),
  FeedPage: pageOf('feeds', 'Feed'),
}

export const newValue = { value: { name: 'Fred', city: 'Oslo' } }

export const writtenEntry = {
  key: 'fred',
  ...newValue,
  version: 3,
  syncId: null,
  deleted: false,
  updatedAt: '2026-11-21T10:00:00.250Z',
}

export const entry = { ...writtenEntry, syncId: '1042' }

export const tombstone = { ...writtenEntry, value: null, version: 4, deleted: true }

export const newEntries = {
  entries: [
    { key: 'fred', ...newValue },
    { key: 'jim', value: null },
  ],
}

export const putEntries = {
  entries: [
    { key: 'fred', version: 3 },
    { key: 'jim', version: 1 },
  ],
}

export const republish = { keys: ['fred', 'jim'] }

export const republished = { republished: 2 }

export const changes = {
  changes: [
    { syncId: '1042', key: 'fred', ...newValue, version: 3, deleted: false },
    { syncId: '1043', key: 'bob', value: null, version: 2, deleted: true },
  ],
  cursor: '1043',
  hasMore: false,
}

export const newCursor = { cursor: '1043' }

export const consumer = { consumer: 'search', cursor: '1043', lag: 0 }

export const feed = {
  feed: 'users',
  lastSyncId: '1043',
  entries: 2,
  unpublished: 0,
  oldestUnpublishedSeconds: null,
  consumers: [consumer],
}

export const feedPage = { feeds: [feed], nextAfter: null }

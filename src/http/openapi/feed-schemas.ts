/** The component schemas of feeds: entries, changes, consumers, and the feeds themselves. */
import { MAX_BATCH } from '../../fields/rules'
import { answer, anyJson, count, list, orNull, ref, request, type Schema } from './shapes'

const newValue = { description: 'Any JSON value of at most 256 KiB and 64 levels; stored and given back unchanged.' }
const value = { ...anyJson, description: 'Any JSON value; null for a tombstone.' }
const version = { ...count, minimum: 1, description: 'Raised by every write and delete; a republish leaves it.' }
const versionOrNull = { ...orNull(version), description: 'Null in a feed that follows a table.' }
const deleted = { type: 'boolean', description: 'It is a tombstone.' }

const consumer = {
  consumer: ref('Name'),
  cursor: ref('Cursor'),
  lag: { ...count, description: 'Sync ids from the cursor to the last one.' },
}

export const feedSchemas: Readonly<Record<string, Schema>> = {
  Cursor: {
    type: 'string',
    pattern: '^(0|[1-9][0-9]{0,37})$',
    description: 'How far a consumer is: "0" is the beginning. Opaque; it may be greater than any sync id.',
  },
  NewValue: request({ value: newValue }, ['value']),
  NewEntry: request({ key: ref('Name'), value: newValue }, ['key', 'value']),
  NewEntries: request({ entries: list(ref('NewEntry'), { minItems: 1, maxItems: MAX_BATCH }) }, ['entries']),
  PutEntries: answer({ entries: list(answer({ key: ref('Name'), version })) }),
  Entry: answer({
    key: ref('Name'),
    value,
    version: versionOrNull,
    syncId: { ...orNull(ref('Id')), description: 'The number that a publisher gave it; null until one has.' },
    deleted,
    updatedAt: { ...orNull(ref('Time')), description: 'Null in a feed that follows a table.' },
  }),
  Republish: {
    ...request({
      keys: orNull(list(ref('Name'), { minItems: 1, maxItems: MAX_BATCH })),
      prefix: orNull({ type: 'string', description: 'What the keys begin with; "" is all of them.' }),
    }),
    description: 'Exactly one of the two.',
  },
  Republished: answer({ republished: count }),
  Changes: answer({
    changes: list(
      answer({
        syncId: ref('Id'),
        key: ref('Name'),
        value,
        version: versionOrNull,
        deleted,
      }),
    ),
    cursor: { ...ref('Cursor'), description: 'Where to go on from.' },
    hasMore: { type: 'boolean', description: 'There is more after the cursor already.' },
  }),
  NewCursor: request(
    {
      cursor: ref('Cursor'),
      force: orNull({ type: 'boolean', default: false, description: 'Backwards too.' }),
    },
    ['cursor'],
  ),
  Consumer: answer(consumer),
  Feed: answer({
    feed: ref('Name'),
    lastSyncId: { ...ref('Id'), description: '"0" before anything is published.' },
    entries: { ...count, description: 'Without tombstones; at most 5 seconds old.' },
    unpublished: {
      ...count,
      description: 'Entries and tombstones that no publisher has numbered yet; at most 5 seconds old.',
    },
    oldestUnpublishedSeconds: {
      ...orNull(count),
      description: 'Since when the oldest of them waits; null when there is none. At most 5 seconds old.',
    },
    consumers: list(answer(consumer), { description: 'By name, at most the first 1,000.' }),
  }),
  FeedPage: answer({ feeds: list(ref('Feed')), nextAfter: orNull({ type: 'string' }) }),
}

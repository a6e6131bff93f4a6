/** One example of each body of the feeds' routes, for the OpenAPI document. */

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

/** `/v1/feeds/{feed}/entries`: writing the entries of a feed, and reading an entry by its key. */

import { ENTRY, PUT_ENTRIES } from '../../fields/answers-feeds'
import { NewEntriesDto, NewValueDto } from '../../fields/feeds'
import { MAX_BATCH } from '../../fields/rules'
import type { IfVersion } from '../../shared/feed-types'
import { bodyOf } from '../input/read'
import { answering, type Route, tagged, type UntypedInput } from '../route'
import { named } from '../subjects'

const conditionOf = ({ ifTag, isEnsuring }: Pick<UntypedInput, 'ifTag' | 'isEnsuring'>): IfVersion => ({
  ifVersion: isEnsuring ? 0 : ifTag === undefined ? undefined : Number(ifTag),
})

const newValue = { value: ENTRY.example.value }
const newEntries = {
  entries: [
    { key: 'fred', ...newValue },
    { key: 'jim', value: null },
  ],
}
const writtenEntry = { ...ENTRY.example, syncId: null }
const tombstone = { ...writtenEntry, value: null, version: 4, deleted: true }

const get = answering('GET /v1/feeds/{feed}/entries/{key}', {
  scope: 'feed',
  hasVersion: true,
  id: 'getEntry',
  summary: 'Read an entry',
  gives: [ENTRY, 'The entry.'],
  absent: 'entry_not_found',
  call: (store, { path: { feed, key } }) => store.feeds.get(feed, key, { values: 'text' }),
})

const put = answering('PUT /v1/feeds/{feed}/entries/{key}', {
  scope: 'feed',
  hasVersion: true,
  body: bodyOf(NewValueDto, newValue),
  id: 'putEntry',
  creates: 'feeds',
  summary: 'Write an entry',
  description:
    'The entry has no sync id until a publisher gives it the next one. The first entry creates the feed. Refused for a feed ' +
    'that follows a table.',
  gives: [ENTRY, 'The entry is written and committed.', writtenEntry],
  refusals: ['too_many'],
  async call(store, { path: { feed, key }, body: { value }, ...conditions }) {
    const entry = await store.feeds.put(feed, key, value, conditionOf(conditions))
    // The value as the text that was sent: the store's answer has it parsed.
    return { ...entry, value }
  },
})

const remove = answering('DELETE /v1/feeds/{feed}/entries/{key}', {
  scope: 'feed',
  hasVersion: true,
  id: 'deleteEntry',
  summary: 'Delete an entry and leave a tombstone, which consumers read',
  gives: [ENTRY, 'The tombstone.', tombstone],
  absent: 'entry_not_found',
  call: (store, { path: { feed, key }, ...conditions }) => store.feeds.delete(feed, key, conditionOf(conditions)),
})

const putMany = answering('POST /v1/feeds/{feed}/entries', {
  scope: 'feed',
  body: {
    ...bodyOf(NewEntriesDto, newEntries),
    at: '/entries',
    about: ({ entries }) => entries.flatMap(({ key }, i) => named('entries', [key], { pointer: `/entries/${i}/key` })),
  },
  id: 'putEntries',
  creates: 'feeds',
  summary: `Write up to ${MAX_BATCH} entries`,
  description:
    'All entries are written in one commit, or none. If a key is given twice, the last value stays. Entries with an ' +
    '`ifVersion` are all compared first: `errors` names each that has another version.',
  gives: [PUT_ENTRIES, 'The entries are written and committed; in the order given.'],
  refusals: ['too_many', 'version_changed'],
  call: (store, { path: { feed }, body }) => store.feeds.putMany(feed, body.entries),
})

export const feedEntryRoutes: readonly Route[] = tagged('Feeds', [get, put, remove, putMany])

/**
 * Every metric: its name, and its samples from plain numbers. No label has the name of a group, queue, feed or member.
 */
import type { Counted } from '../../kit/sizes'
import type { StoreCounts, StoreTotals } from '../../store/counts'
import type { HttpCounts } from './traffic'

/** The numbers behind the metrics of one scrape. */
export interface Scraped {
  counts: StoreCounts
  http: HttpCounts
  isUp: boolean
  /** Null if they are not known. */
  totals: StoreTotals | null
  version: string
}

export type Labels = Record<string, string | number>

export interface Sample {
  labels: Labels
  value: number
  /** For the lines of a histogram. */
  suffix?: '_bucket' | '_sum' | '_count'
}

export interface Family {
  name: string
  help: string
  type: 'counter' | 'gauge' | 'histogram'
  samples(scraped: Scraped): Sample[]
}

const one = (value: number): Sample[] => [{ labels: {}, value }]
/** A gauge without a value has no line. */
const known = (value: number | null | undefined): Sample[] => (value == null ? [] : one(value))
const by = (label: string, values: Iterable<readonly [string, number]>): Sample[] =>
  Array.from(values, ([key, value]) => ({ labels: { [label]: key }, value }))

function histogram({ bounds, buckets, sum, count }: Counted, labels: Labels = {}): Sample[] {
  let below = 0
  const lines = buckets.map((size, index): Sample => {
    below += size
    return { labels: { ...labels, le: bounds[index] ?? '+Inf' }, value: below, suffix: '_bucket' }
  })
  return [...lines, { labels, value: sum, suffix: '_sum' }, { labels, value: count, suffix: '_count' }]
}

const counter = (name: string, help: string, samples: Family['samples']): Family => {
  return { name, help, type: 'counter', samples }
}
const gauge = (name: string, help: string, samples: Family['samples']): Family => ({
  name,
  help,
  type: 'gauge',
  samples,
})

const ofProcess: Family[] = [
  gauge('build_info', 'The version of recentn, which is in the label; always 1.', ({ version }) => [
    { labels: { version }, value: 1 },
  ]),
]

const ofHttp: Family[] = [
  counter(
    'http_requests_total',
    'Requests that were answered, by the template of their route; 499 is a client that went away first.',
    ({ http }) =>
      [...http.routes()].flatMap(({ route, method, statuses }) =>
        Array.from(statuses, ([status, value]) => ({ labels: { route, method, status }, value })),
      ),
  ),
  {
    name: 'http_request_duration_seconds',
    help: 'How long requests took, with the time that they waited, without streams.',
    type: 'histogram',
    samples: ({ http }) =>
      [...http.routes()]
        .filter(({ durations }) => durations.count > 0)
        .flatMap(({ route, method, durations }) => histogram(durations, { route, method })),
  },
  gauge('http_requests_in_flight', 'Requests that are not answered yet, with open streams.', ({ http }) =>
    one(http.inFlight),
  ),
  counter('http_problems_total', 'Requests that were refused or failed, by the code of the problem.', ({ http }) =>
    by('code', http.problems),
  ),
]

const ofWork: Family[] = [
  counter('items_appended_total', 'Items that were appended to groups.', ({ counts }) => one(counts.itemsAppended)),
  counter('items_deduplicated_total', 'Appends that stored nothing because an item had the eventId.', ({ counts }) =>
    one(counts.itemsDeduplicated),
  ),
  counter('messages_sent_total', 'Messages that were sent to queues.', ({ counts }) => one(counts.messagesSent)),
  counter('messages_deduplicated_total', 'Sends that stored nothing because a message had the dedupId.', ({ counts }) =>
    one(counts.messagesDeduplicated),
  ),
  counter('messages_received_total', 'Messages that receivers got, counted each time.', ({ counts }) =>
    one(counts.messagesReceived),
  ),
  counter('messages_settled_total', 'Receipts that were deleted, released or extended.', ({ counts }) =>
    by('how', [
      ['delete', counts.messagesDeleted],
      ['release', counts.messagesReleased],
      ['extend', counts.messagesExtended],
    ]),
  ),
  counter('entries_written_total', 'Entries that were put into feeds.', ({ counts }) => one(counts.entriesWritten)),
  counter('entries_published_total', 'Entries to which this process gave a sync id.', ({ counts }) =>
    one(counts.entriesPublished),
  ),
  {
    name: 'batch_size',
    help: 'Items, messages or entries of one commit, and groups of one reading statement.',
    type: 'histogram',
    samples: ({ counts }) => Object.entries(counts.batches).flatMap(([kind, sizes]) => histogram(sizes, { kind })),
  },
  counter('overloaded_total', 'Calls that were refused because too many were pending.', ({ counts }) =>
    one(counts.overloaded),
  ),
  counter('background_rounds_total', 'Rounds of publishers, sweepers and schedules.', ({ counts }) =>
    by('task', [
      ['publish', counts.publisherRounds],
      ['sweep', counts.sweeperRounds],
      ['schedule', counts.schedulerRounds],
    ]),
  ),
  counter(
    'background_faults_total',
    'Rounds of publishers and sweepers that failed, and schedules that could not send.',
    ({ counts }) =>
      by('task', [
        ['publish', counts.publisherFaults],
        ['sweep', counts.sweeperFaults],
        ['schedule', counts.schedulerFaults],
      ]),
  ),
  counter('swept_total', 'Expired items, archived messages and tombstones that were removed.', ({ counts }) =>
    by('what', [
      ['items', counts.itemsSwept],
      ['messages', counts.messagesSwept],
      ['tombstones', counts.tombstonesSwept],
    ]),
  ),
  gauge('waiting', 'Calls that wait for messages or for changes of feeds, and listeners to groups.', ({ counts }) =>
    by('for', [
      ['messages', counts.receivesWaiting],
      ['changes', counts.changesWaiting],
      ['items', counts.groupListeners],
    ]),
  ),
  gauge(
    'workers',
    'Workers on queues, pollers of tables and consumers of feeds that run in this process.',
    ({ counts }) =>
      by('kind', [
        ['worker', counts.workers],
        ['poller', counts.pollers],
        ['consumer', counts.consumers],
      ]),
  ),
]

const ofDatabase: Family[] = [
  gauge('database_up', 'Whether the database answered within a second.', ({ isUp }) => one(isUp ? 1 : 0)),
  counter(
    'database_retries_total',
    'Work that was tried again after an error, by the number or code of the error.',
    ({ counts }) => by('error', Object.entries(counts.retries)),
  ),
  counter('database_failures_total', 'Work that failed because of such an error, after all tries.', ({ counts }) =>
    by('error', Object.entries(counts.failures)),
  ),
  gauge('database_connections', 'Connections of the pool.', ({ counts: { connections } }) =>
    by('state', [
      ['in_use', connections.inUse],
      ['idle', connections.idle],
    ]),
  ),
  gauge('database_connections_max', 'Connections that the pool may have.', ({ counts }) => one(counts.connections.max)),
  gauge('database_connections_waiting', 'Callers that wait for a connection.', ({ counts }) =>
    one(counts.connections.waiting),
  ),
]

const ofTotals: Family[] = [
  gauge(
    'queue_messages',
    'Messages in all queues, by state; those in dead-letter queues count as dead.',
    ({ totals }) => {
      if (totals === null) return []
      const { ready, inFlight, delayed, blocked, dead, archived } = totals.queues.counts
      return by('state', Object.entries({ ready, in_flight: inFlight, delayed, blocked, dead, archived }))
    },
  ),
  gauge(
    'queue_oldest_age_seconds',
    'Age of the oldest message that is ready, blocked or in flight, without dead letters; 0 if there is none.',
    (scraped) => known(scraped.totals && (scraped.totals.queues.oldestAgeSeconds ?? 0)),
  ),
  gauge('feed_unpublished_entries', 'Entries of all feeds that have no sync id yet.', ({ totals }) =>
    known(totals?.feeds.unpublishedEntries),
  ),
  gauge(
    'feed_oldest_unpublished_seconds',
    'How long the oldest unpublished entry has waited; 0 if there is none.',
    ({ totals }) => known(totals && (totals.feeds.oldestUnpublishedSeconds ?? 0)),
  ),
  gauge('feed_consumer_lag_max', 'Sync ids that the consumer furthest behind has still to read.', ({ totals }) =>
    known(totals && (totals.feeds.greatestLag ?? 0)),
  ),
]

export const FAMILIES: readonly Family[] = [...ofProcess, ...ofHttp, ...ofWork, ...ofDatabase, ...ofTotals]

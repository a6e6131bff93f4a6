/**
 * Every metric: its name, and its samples from plain numbers. No label has the name of a group, queue, feed or member.
 */
import type { Counted } from '../../kit/histogram'
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

type Labels = Record<string, string | number>

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

const familyOf = (type: Family['type']) => (name: string, help: string, samples: Family['samples']) => {
  return { name, help, type, samples }
}
const counter = familyOf('counter')
const gauge = familyOf('gauge')
const histograms = familyOf('histogram')

type Count = { [Name in keyof StoreCounts]: StoreCounts[Name] extends number ? Name : never }[keyof StoreCounts]

/** The counts of the store: one number, or several, each under a value of the label. */
const counted = (name: string, help: string, count: Count) => counter(name, help, ({ counts }) => one(counts[count]))
const labelled =
  (label: string, of: Readonly<Record<string, Count>>): Family['samples'] =>
  ({ counts }) =>
    by(
      label,
      Object.entries(of).map(([key, count]) => [key, counts[count]] as const),
    )

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
  histograms(
    'http_request_duration_seconds',
    'How long requests took, with the time that they waited, without streams.',
    ({ http }) =>
      [...http.routes()]
        .filter(({ durations }) => durations.count > 0)
        .flatMap(({ route, method, durations }) => histogram(durations, { route, method })),
  ),
  gauge('http_requests_in_flight', 'Requests that are not answered yet, with open streams.', ({ http }) =>
    one(http.inFlight),
  ),
  counter('http_problems_total', 'Requests that were refused or failed, by the code of the problem.', ({ http }) =>
    by('code', http.problems),
  ),
]

const ofWork: Family[] = [
  counted('items_appended_total', 'Items that were appended to groups.', 'itemsAppended'),
  counted(
    'items_deduplicated_total',
    'Appends that stored nothing because an item had the eventId.',
    'itemsDeduplicated',
  ),
  counted('messages_sent_total', 'Messages that were sent to queues.', 'messagesSent'),
  counted(
    'messages_deduplicated_total',
    'Sends that stored no message because one had the dedupId, or one with the key was waiting.',
    'messagesDeduplicated',
  ),
  counted(
    'messages_superseded_total',
    'Messages that were removed in place of a retry, because a newer one with the key was waiting.',
    'messagesSuperseded',
  ),
  counted('messages_received_total', 'Messages that receivers got, counted each time.', 'messagesReceived'),
  counter(
    'messages_settled_total',
    'Claims that were ended by an ack or a nack, or extended.',
    labelled('how', { ack: 'messagesAcked', nack: 'messagesNacked', extend: 'messagesExtended' }),
  ),
  counted('entries_written_total', 'Entries that were put into feeds.', 'entriesWritten'),
  counted('entries_published_total', 'Entries to which this process gave a sync id.', 'entriesPublished'),
  histograms(
    'batch_size',
    'Items, messages or entries of one commit, and groups of one reading statement.',
    ({ counts }) => Object.entries(counts.batches).flatMap(([kind, sizes]) => histogram(sizes, { kind })),
  ),
  counted('overloaded_total', 'Calls that were refused because too many were pending.', 'overloaded'),
  counter(
    'background_rounds_total',
    'Rounds of publishers, sweepers and schedules.',
    labelled('task', { publish: 'publisherRounds', sweep: 'sweeperRounds', schedule: 'schedulerRounds' }),
  ),
  counter(
    'background_faults_total',
    'Rounds of publishers and sweepers that failed, and schedules that could not send.',
    labelled('task', { publish: 'publisherFaults', sweep: 'sweeperFaults', schedule: 'schedulerFaults' }),
  ),
  counter(
    'swept_total',
    'Expired items, archived messages and tombstones that were removed.',
    labelled('what', { items: 'itemsSwept', messages: 'messagesSwept', tombstones: 'tombstonesSwept' }),
  ),
  gauge(
    'waiting',
    'Calls that wait for messages or for changes of feeds, and listeners to groups.',
    labelled('for', { messages: 'receivesWaiting', changes: 'changesWaiting', items: 'groupListeners' }),
  ),
  gauge(
    'workers',
    'Workers on queues, pollers of tables and consumers of feeds that run in this process.',
    labelled('kind', { worker: 'workers', poller: 'pollers', consumer: 'consumers' }),
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
  gauge(
    'door_rows',
    'Rows that plain SQL has inserted and that were not moved yet; those that are stuck have an error.',
    ({ totals }) =>
      Object.entries(totals?.door ?? {}).flatMap(([table, counts]) =>
        Object.entries(counts).map(([state, value]) => ({ labels: { table, state }, value: Number(value) })),
      ),
  ),
  gauge('feed_consumer_lag_max', 'Sync ids that the consumer furthest behind has still to read.', ({ totals }) =>
    known(totals && (totals.feeds.greatestLag ?? 0)),
  ),
]

export const FAMILIES: readonly Family[] = [...ofProcess, ...ofHttp, ...ofWork, ...ofDatabase, ...ofTotals]

/** Lists of queues: by name; by their state or sorted by a number, chosen among all queues from one look at all messages. */
import type { Reader, Session } from '../../database/engine'
import { QUEUE_PAGE, QUEUE_STATUS } from '../../fields/answers-queues'
import { QUEUE_STATES } from '../../fields/queues'
import { invalidInput, RecentnError } from '../../shared/errors'
import type { TroubleKind } from '../../shared/overview-types'
import type { QueueListOptions, QueueOrder, QueuePage, QueueState, QueueStatus } from '../../shared/queue-types'
import { rowsAmong } from '../chunks'
import { nameRange } from '../name-range'
import { countLimited, countsBy } from './counts'
import { diedIn } from './dead/deaths'
import { headColumns, headOf, type QueueHead } from './heads'
import { growthIn } from './history/read'
import type { QueueMemory } from './memory'
import { type NamedHead, namedHead, queueOf } from './queues'
import { MAX_IDS, STATE } from './rows'
import { promoteDue } from './settle/promote'
import { oldestIn, type QueuesLook } from './troubles'

export async function listHeads(
  reader: Reader,
  { limit, after = '', prefix = '', contains, deadLetterQueue }: QueueListOptions & { limit: number },
): Promise<NamedHead[]> {
  const { where, parameters } = nameRange('queue', after, prefix, contains)
  const isSource =
    deadLetterQueue === undefined
      ? ''
      : ` AND dead_letter_queue_id = (SELECT target.id FROM ${reader.tables.queues} target WHERE target.queue = ?)`
  const rows = await reader.rows(
    `SELECT ${headColumns(reader)}, (SELECT letters.queue FROM ${reader.tables.queues} letters WHERE letters.id = ${reader.tables.queues}.dead_letter_queue_id) ` +
      `AS letters FROM ${reader.tables.queues} WHERE ${where}${isSource} ORDER BY queue LIMIT ${limit}`,
    deadLetterQueue === undefined ? parameters : [...parameters, deadLetterQueue],
  )
  // One scan of all queues in place of one for each: no index has the column.
  const named = await reader.rows(
    `SELECT DISTINCT ${reader.engine.bigint('dead_letter_queue_id')} AS id FROM ${reader.tables.queues} WHERE dead_letter_queue_id IS NOT NULL`,
  )
  const deadLetterIds = new Set(named.map(({ id }) => BigInt(id as string)))
  return rows.map((row) => {
    const head = headOf(row)
    return { head, deadLetterQueue: row.letters as string | null, isDeadLetterQueue: deadLetterIds.has(head.id) }
  })
}

const ALL = 1_000_000

const STATE_OF: Readonly<Partial<Record<TroubleKind, QueueState>>> = {
  ...{ dead: 'dead', growing: 'growing', blocked: 'blocked' },
  ...{ unreceived: 'stuck', late: 'stuck', held: 'stuck' },
}

/** Null is less than any number. */
const VALUE: Readonly<Record<QueueOrder, (queue: QueueStatus, oldestMs: number | null) => number | null>> = {
  ready: ({ counts }) => counts.ready,
  'in-flight': ({ counts }) => counts.inFlight,
  delayed: ({ counts }) => counts.delayed,
  blocked: ({ counts }) => counts.blocked,
  // An age would be another one on the next page.
  oldest: (_, oldestMs) => oldestMs && -oldestMs,
  died: ({ died }) => died,
  growth: ({ growthPerMinute }) => growthPerMinute,
}

interface SortPlace {
  value: number
  queue: string
}

interface ListedQueue extends SortPlace {
  head: QueueHead
  status: QueueStatus
}

export function listLooked(
  session: Session,
  { totals }: QueueMemory,
  { state, sort, limit, after, ...names }: QueueListOptions & { limit: number },
): Promise<QueuePage> {
  const first = after === undefined ? null : placeOf(after, sort)
  return session.read(async (reader) => {
    const look = await totals.look(reader)
    const troubled = statesIn(look)
    const states = Object.fromEntries(QUEUE_STATES.map((each) => [each, 0])) as Record<QueueState, number>
    const found: ListedQueue[] = []
    for (const named of await listHeads(reader, { ...names, limit: ALL })) {
      const own = ownStates(named, troubled)
      for (const each of own) states[each]++
      if (state !== undefined && !own.has(state)) continue
      const oldestMs = oldestIn(look.states.get(named.head.id) ?? [])
      const status = statusIn(look, named, oldestMs)
      const value = sort === undefined ? 0 : (VALUE[sort](status, oldestMs) ?? Number.NEGATIVE_INFINITY)
      found.push({ head: named.head, queue: named.head.queue, value, status })
    }
    const rest = found.sort(byPlace).filter((one) => first === null || byPlace(first, one) < 0)
    const page = rest.slice(0, limit)
    await countArchived(reader, page)
    for (const { head, status } of page) status.limited = await countLimited(reader, head, status.counts)
    const last = rest.length > limit ? page.at(-1) : undefined
    const nextAfter = last === undefined ? null : sort === undefined ? last.queue : `${last.value} ${last.queue}`
    return QUEUE_PAGE.of({ queues: page.map(({ status }) => status), nextAfter, states })
  })
}

/** The largest number first; names in the order of their bytes, as in indexes. */
const byPlace = (a: SortPlace, b: SortPlace) =>
  a.value === b.value ? Buffer.compare(Buffer.from(a.queue), Buffer.from(b.queue)) : b.value - a.value

function placeOf(after: string, sort: QueueOrder | undefined): SortPlace {
  if (sort === undefined) return { value: 0, queue: after }
  const [, value, queue] = /^(-?\d{1,15}|-Infinity) (.+)$/s.exec(after) ?? []
  if (queue === undefined) throw invalidInput([{ parameter: 'after', detail: 'is not the nextAfter of a page' }])
  return { value: Number(value), queue }
}

function statesIn({ troubles }: QueuesLook): ReadonlyMap<string, ReadonlySet<QueueState>> {
  const states = new Map<string, Set<QueueState>>()
  for (const { kind, name } of troubles) {
    const state = STATE_OF[kind]
    if (state !== undefined) states.set(name, (states.get(name) ?? new Set()).add(state))
  }
  return states
}

/** A pause is read each time: a caller that pauses a queue sees it at once. */
function ownStates({ head, isDeadLetterQueue }: NamedHead, troubled: ReturnType<typeof statesIn>): Set<QueueState> {
  const states = new Set<QueueState>(troubled.get(head.queue)).add('all')
  if (!isDeadLetterQueue) states.add('main')
  if (head.paused) states.add('paused')
  return states
}

/** Messages that are archived, or limited, are not counted yet. */
function statusIn(
  look: QueuesLook,
  { head, deadLetterQueue, isDeadLetterQueue }: NamedHead,
  oldestMs: number | null,
): QueueStatus {
  const own = new Map(look.states.get(head.id)?.map((one) => [one.state, one]))
  const count = (state: number) => own.get(state)?.messages ?? 0
  return QUEUE_STATUS.of({
    ...queueOf(head, deadLetterQueue),
    isDeadLetterQueue,
    counts: countsBy(count, 0),
    oldestAgeSeconds: oldestMs && Math.max(0, Math.floor((look.nowMs - oldestMs) / 1000)),
    limited: 0,
    died: diedIn(head.id, count(STATE.dead), look.letters),
    growthPerMinute: growthIn(look.growth, head.id)?.perMinute ?? null,
  })
}

async function countArchived(reader: Reader, page: readonly ListedQueue[]): Promise<void> {
  const queueId = `${reader.engine.bigint('queue_id')} AS queue_id`
  const known = new Map(page.map(({ head, status }) => [head.id, status.counts]))
  const archiving = page.filter(({ status }) => status.onDelete === 'archive').map(({ head }) => head.id)
  const select = `SELECT ${queueId}, COUNT(*) AS messages FROM ${reader.tables.queueArchive} WHERE queue_id IN`
  const counted = await rowsAmong(reader, archiving, MAX_IDS, (some) => `${select} ${some} GROUP BY queue_id`)
  for (const { queue_id: id, messages } of counted) {
    const counts = known.get(BigInt(id as string))
    if (counts !== undefined) counts.archived = Number(messages)
  }
}

export async function readStatus(session: Session, memory: QueueMemory, queue: string): Promise<QueueStatus | null> {
  const named = await session.read((reader) => namedHead(reader, queue))
  if (named === null) return null
  await promoteDue(session, memory, queue).catch((error: unknown) => {
    if (!(error instanceof RecentnError && error.code === 'queue_not_found')) throw error
  })
  return statusOf(session, memory, named)
}

export async function listStatuses(
  session: Session,
  memory: QueueMemory,
  options: QueueListOptions & { limit: number },
): Promise<QueuePage> {
  if (options.state !== undefined || options.sort !== undefined) return listLooked(session, memory, options)
  const { limit, ...names } = options
  const heads = await session.read((reader) => listHeads(reader, { ...names, limit: limit + 1 }))
  const queues: QueueStatus[] = []
  for (const named of heads.slice(0, limit)) queues.push(await statusOf(session, memory, named))
  return QUEUE_PAGE.of({
    queues,
    nextAfter: heads.length > limit ? (queues.at(-1)?.queue ?? null) : null,
    states: null,
  })
}

async function statusOf(
  session: Session,
  memory: QueueMemory,
  { head, deadLetterQueue, isDeadLetterQueue }: NamedHead,
): Promise<QueueStatus> {
  const numbers = await session.read(async (reader) => {
    const totals = await memory.totals.of(reader, head)
    return { ...totals, limited: await countLimited(reader, head, totals.counts) }
  })
  return QUEUE_STATUS.of({ ...queueOf(head, deadLetterQueue), isDeadLetterQueue, ...numbers })
}

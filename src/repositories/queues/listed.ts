/** Lists of queues: by name; by their state or sorted by a number, chosen among all queues from one look at all messages. */
import type { Reader, Row, Session } from '../../database/engine'
import { QUEUE_PAGE, QUEUE_STATUS } from '../../fields/answers-queues'
import { QUEUE_STATES } from '../../fields/queues'
import { invalidInput, RecentnError } from '../../shared/errors'
import type { TroubleKind } from '../../shared/overview-types'
import type { QueueListOptions, QueueOrder, QueuePage, QueueState, QueueStatus } from '../../shared/queue-types'
import { groupedBy, MAX_KEYS, rowsAmong } from '../chunks'
import { nameRange } from '../name-range'
import { column, shaped } from '../row-shape'
import { countLimited, countsBy } from './counts'
import { diedIn } from './dead/deaths'
import { headColumns, headOf } from './heads'
import { growthIn } from './history/read'
import type { QueueMemory } from './memory'
import { type NamedHead, namedHead, queueOf } from './queues'
import { MAX_IDS, STATE } from './rows'
import { promoteDue } from './settle/promote'
import { oldestIn, type QueuesLook } from './troubles'

type Names = Pick<QueueListOptions, 'after' | 'prefix' | 'contains' | 'deadLetterQueue'>

/** The rows of the queues that have these names, in the order of their names. */
async function rowsOf(
  reader: Reader,
  columns: string,
  { after = '', prefix = '', contains, deadLetterQueue }: Names,
  limit = '',
): Promise<Row[]> {
  const { where, parameters } = nameRange('queue', after, prefix, contains)
  const { queues } = reader.tables
  const isSource = ` AND dead_letter_queue_id = (SELECT target.id FROM ${queues} target WHERE target.queue = ?)`
  return reader.rows(
    `SELECT ${columns} FROM ${queues} WHERE ${where}${deadLetterQueue === undefined ? '' : isSource} ORDER BY queue${limit}`,
    deadLetterQueue === undefined ? parameters : [...parameters, deadLetterQueue],
  )
}

/** The ids of all dead-letter queues: one scan of all queues in place of one for each, because no index has the column. */
async function deadLetterIds({ engine, tables, rows }: Reader): Promise<ReadonlySet<bigint>> {
  const named = await rows(
    `SELECT DISTINCT ${engine.bigint('dead_letter_queue_id')} AS id FROM ${tables.queues} WHERE dead_letter_queue_id IS NOT NULL`,
  )
  return new Set(named.map(({ id }) => BigInt(id as string)))
}

const namedColumns = (reader: Reader) =>
  `${headColumns(reader)}, (SELECT letters.queue FROM ${reader.tables.queues} letters WHERE letters.id = ${reader.tables.queues}.dead_letter_queue_id) AS letters`

function namedOf(row: Row, letterIds: ReadonlySet<bigint>): NamedHead {
  const head = headOf(row)
  return { head, deadLetterQueue: row.letters as string | null, isDeadLetterQueue: letterIds.has(head.id) }
}

async function listHeads(reader: Reader, names: Names, limit: number): Promise<NamedHead[]> {
  const rows = await rowsOf(reader, namedColumns(reader), names, ` LIMIT ${limit}`)
  const letterIds = await deadLetterIds(reader)
  return rows.map((row) => namedOf(row, letterIds))
}

const STATE_OF: Readonly<Partial<Record<TroubleKind, QueueState>>> = {
  ...{ dead: 'dead', growing: 'growing', blocked: 'blocked' },
  ...{ unreceived: 'stuck', late: 'stuck', held: 'stuck' },
}

/** Null is less than any number. */
const VALUE: Readonly<Record<QueueOrder, (numbers: QueueNumbers) => number | null>> = {
  ready: ({ counts }) => counts.ready,
  'in-flight': ({ counts }) => counts.inFlight,
  delayed: ({ counts }) => counts.delayed,
  blocked: ({ counts }) => counts.blocked,
  // An age would be another one on the next page.
  oldest: ({ oldestMs }) => oldestMs && -oldestMs,
  died: ({ died }) => died,
  growth: ({ growthPerMinute }) => growthPerMinute,
}

interface SortPlace {
  value: number
  queue: string
}

/** The columns that are read of all queues, of which only a page is shown. */
const CANDIDATE = shaped({
  id: column.big.of('id'),
  queue: column.text.of('queue'),
  paused: column.flag.of('paused'),
})
type Candidate = ReturnType<typeof CANDIDATE.of>

function listLooked(
  session: Session,
  { totals }: QueueMemory,
  { state, sort, limit, after, ...names }: QueueListOptions & { limit: number },
): Promise<QueuePage> {
  const first = after === undefined ? null : placeOf(after, sort)
  const numberOf = sort && VALUE[sort]
  return session.read(async (reader) => {
    const look = await totals.look(reader)
    const troubles = groupedBy(look.troubles, ({ name }) => name)
    const states = Object.fromEntries(QUEUE_STATES.map((each) => [each, 0])) as Record<QueueState, number>
    const found: (Candidate & SortPlace)[] = []
    const letterIds = await deadLetterIds(reader)
    for (const row of await rowsOf(reader, CANDIDATE.columns(reader), names)) {
      const one = CANDIDATE.of(row)
      const own = ownStates(one, letterIds.has(one.id), troubles.get(one.queue))
      for (const each of own) states[each]++
      if (state !== undefined && !own.has(state)) continue
      found.push({ ...one, value: numberOf?.(numbersIn(look, one.id)) ?? (numberOf ? Number.NEGATIVE_INFINITY : 0) })
    }
    // They are in the order of their names, and remain so where the values are equal.
    const rest = found.sort(byValue).filter((one) => first === null || byPlace(first, one) < 0)
    const page = rest.slice(0, limit)
    const last = rest.length > limit ? page.at(-1) : undefined
    const nextAfter = last === undefined ? null : sort === undefined ? last.queue : `${last.value} ${last.queue}`
    const ids = page.map(({ id }) => id)
    const heads = await readHeads(reader, ids, letterIds)
    return QUEUE_PAGE.of({ queues: await statusesIn(reader, look, heads), nextAfter, states })
  })
}

/** In the order of the ids, without those that are gone. */
async function readHeads(reader: Reader, ids: readonly bigint[], letterIds: ReadonlySet<bigint>): Promise<NamedHead[]> {
  const select = `SELECT ${namedColumns(reader)} FROM ${reader.tables.queues} WHERE id IN`
  const rows = await rowsAmong(reader, ids, MAX_KEYS, (some) => `${select} ${some}`)
  const heads = new Map(rows.map((row) => namedOf(row, letterIds)).map((named) => [named.head.id, named]))
  return ids.flatMap((id) => heads.get(id) ?? [])
}

/** The largest number first. */
const byValue = (a: SortPlace, b: SortPlace) => (a.value === b.value ? 0 : b.value - a.value)

/** Then names in the order of their bytes, as in indexes. */
const byPlace = (a: SortPlace, b: SortPlace) =>
  byValue(a, b) || Buffer.compare(Buffer.from(a.queue), Buffer.from(b.queue))

function placeOf(after: string, sort: QueueOrder | undefined): SortPlace {
  if (sort === undefined) return { value: 0, queue: after }
  const [, value, queue] = /^(-?\d{1,15}|-Infinity) (.+)$/s.exec(after) ?? []
  if (queue === undefined) throw invalidInput([{ parameter: 'after', detail: 'is not the nextAfter of a page' }])
  return { value: Number(value), queue }
}

/** A pause is read each time: a caller that pauses a queue sees it at once. */
function ownStates(
  { paused }: Candidate,
  isDeadLetterQueue: boolean,
  troubles: QueuesLook['troubles'] = [],
): Set<QueueState> {
  const states = new Set<QueueState>(troubles.flatMap(({ kind }) => STATE_OF[kind] ?? [])).add('all')
  if (!isDeadLetterQueue) states.add('main')
  if (paused) states.add('paused')
  return states
}

/** Without archived messages. */
function numbersIn(look: QueuesLook, id: bigint) {
  const states = look.states.get(id) ?? []
  const count = (state: number) => states.find((one) => one.state === state)?.messages ?? 0
  return {
    counts: countsBy(count, 0),
    oldestMs: oldestIn(states),
    died: diedIn(id, count(STATE.dead), look.letters),
    growthPerMinute: growthIn(look.growth, id)?.perMinute ?? null,
  }
}

type QueueNumbers = ReturnType<typeof numbersIn>

async function statusesIn(reader: Reader, look: QueuesLook, page: readonly NamedHead[]): Promise<QueueStatus[]> {
  const archived = await countArchived(reader, page)
  const statuses: QueueStatus[] = []
  for (const { head, deadLetterQueue, isDeadLetterQueue } of page) {
    const { oldestMs, counts, ...numbers } = numbersIn(look, head.id)
    counts.archived = archived.get(head.id) ?? 0
    const status = {
      ...{ ...queueOf(head, deadLetterQueue), isDeadLetterQueue, counts, ...numbers },
      oldestAgeSeconds: oldestMs && Math.max(0, Math.floor((look.nowMs - oldestMs) / 1000)),
      limited: await countLimited(reader, head, counts),
    }
    statuses.push(QUEUE_STATUS.of(status))
  }
  return statuses
}

async function countArchived(reader: Reader, page: readonly NamedHead[]): Promise<Map<bigint, number>> {
  const queueId = `${reader.engine.bigint('queue_id')} AS queue_id`
  const archiving = page.flatMap(({ head }) => (head.onAck === 'archive' ? head.id : []))
  const select = `SELECT ${queueId}, COUNT(*) AS messages FROM ${reader.tables.queueArchive} WHERE queue_id IN`
  const counted = await rowsAmong(reader, archiving, MAX_IDS, (some) => `${select} ${some} GROUP BY queue_id`)
  return new Map(counted.map((row) => [BigInt(row.queue_id as string), Number(row.messages)]))
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
  const heads = await session.read((reader) => listHeads(reader, names, limit + 1))
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

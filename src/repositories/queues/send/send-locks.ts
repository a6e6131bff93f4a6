/** The locks of a send: its queue (shared), its dedup ids, keys, message groups with places, and the urgencies of ready messages. */
import { type Parameter, placeholders, type Reader, type Row } from '../../../database/engine'
import { anyOf, chunksOf, groupedBy, rowsAmong } from '../../chunks'
import { heldElsewhere, skippingShared } from '../../held'
import { headColumns, headOf, isLimited, type QueueHead } from '../heads'
import { type MessageToSend, type SendRequest, urgencyOf } from '../rows'

const MAX_ROWS = 200

/** Rows of a queue that are locked one by one. */
interface LockKind {
  table: 'queueDedups' | 'queueKeys' | 'queueMessageGroups' | 'queueFlows'
  column: string
  more: string
}

const DEDUP: LockKind = { table: 'queueDedups', column: 'dedup_id', more: '' }
const KEY: LockKind = { table: 'queueKeys', column: 'message_key', more: '' }
const GROUP: LockKind = { table: 'queueMessageGroups', column: 'message_group', more: '' }
const URGENCY: LockKind = { table: 'queueFlows', column: 'urgency', more: " AND message_group = ''" }

interface Lock {
  kind: LockKind
  queueId: bigint
  value: Parameter
}

const nameOf = ({ column }: LockKind, queueId: unknown, value: unknown) => `${column} ${queueId}/${value}`

/** For each request the name of a lock that it needs and another transaction holds, or null. */
export async function heldSendLocks(reader: Reader, requests: readonly SendRequest[]): Promise<(string | null)[]> {
  const { engine, tables } = reader
  if (engine.forUpdateSkipLocked === '') return requests.map(() => null)
  const queues = [...new Set(requests.map(({ queue }) => queue))]
  const from = `FROM ${tables.queues} WHERE queue IN (${placeholders(queues.length)})`
  const found = await reader.rows(`SELECT ${headColumns(reader)} ${from}`, queues)
  const heads = new Map(found.map((row) => [row.queue as string, headOf(row)]))
  const queueOf = ({ queue }: Row) => `queue ${queue}`
  const held = await heldElsewhere(
    reader,
    { sql: `SELECT queue ${from}`, parameters: queues },
    queueOf,
    skippingShared(engine),
  )
  const full = await fullGroups(reader, requests, heads)
  const needed = requests.map(({ queue, rows }) => {
    const head = heads.get(queue)
    return head ? rows.flatMap((row) => locksOf(head, row, full)) : []
  })
  for (const [kind, locks] of groupedBy(needed.flat(), (lock) => lock.kind)) {
    for (const name of await heldOf(reader, kind, locks)) held.add(name)
  }
  return requests.map(({ queue }, index) => {
    const names = (needed[index] as Lock[]).map(({ kind, queueId, value }) => nameOf(kind, queueId, value))
    return [`queue ${queue}`, ...names].find((name) => held.has(name)) ?? null
  })
}

function locksOf(head: QueueHead, row: MessageToSend, full: ReadonlySet<string>): Lock[] {
  const { dedupId, key, messageGroup, delayMs, priority } = row
  const locks: Lock[] = []
  const add = (kind: LockKind, value: Parameter) => locks.push({ kind, queueId: head.id, value })
  if (dedupId !== null) add(DEDUP, dedupId)
  if (key !== null) add(KEY, key)
  if (delayMs > 0) return locks
  if (isLimited(head) && messageGroup !== null) add(GROUP, messageGroup)
  // A message that will be blocked gets no start.
  if (!full.has(nameOf(GROUP, head.id, messageGroup))) add(URGENCY, urgencyOf(priority))
  return locks
}

async function heldOf(reader: Reader, kind: LockKind, locks: readonly Lock[]): Promise<string[]> {
  const { table, column, more } = kind
  const names: string[] = []
  const rowName = (row: Row) => nameOf(kind, row.queue_id, row.name)
  const distinct = new Map(locks.map((lock) => [nameOf(kind, lock.queueId, lock.value), lock]))
  for (const chunk of chunksOf([...distinct.values()], MAX_ROWS)) {
    const any = anyOf(chunk, `(queue_id = ? AND ${column} = ?${more})`, ({ queueId, value }) => [queueId, value])
    const sql = `SELECT ${reader.engine.bigint('queue_id')} AS queue_id, ${column} AS name FROM ${reader.tables[table]} WHERE ${any.sql}`
    for (const name of await heldElsewhere(reader, { sql, parameters: any.parameters }, rowName)) names.push(name)
  }
  return names
}

/** The message groups of the requests that have no free place. */
async function fullGroups(
  reader: Reader,
  requests: readonly SendRequest[],
  heads: ReadonlyMap<string, QueueHead>,
): Promise<Set<string>> {
  const full = new Set<string>()
  for (const [queue, mine] of groupedBy(requests, (request) => request.queue)) {
    const head = heads.get(queue) ?? null
    if (!isLimited(head)) continue
    const groups = new Set(mine.flatMap(({ rows }) => rows.flatMap(({ messageGroup }) => messageGroup ?? [])))
    const most = head.groupConcurrency || (head.groupRateLimit?.messages ?? 0)
    const select = `SELECT message_group FROM ${reader.tables.queueMessageGroups} WHERE queue_id = ? AND limit_id = ? AND taken >= ?`
    const before = [head.id, head.groupLimitId, most]
    const sql = (some: string) => `${select} AND message_group IN ${some}`
    for (const { message_group } of await rowsAmong(reader, [...groups], MAX_ROWS, sql, { before })) {
      full.add(nameOf(GROUP, head.id, message_group))
    }
  }
  return full
}

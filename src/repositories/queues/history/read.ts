/**
 * The history of queues: its rings, with their steps, lengths and slots; reading that of one queue, and which queues grow. Nothing
 * is locked.
 */
import type { Reader, Row } from '../../../database/engine'
import { QUEUE_HISTORY } from '../../../fields/answers-queues'
import type { HistoryPeriod, HistoryPoint, QueueHistory } from '../../../shared/queue-types'
import { chunksOf, MAX_KEYS } from '../../chunks'
import { requireHead } from '../heads'

export async function readHistory(reader: Reader, queue: string, period: HistoryPeriod): Promise<QueueHistory> {
  const { id } = await requireHead(reader, queue)
  const ring = RINGS[period]
  const times = timesUntil(await nowOf(reader), ring, ring.slots)
  const rows = await rowsAt(reader, ring, times, [...COUNTS, ...GAUGES], [ALL_QUEUES, id])
  const isAll = (row: Row) => BigInt(row.queue_id as string) === ALL_QUEUES
  const counted = new Set(rows.filter(isAll).map((row) => Number(row.at_ms)))
  const own = new Map(rows.filter((row) => !isAll(row)).map((row) => [Number(row.at_ms), row]))
  const points = times.flatMap((atMs) => {
    const isCounted = counted.has(atMs)
    return isCounted || own.has(atMs) ? [pointOf(atMs, own.get(atMs), isCounted)] : []
  })
  return QUEUE_HISTORY.of({ stepSeconds: ring.stepSeconds, points })
}

/** A queue that has no row in a step in which all were counted had no messages. */
function pointOf(atMs: number, row: Row | undefined, isCounted: boolean): HistoryPoint {
  const count = (column: string) => Number(row?.[column] ?? 0)
  const gauge = (column: string) => (isCounted ? count(column) : null)
  const oldest = row?.oldest_age_seconds ?? null
  return {
    endsAt: new Date(atMs),
    sent: count('sent'),
    acked: count('acked'),
    failed: count('failed'),
    ready: gauge('ready'),
    inFlight: gauge('in_flight'),
    delayed: gauge('delayed_messages'),
    blocked: gauge('blocked'),
    died: gauge('died'),
    oldestAgeSeconds: oldest === null || !isCounted ? null : Number(oldest),
  }
}

export async function nowOf({ rows, now, tables }: Reader): Promise<number> {
  const [row] = await rows(`SELECT ${now} AS now_ms FROM ${tables.schema}`)
  return Number(row?.now_ms)
}

/** The last times of points, the oldest first. */
function timesUntil(nowMs: number, ring: HistoryRing, count: number): number[] {
  const last = lastAt(nowMs, ring)
  return Array.from({ length: count }, (_, n) => last - (count - 1 - n) * ring.stepSeconds * 1000)
}

/** How the number of waiting messages of a queue has changed. */
interface Growth {
  perMinute: number
  /** Since when it has been growing, at each look; null if it has not. */
  growingSinceMs: number | null
}

/** Null where it is not known. A queue that has had no messages lately has no entry. */
export type Growths = ReadonlyMap<bigint, Growth> | null

export const growthIn = (growths: Growths, id: bigint): Growth | null =>
  growths && (growths.get(id) ?? { perMinute: 0, growingSinceMs: null })

const APART_MS = 5 * 60_000
/** A queue grows if more wait than 5 minutes ago, more waited then than 5 minutes before, and it is this many more in all. */
const NOTABLE = 20

/** Of all queues with messages. */
export async function readGrowth(reader: Reader): Promise<Growths> {
  const ring = RINGS.hour
  const all = timesUntil(await nowOf(reader), ring, ring.slots)
  const counted = await rowsAt(reader, ring, all, ['ready'], [ALL_QUEUES])
  const times: number[] = []
  for (const at of counted.map((row) => Number(row.at_ms)).sort((a, b) => b - a)) {
    if (at <= (times.at(-1) ?? Number.POSITIVE_INFINITY) - APART_MS) times.push(at)
  }
  if (times.length < 2) return null
  const looks = await looksAt(reader, times.slice(0, 3))
  // Most queues do not grow: for those that do, the earlier looks say since when.
  const rising = [...looks].flatMap(([id, own]) => (times.length > 3 && stoppedAt(own) === -1 ? id : []))
  for (const some of chunksOf(rising, MAX_KEYS)) {
    for (const [id, own] of await looksAt(reader, times.slice(3), some))
      looks.set(id, [...(looks.get(id) ?? []), ...own])
  }
  return new Map([...looks].map(([id, own]) => [id, growthOf(own)]))
}

/** The looks at these times, of all queues that had messages, or of these. */
async function looksAt(
  reader: Reader,
  times: readonly number[],
  ids: readonly bigint[] | null = null,
): Promise<Map<bigint, Look[]>> {
  const looks = new Map(ids?.map((id) => [id, times.map((atMs): Look => [atMs, 0])]))
  for (const row of await rowsAt(reader, RINGS.hour, times, ['ready', 'blocked'], ids)) {
    const id = BigInt(row.queue_id as string)
    const own = looks.get(id) ?? times.map((atMs): Look => [atMs, 0])
    const atMs = Number(row.at_ms)
    own[times.indexOf(atMs)] = [atMs, Number(row.ready ?? 0) + Number(row.blocked ?? 0)]
    looks.set(id, own)
  }
  looks.delete(ALL_QUEUES)
  return looks
}

type Look = readonly [atMs: number, waiting: number]

/** The newest look after which no more were waiting; -1 if there is none. */
const stoppedAt = (looks: readonly Look[]) =>
  looks.findIndex(([, waiting], n) => n > 0 && waiting >= (looks[n - 1] as Look)[1])

/** `looks`: two or more, the newest first. */
function growthOf(looks: readonly Look[]): Growth {
  const [now, before, earlier] = looks as [Look, Look, Look?]
  const perMinute = Math.round(((now[1] - before[1]) / (now[0] - before[0])) * 60_000)
  const stopped = stoppedAt(looks)
  const first = looks[stopped === -1 ? looks.length - 1 : stopped - 1] as Look
  const isGrowing = earlier !== undefined && first[0] <= earlier[0] && now[1] - first[1] >= NOTABLE
  return { perMinute, growingSinceMs: isGrowing ? first[0] : null }
}

export interface HistoryRing {
  stepSeconds: number
  slots: number
}

export const RINGS: Readonly<Record<HistoryPeriod, HistoryRing>> = {
  hour: { stepSeconds: 15, slots: 240 },
  week: { stepSeconds: 600, slots: 1008 },
}

/** The last time that a point of the ring can have. */
export const lastAt = (nowMs: number, { stepSeconds }: HistoryRing) => nowMs - (nowMs % (stepSeconds * 1000))

export const slotOf = (atMs: number, { stepSeconds, slots }: HistoryRing) => (atMs / (stepSeconds * 1000)) % slots

/** The rows of the queue 0. */
export const ALL_QUEUES = 0n

export const KEY = 'step_seconds, slot, queue_id'

export const GAUGES = ['ready', 'in_flight', 'delayed_messages', 'blocked', 'died', 'oldest_age_seconds'] as const
export const COUNTS = ['sent', 'acked', 'failed'] as const

/** The rows of these times, of all queues or of these. Each slot is looked up by the key. */
async function rowsAt(
  reader: Reader,
  ring: HistoryRing,
  times: readonly number[],
  columns: readonly string[],
  ids: readonly bigint[] | null = null,
): Promise<Row[]> {
  const slots = times.map((atMs) => slotOf(atMs, ring)).join(', ')
  const own = ids === null ? '' : ` AND queue_id IN (${ids.join(', ')})`
  const rows = await reader.rows(
    `SELECT ${reader.engine.bigint('queue_id')} AS queue_id, at_ms, ${columns.join(', ')} FROM ${reader.tables.queueHistory} ` +
      `WHERE step_seconds = ${ring.stepSeconds} AND slot IN (${slots})${own}`,
  )
  const asked = new Set(times)
  return rows.filter(({ at_ms: at }) => asked.has(Number(at)))
}

export type Traffic = Record<(typeof COUNTS)[number], number>

/** The work of this process on each queue since it last wrote the history: plain numbers, of committed work. */
export class QueueTraffic {
  /** The end of the last coarse step that this process has seen written, in milliseconds. */
  roundedMs = 0
  #queues = new Map<string, Traffic>()

  get isEmpty(): boolean {
    return this.#queues.size === 0
  }

  add(queue: string, what: keyof Traffic, count: number): void {
    if (count === 0) return
    const own = this.#queues.get(queue) ?? { sent: 0, acked: 0, failed: 0 }
    this.#queues.set(queue, own)
    own[what] += count
  }

  /** All of it; counting begins again. */
  take(): ReadonlyMap<string, Traffic> {
    const taken = this.#queues
    this.#queues = new Map()
    return taken
  }

  /** It could not be written. */
  giveBack(taken: ReadonlyMap<string, Traffic>): void {
    for (const [queue, counts] of taken) for (const what of COUNTS) this.add(queue, what, counts[what])
  }
}

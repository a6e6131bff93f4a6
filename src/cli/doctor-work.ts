/** The findings of `recentn doctor`, and its checks in the tables, on every engine: work that no process does. */
import type { DataSource } from 'typeorm'
import type { Trouble, TroubleKind } from '../shared/overview-types'
import { innerOf } from '../store/inner'
import type { Store } from '../store/types'

export interface Finding {
  check: string
  /** `unknown` if the check could not be made. */
  state: 'ok' | 'warning' | 'wrong' | 'unknown'
  found: string
  /** How to fix it. */
  fix?: string
}

export type CheckResult = Omit<Finding, 'check'>
export type SqlRow = Record<string, unknown>

export function tableOf(database: DataSource, entity: string): string {
  return database.getMetadata(entity).tableName
}

export type ServerVariables = ReadonlyMap<string, string>

/** Those that the server knows. `what`: GLOBAL VARIABLES for example. */
export async function variablesOf(
  database: DataSource,
  what: string,
  names: readonly string[],
): Promise<ServerVariables> {
  const rows: { Variable_name: string; Value: string }[] = await database.query(
    `SHOW ${what} WHERE Variable_name IN (${names.map((name) => `'${name}'`).join(', ')})`,
  )
  return new Map(rows.map((row) => [row.Variable_name, String(row.Value)]))
}

export type Check = [name: string, run: (store: Store) => Promise<CheckResult>]

/** The advice for the troubles of each kind in the overview; the names follow. */
const ADVICE: Readonly<Record<TroubleKind, string>> = {
  dead: 'look at lastError, then redrive or delete the dead messages of',
  unreceived: 'see that workers run on',
  late: 'workers do not keep up with',
  growing: 'workers do not keep up with',
  held: 'see whether the receivers still run that hold messages of',
  blocked: 'see what blocks message groups of',
  paused: 'messages wait until you resume',
  schedule: 'look at lastError, and see that a process sends ticks (tick is not false), for',
  unpublished: 'see that a process with a publisher runs (publish is not false), and who holds locks, for',
  behind: 'see that these consumers run, or drop the cursors that none uses:',
}
const MAX_NAMED = 5

/** Warns where the overview has troubles of these kinds. */
async function answerOf(store: Store, found: string, kinds: readonly TroubleKind[]): Promise<CheckResult> {
  const { troubles, total } = await store.overview()
  // Kinds that share an advice give it once, and each name for the first of them.
  const fixes = [...new Set(kinds.map((kind) => ADVICE[kind]))].flatMap((advice) => {
    const all = troubles.filter(({ kind }) => ADVICE[kind] === advice)
    const named = all.filter(({ kind, name }) => all.find((one) => one.name === name)?.kind === kind).map(nameOf)
    return named.length === 0 ? [] : `${advice} ${listed(named)}`
  })
  if (total > troubles.length) fixes.push(`of ${total} troubles only the worst ${troubles.length} are known here`)
  return fixes.length === 0 ? { state: 'ok', found } : { state: 'warning', found, fix: fixes.join('; ') }
}

function nameOf({ name, count, consumer, deadLetterQueue }: Trouble): string {
  const of = consumer === null ? '' : `${JSON.stringify(consumer)} of `
  const at = deadLetterQueue === null ? '' : ` in ${JSON.stringify(deadLetterQueue)}`
  return `${of}${JSON.stringify(name)} (${count}${at})`
}

export async function queues(store: Store): Promise<CheckResult> {
  const { counts, oldestAgeSeconds } = (await innerOf(store).totals()).queues
  const age = oldestAgeSeconds === null ? '' : `, the oldest waits for ${Math.floor(oldestAgeSeconds)} s`
  const blocked = counts.blocked > 0 ? `${counts.blocked} blocked, ` : ''
  const found = `${counts.ready} messages ready, ${counts.inFlight} in flight, ${counts.delayed} delayed, ${blocked}${counts.dead} dead${age}`
  return answerOf(store, found, ['dead', 'unreceived', 'late', 'growing', 'held', 'blocked', 'paused'])
}

export async function schedules(store: Store): Promise<CheckResult> {
  const { schedules: some } = await store.schedules.list({ limit: 1 })
  return answerOf(store, some.length === 0 ? 'none' : 'there are some', ['schedule'])
}

export async function feeds(store: Store): Promise<CheckResult> {
  const { unpublishedEntries, oldestUnpublishedSeconds, greatestLag } = (await innerOf(store).totals()).feeds
  const waits = oldestUnpublishedSeconds === null ? '' : ` for up to ${Math.floor(oldestUnpublishedSeconds)} s`
  const lag = greatestLag === null ? 'no consumers' : `the consumers are up to ${greatestLag} behind`
  const found = `${unpublishedEntries} entries wait to be published${waits}, ${lag}`
  return answerOf(store, found, ['unpublished', 'behind'])
}

const DOOR_TABLES = { sends: 'SendRow', appends: 'AppendRow' } as const

export async function door(store: Store): Promise<CheckResult> {
  const totals = (await innerOf(store).totals()).door
  const { sends, appends } = totals
  const found = `${sends.waiting} sends and ${appends.waiting} appends wait, ${sends.stuck} and ${appends.stuck} are stuck`
  const stuck = (['sends', 'appends'] as const).filter((table) => totals[table].stuck > 0)
  if (stuck.length === 0) return { state: 'ok', found }
  const names = stuck.map((table) => tableOf(store.dataSource, DOOR_TABLES[table]))
  const fix = `see the column error of ${names.join(' and ')}: put the rows right and set stuck = 0, or delete them`
  return { state: 'warning', found, fix }
}

function listed(names: readonly string[]): string {
  return names.slice(0, MAX_NAMED).join(', ') + (names.length > MAX_NAMED ? ' and others' : '')
}

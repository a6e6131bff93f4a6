/**
 * Groups of mode `top` under fire: 8 processes append to the same groups, and are killed at random. Their final state does not
 * depend on the order of the calls, so a model that sorts the calls says what it must be:
 * - `best:`    the members with the highest scores, and of equal ones those with the lower ids
 * - `counted`  room for all; each change of a score that was acknowledged counts once
 * - `latest`   room for all; each member has one writer, whose last score stands, by `keep: 'latest'`
 * The judge reads the tables by SQL, during the fire too. A call that was not acknowledged may have been made or not.
 */
import { openStore, type Store } from '../../src/index'
import { describeEngine, type EngineName, freshDatabase } from '../support/engines'
import { type Script, spawnScript } from '../support/processes'
import { pause } from '../support/timing'

const WRITERS = 8
const KILLS = 8
const KILL_EVERY_MS = 500
/** The fire lasts until so many calls were acknowledged, and as many appends not taken, however slow the machine is. */
const LEAST = 200
const MEMBERS = 60
const BEST = { 'best:hot': 10, 'best:one': 1, 'best:wide': 30 } as const
const ROOM = 1000

interface Call {
  call: string
  kind: 'append' | 'count' | 'replace'
  member?: string
  score?: number
  items?: { group: string; member: string; score: number }[]
}

/** The answer: an id, or null for an append that the group did not take. */
type Answer = { done: string; ids: (string | null)[] }
type Line = Call | Answer | { fault: string } | { ready: true }

interface Row {
  group: string
  slot: number
  id: bigint
  member: string
  score: number
  call: string | undefined
}

type Ranked = Pick<Row, 'member' | 'score'> & { id: bigint | null }

export function describeTopFire(engine: EngineName): void {
  describeEngine(engine, `groups of the highest scores, ${WRITERS} writers that are killed`, () => {
    it('are what a model makes of the calls, and never show a member twice', async () => {
      const database = await freshDatabase(engine)
      const store = await openStore({ url: database.url })
      for (const [group, capacity] of Object.entries(BEST)) await store.groups.put(group, { mode: 'top', capacity })
      for (const group of ['counted', 'latest']) await store.groups.put(group, { mode: 'top', capacity: ROOM })
      const zeros = Array.from({ length: MEMBERS }, (_, n) => ({ group: 'counted', member: `m${n}`, score: 0 }))
      await store.groups.appendMany(zeros)
      let isOver = false
      const watching = watched(store, () => isOver)
      const lines = await played(database.url).finally(() => {
        isOver = true
      })
      const { looks, broken } = await watching
      const rows = await rowsOf(store)
      const calls = lines.filter((line): line is Call => 'call' in line)
      const answers = new Map(lines.flatMap((line) => ('done' in line ? [[line.done, line.ids] as const] : [])))
      expect({ broken, faults: lines.filter((line) => 'fault' in line) }).toEqual({ broken: [], faults: [] })
      for (const [group, capacity] of Object.entries(BEST)) {
        const own = rows.filter((row) => row.group === group)
        const were = own.map(({ member, score, id }) => ({ member, score, id }))
        expect([group, were]).toEqual([group, best(candidates(calls, answers, group, own), capacity)])
        expect((await store.groups.recent(group, { limit: capacity })).items.map(({ id }) => id)).toEqual(
          were.map(({ id }) => id),
        )
        await expectIds(store, calls, answers, group)
      }
      expect(miscounted(calls, answers, rows)).toEqual([])
      expect(notLatest(calls, answers, rows)).toEqual([])
      const refused = notTaken(lines)
      const cutOff = calls.length - answers.size
      process.stdout.write(
        `${engine}: ${answers.size} calls acknowledged, ${refused} appends not taken, ${cutOff} calls cut off, ${looks} looks\n`,
      )
      expect(Math.min(cutOff, looks)).toBeGreaterThan(3)
      await store.close()
      await database.drop()
    }, 120_000)
  })
}

async function played(url: string): Promise<Line[]> {
  const started: Script[] = []
  const parameters = JSON.stringify([url, Object.keys(BEST), MEMBERS, Date.now()])
  const start = () => {
    const script = spawnScript('test/faults/top-fire-child.mjs', [parameters])
    started.push(script)
    return script
  }
  const running = Array.from({ length: WRITERS }, start)
  await Promise.all(running.map((script) => script.next()))
  for (let kills = 0; kills < KILLS; kills++) {
    await pause(KILL_EVERY_MS * (0.5 + Math.random()))
    const writing = running.filter(({ lines }) => lines.length > 1)
    const killed = writing[Math.floor(Math.random() * writing.length)] as Script
    await killed.stop('SIGKILL')
    running.splice(running.indexOf(killed), 1, start())
  }
  const told = () => started.flatMap(({ lines }) => lines as Line[])
  while (Math.min(told().filter((line) => 'done' in line).length, notTaken(told())) < LEAST) await pause(50)
  for (const script of running) script.process.stdin?.end()
  await Promise.all(running.map(({ finished }) => finished))
  return told()
}

const notTaken = (lines: readonly Line[]): number =>
  lines.flatMap((line) => ('done' in line ? line.ids : [])).filter((id) => id === null).length

/** Of one statement, which sees one moment: the groups with too many items, or with a member twice. */
async function watched({ dataSource }: Store, isOver: () => boolean): Promise<{ looks: number; broken: unknown[] }> {
  const capacities = Object.entries(BEST).map(([group, capacity]) => `WHEN '${group}' THEN ${capacity}`)
  const broken: unknown[] = []
  let looks = 0
  for (; !isOver(); looks++) {
    const found = await dataSource.query(
      'SELECT group_key, COUNT(*) AS items, COUNT(DISTINCT member) AS members FROM recentn_items GROUP BY group_key ' +
        `HAVING COUNT(*) > COUNT(DISTINCT member) OR COUNT(*) > CASE group_key ${capacities.join(' ')} ELSE ${ROOM} END`,
    )
    broken.push(...found)
    await pause(2)
  }
  return { looks, broken: broken.slice(0, 5) }
}

/** The items of all groups, the highest scores first, and of equal ones the oldest. */
async function rowsOf({ dataSource }: Store): Promise<Row[]> {
  const rows: Record<string, unknown>[] = await dataSource.query(
    'SELECT group_key, slot, CAST(id AS CHAR) AS id, member, CAST(score AS CHAR) AS score, payload FROM recentn_items',
  )
  const read = rows.map(({ group_key, slot, id, member, score, payload }) => ({
    group: String(group_key),
    slot: Number(slot),
    id: BigInt(String(id)),
    member: String(member),
    score: double(BigInt(String(score))),
    call: payload === null ? undefined : (JSON.parse(String(payload)) as { call: string }).call,
  }))
  return read.sort(inRank)
}

/** The score of a stored whole number: its bits, turned round below zero. */
function double(stored: bigint): number {
  const bits = new BigInt64Array([stored < 0n ? stored ^ 0x7fff_ffff_ffff_ffffn : stored])
  return new Float64Array(bits.buffer)[0] as number
}

/** An item that no group took is behind all of its score. */
function inRank(a: Ranked, b: Ranked): number {
  if (a.score !== b.score) return b.score - a.score
  if (a.id === null || b.id === null) return Number(a.id === null) - Number(b.id === null)
  return a.id < b.id ? -1 : 1
}

/** The items that were appended, by the calls that were acknowledged and those that show in the table. */
function candidates(
  calls: readonly Call[],
  answers: ReadonlyMap<string, Answer['ids']>,
  group: string,
  rows: readonly Row[],
): Ranked[] {
  const shown = new Map(rows.map((row) => [`${row.call} ${row.member} ${row.score}`, row.id]))
  const found: Ranked[] = []
  for (const { call, items = [] } of calls) {
    const ids = answers.get(call)
    for (const [at, item] of items.entries()) {
      if (item.group !== group) continue
      const { member, score } = item
      const id = ids ? (ids[at] as string | null) : shown.get(`${call} ${member} ${score}`)
      if (id !== undefined) found.push({ member, score, id: id === null ? null : BigInt(id) })
    }
  }
  return found
}

function best(all: readonly Ranked[], capacity: number): Ranked[] {
  const members = new Map<string, Ranked>()
  for (const one of [...all].sort(inRank)) if (!members.has(one.member)) members.set(one.member, one)
  return [...members.values()].slice(0, capacity)
}

/** No id was given twice, and the group counts what it took. */
async function expectIds(
  store: Store,
  calls: readonly Call[],
  answers: ReadonlyMap<string, Answer['ids']>,
  group: string,
): Promise<void> {
  const taken: string[] = []
  let unknown = 0
  for (const { call, items = [] } of calls) {
    for (const [at, item] of items.entries()) {
      if (item.group !== group) continue
      const ids = answers.get(call)
      if (!ids) unknown++
      else if (ids[at]) taken.push(ids[at])
    }
  }
  expect(new Set(taken).size).toBe(taken.length)
  const total = Number((await store.groups.get(group))?.totalAppended)
  expect(total).toBeGreaterThanOrEqual(taken.length)
  expect(total).toBeLessThanOrEqual(taken.length + unknown)
}

function miscounted(calls: readonly Call[], answers: ReadonlyMap<string, Answer['ids']>, rows: readonly Row[]) {
  const counts = calls.filter(({ kind }) => kind === 'count')
  return rows.filter(({ group, member, score }) => {
    if (group !== 'counted') return false
    const own = counts.filter((one) => one.member === member)
    const least = own.filter(({ call }) => answers.has(call)).length
    return score < least || score > own.length
  })
}

/** Members whose item is of another call than the last that was acknowledged, and than the one after it that was cut off. */
function notLatest(calls: readonly Call[], answers: ReadonlyMap<string, Answer['ids']>, rows: readonly Row[]) {
  const last = new Map<string, (Call | undefined)[]>()
  for (const call of calls) {
    if (call.kind !== 'replace') continue
    const acknowledged = answers.has(call.call)
    const [before] = last.get(call.member as string) ?? []
    last.set(call.member as string, acknowledged ? [call] : [before, call])
  }
  const shown = new Map(rows.filter(({ group }) => group === 'latest').map((row) => [row.member, row]))
  return [...last].filter(([member, allowed]) => {
    const row = shown.get(member)
    return !allowed.some((call) => call?.call === row?.call && call?.score === row?.score)
  })
}

/**
 * Rates under fire: three processes work on a queue with a `rateLimit` and a `groupRateLimit`, and one of them is killed every two
 * seconds. A connection beside them reads what is in flight, so that receives of processes that died before their handlers began
 * count, too. In no span is more received than the rates allow, nothing is lost, and most of what is allowed is used.
 */
import { openStore, type Store } from '../../src/index'
import { describeEngine, type EngineName, freshDatabase } from '../support/engines'
import { type Script, spawnScript } from '../support/processes'
import { pause } from '../support/timing'
import { IS_LONG } from './fault-run'

const QUEUE = 'limited'
const PER_SECOND = 50
const OF_GROUP = 2
const SPAN_MS = 1000
const KILL_EVERY_MS = 2000
/** The last messages are those of processes that were killed, and of groups with many left. */
const MEASURED_SHARE = 0.9

/** `leastShare` of the rate must be used. A late receive is never made up for, so that a busy machine uses less: the short form asks for none. */
const { messages, groups, leastShare } = IS_LONG
  ? { messages: 3000, groups: 100, leastShare: 0.9 }
  : { messages: 400, groups: 40, leastShare: 0 }

interface Receive {
  id: string
  group: string
  atMs: number
}
type Line = Receive | { fault: string } | 'working'

export function describeRates(engine: EngineName): void {
  describeEngine(engine, `${messages} messages of ${groups} groups with rates, and three processes`, () => {
    it(
      'are within the rates, and complete, whoever is killed',
      async () => {
        const database = await freshDatabase(engine)
        const store = await openStore({ url: database.url })
        await store.queues.put(QUEUE, {
          rateLimit: { messages: PER_SECOND, perSeconds: 1 },
          groupRateLimit: { messages: OF_GROUP, perSeconds: 1 },
          ...{ visibilityTimeoutSeconds: 5, maxReceives: null },
        })
        const bodies = Array.from({ length: messages }, (_, body) => ({ body, messageGroup: `g${body % groups}` }))
        const ids: string[] = []
        for (let at = 0; at < messages; at += 1000) {
          for (const { id } of await store.queues.sendMany(QUEUE, bodies.slice(at, at + 1000))) ids.push(`${id}`)
        }
        const { lines, seen, kills } = await played(database.url, store, (messages / PER_SECOND) * 3000 + 60_000)
        const faults = lines.flatMap((line) => (typeof line === 'object' && 'fault' in line ? [line.fault] : []))
        const handled = lines.filter((line): line is Receive => typeof line === 'object' && 'id' in line)
        const receives = distinct([...handled, ...seen])
        const most = Math.max(...[...byGroup(receives).values()].map((some) => busiest(some)))
        const left = (await store.queues.get(QUEUE))?.counts
        await store.close()
        await database.drop()
        const handledIds = new Set(handled.map(({ id }) => id))
        const lost = ids.filter((id) => !handledIds.has(id))
        expect({ faults, lost, left }).toMatchObject({
          faults: [],
          lost: [],
          left: { ready: 0, inFlight: 0, delayed: 0, blocked: 0 },
        })
        expect([busiest(receives) <= PER_SECOND + 1, busiest(receives)]).toEqual([true, expect.any(Number)])
        expect([most <= OF_GROUP + 1, most]).toEqual([true, expect.any(Number)])
        const share = shareOf(receives, messages)
        expect([share >= leastShare, share]).toEqual([true, expect.any(Number)])
        // The fire was one.
        expect(kills).toBeGreaterThan(messages / PER_SECOND / 16)
        const text = `${receives.length} receives, ${kills} kills, at most ${busiest(receives)} and ${most} a second`
        process.stdout.write(`${engine}: rates: ${text}, ${share.toFixed(3)} of the rate\n`)
      },
      (messages / PER_SECOND) * 3000 + 150_000,
    )
  })
}

/** The lines of the processes, with those that were killed, and the receives that were seen from outside. */
async function played(url: string, store: Store, patienceMs: number) {
  const started: Script[] = []
  const start = async () => {
    const script = spawnScript('test/faults/rates-child.mjs', [JSON.stringify([url, QUEUE])])
    started.push(script)
    await script.next()
    return script
  }
  const running = await Promise.all([start(), start(), start()])
  const until = Date.now() + patienceMs
  const seen: Receive[] = []
  let kills = 0
  let isOver = false
  const watching = watched(store, seen, () => isOver)
  for (let turn = 0; Date.now() < until; turn++) {
    await pause(KILL_EVERY_MS)
    const { ready = 0, inFlight = 0, delayed = 0, blocked = 0 } = (await store.queues.get(QUEUE))?.counts ?? {}
    if (ready + inFlight + delayed + blocked === 0) break
    // None of the last ones: their claims would have to run out again and again.
    if (ready + delayed + blocked === 0) continue
    await running[turn % 3]?.stop('SIGKILL')
    kills++
    // The others work on, also where a process takes long to begin.
    running[turn % 3] = await start()
  }
  isOver = true
  await watching
  for (const script of running) script.process.stdin?.end()
  await Promise.all(running.map(({ finished }) => finished))
  return { lines: started.flatMap((script) => script.lines as Line[]), seen, kills }
}

async function watched(store: Store, seen: Receive[], isOver: () => boolean): Promise<void> {
  while (!isOver()) {
    const rows = await store.dataSource.query(
      'SELECT id, message_group, last_received_at_ms FROM recentn_queue_messages WHERE state = 1',
    )
    for (const row of rows) {
      seen.push({ id: `${row.id}`, group: row.message_group, atMs: Number(row.last_received_at_ms) })
    }
    await pause(100)
  }
}

function distinct(receives: readonly Receive[]): Receive[] {
  const all = new Map(receives.map((one) => [`${one.id} ${one.atMs}`, one]))
  return [...all.values()].sort((a, b) => a.atMs - b.atMs)
}

function byGroup(receives: readonly Receive[]): Map<string, Receive[]> {
  const groups = new Map<string, Receive[]>()
  for (const one of receives) groups.set(one.group, [...(groups.get(one.group) ?? []), one])
  return groups
}

/** The most that were received in a span, by their times in order. */
function busiest(receives: readonly Receive[]): number {
  let [most, first] = [0, 0]
  for (const [last, { atMs }] of receives.entries()) {
    while ((receives[first] as Receive).atMs <= atMs - SPAN_MS) first++
    most = Math.max(most, last - first + 1)
  }
  return most
}

/** How much of the rate was used, until most messages were received. */
function shareOf(receives: readonly Receive[], messages: number): number {
  const measured = Math.floor(messages * MEASURED_SHARE)
  const [first, last] = [receives[0], receives[measured - 1]]
  if (first === undefined || last === undefined) return 0
  return measured / (PER_SECOND * ((last.atMs - first.atMs) / 1000 + 1))
}

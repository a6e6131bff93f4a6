/** Latency of appends and of reads at a fixed rate, on tables that are there, and whether what is there is right. */
import { execFile } from 'node:child_process'
import { join, resolve } from 'node:path'
import { performance } from 'node:perf_hooks'
import { promisify } from 'node:util'
import type { Store } from '../../src'
import { itemOf, opOf } from '../items'
import { atRate, percentile } from '../load/callers'
import { even } from '../random'
import { groupName } from './load'

const run = promisify(execFile)
const CLI = resolve(__dirname, '../../dist/src/cli.js')

/** Far below what the machine can do, so that nothing queues for long. */
export const PER_SECOND = 500
/** Groups that are compared with what must be in them. */
const COMPARED = 200

export interface Latency {
  p50: number
  p99: number
}

export interface Latencies {
  append: Latency
  read: Latency
  faults: string[]
}

/** Appends made on top of what was loaded: of each group, in the order of their ids. */
type Appended = Map<number, { id: bigint; op: number }[]>

export async function latenciesOf(store: Store, url: string, groups: number, capacity: number, ms: number) {
  const pick = even(groups)
  const appended: Appended = new Map()
  let op = groups * capacity
  const append = async () => {
    const group = pick()
    const mine = op++
    const { id } = await store.groups.append(groupName(group), itemOf(mine))
    const list = appended.get(group) ?? []
    list.push({ id, op: mine })
    appended.set(group, list)
  }
  const read = async () => {
    await store.groups.recent(groupName(pick()), { limit: 10 })
  }
  await timed(append, ms / 4)
  await timed(read, ms / 4)
  const appendLatency = await timed(append, ms)
  const readLatency = await timed(read, ms)
  const faults = await faultsIn(store, groups, capacity, appended)
  faults.push(...(await doctorsFaults(url)))
  return { append: appendLatency, read: readLatency, faults }
}

async function timed(call: () => Promise<void>, ms: number): Promise<Latency> {
  const samples: number[] = []
  await atRate(PER_SECOND, ms, async () => {
    const from = performance.now()
    await call()
    samples.push(performance.now() - from)
  })
  const sorted = Float64Array.from(samples).sort()
  return { p50: percentile(sorted, 50), p99: percentile(sorted, 99) }
}

async function faultsIn(store: Store, groups: number, capacity: number, appended: Appended): Promise<string[]> {
  const faults: string[] = []
  const pick = even(groups, 7)
  const touched = [...appended.keys()].slice(0, COMPARED / 2)
  for (const group of [...touched, ...Array.from({ length: COMPARED / 2 }, pick)]) {
    const { items, totalAppended } = await store.groups.recent(groupName(group), { limit: capacity })
    const more = (appended.get(group) ?? []).sort((a, b) => Number(a.id - b.id))
    const all = Array.from({ length: capacity }, (_, at) => group * capacity + at).concat(more.map(({ op }) => op))
    const due = all.slice(-capacity).reverse()
    const ids = items.every(({ id }, at) => id === BigInt(all.length - 1 - at))
    if (!ids || totalAppended !== BigInt(all.length) || items.map(opOf).join() !== due.join()) {
      faults.push(
        `${groupName(group)}: totalAppended ${totalAppended}, due ${all.length}; ${items.length} items are not the last ${capacity}`,
      )
    }
  }
  return faults
}

async function doctorsFaults(url: string): Promise<string[]> {
  const env = { ...process.env, DATABASE_URL: url }
  return run(process.execPath, [join(CLI), 'doctor'], { env }).then(
    () => [],
    (error: { stdout?: string }) => [`recentn doctor: ${error.stdout ?? error}`],
  )
}

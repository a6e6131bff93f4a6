/** One fire over a number of groups, from the start of its processes to the comparison with the oracle. */
import { openStore } from '../../src'
import type { Recent } from '../../src/shared/group-types'
import type { Store } from '../../src/store/types'
import {
  type Acknowledged,
  FIRST_SETTINGS,
  familyOf,
  groupNames,
  type Report,
  setFire,
  type Task,
  withProcesses,
} from './fire'
import { judge } from './oracle'

export interface RingFire {
  groups: number
  /** Processes that append; one more changes settings and erases, unless `alone`. */
  processes: number
  /** Loops of each process, and the connections of its pool. */
  loops: number
  /** Operations of each loop; an operation appends one item or, two times in five, a batch. */
  operations: number
  batch: number
  /** The one process does everything. */
  alone?: boolean
}

/** Must run before any process opens its store, so that the first append already follows it. */
export async function putFirstSettings(url: string): Promise<void> {
  const store = await openStore({ url })
  try {
    for (const [family, settings] of Object.entries(FIRST_SETTINGS)) {
      await store.policies.put(`${family}:`, settings)
    }
  } finally {
    await store.close()
  }
}

/** Runs one, and asserts everything that is promised. */
export async function expectNothingLost(url: string, fire: RingFire): Promise<void> {
  const tasks = tasksOf(fire)
  const options = { url, poolSize: Math.max(4, fire.loops), migrate: false }
  const report = await withProcesses(tasks.length, options, (processes) => setFire(processes, tasks))
  printRate(url, fire, report)

  expect(report.failures.slice(0, 20)).toEqual([])
  const { faults, windows, totals } = judge(report)
  expect(faults.slice(0, 20)).toEqual([])
  expect(report.settings.length).toBeGreaterThan(0)

  const store = await openStore({ url, migrate: false })
  try {
    await store.policies.put('policy:', FIRST_SETTINGS.policy)
    await expectWindows(store, windows, totals)
  } finally {
    await store.close()
  }
}

function tasksOf(fire: RingFire): Task[] {
  const groups = groupNames(fire.groups)
  const seed = fire.groups * 31 + fire.processes
  const load = { loops: fire.loops, operations: fire.operations, batch: fire.batch, eventIds: 100 }
  const writers = Array.from({ length: fire.processes }, (_, at) => ({
    ...load,
    label: `${fire.groups}-p${at}`,
    seed: seed + at * 104_729,
    groups,
    changes: fire.alone,
  }))
  return fire.alone ? writers : [...writers, { label: 'changer', seed, groups, changes: true }]
}

async function expectWindows(
  store: Store,
  windows: ReadonlyMap<string, readonly Acknowledged[]>,
  totals: ReadonlyMap<string, number>,
): Promise<void> {
  const expected = (group: string) => ({
    totalAppended: totals.get(group),
    items: windows.get(group)?.map(lineOf),
  })
  const names = [...windows.keys()]
  // While members were being erased, some of their items may be there and some not; of everybody else's, all are.
  let ghosts = 0
  for (const { group, totalAppended, items } of await readAll(store, names)) {
    const others = items.filter((line) => !line.includes(' ghost-'))
    ghosts += items.length - others.length
    expect({ group, totalAppended, items: others }).toEqual({ group, ...expected(group) })
  }
  let erased = 0
  for (let number = 0; number < 4; number++) erased += (await store.groups.eraseMember(`ghost-${number}`)).deleted
  // Not equal: rows that a smaller policy hides are still there until the group's next write.
  expect(erased).toBeGreaterThanOrEqual(ghosts)
  for (const read of await readAll(store, names)) expect(read).toEqual({ group: read.group, ...expected(read.group) })
}

/** Oldest first, a line each. */
async function readAll(store: Store, names: readonly string[]) {
  const read: { group: string; totalAppended: number; items: string[] }[] = []
  for (let start = 0; start < names.length; start += 100) {
    for (const recent of await store.groups.recentMany(names.slice(start, start + 100), { limit: 10_000 })) {
      expectSlots(recent)
      const { group, totalAppended, items } = recent
      const lines = items.map((item) => lineOf({ ...item, n: (item.payload as { n: string }).n }))
      read.push({ group, totalAppended: Number(totalAppended), items: lines.reverse() })
    }
  }
  expect(read.map(({ group }) => group)).toEqual(names)
  return read
}

/** A policy that changed reaches the slots at the group's next write; all others are laid out already. */
function expectSlots({ group, capacity, mode, items }: Recent): void {
  if (familyOf(group) === 'policy') return
  const wrong = items.filter(({ id, slot }) =>
    mode === 'history' ? slot !== Number(id % BigInt(capacity)) : slot < 0 || slot >= capacity,
  )
  expect(wrong).toEqual([])
}

function lineOf(item: { id: bigint | string; member: string | null; n: string; eventId: string | null }): string {
  return `${item.id} ${item.member} ${item.n} ${item.eventId}`
}

function printRate(url: string, fire: RingFire, report: Report): void {
  const appended = report.records.filter((record) => record.appended).length
  process.stdout.write(
    `${new URL(url).protocol} ${fire.groups} group(s), ${fire.processes} process(es) × ${fire.loops}: ${appended} appends ` +
      `(${report.records.length - appended} repeated), ${report.settings.length} settings, ` +
      `${report.removals.length} removals in ${report.seconds.toFixed(1)} s, the slowest append ${Math.round(report.slowestMs)} ms\n`,
  )
}

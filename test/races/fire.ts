/**
 * The fire: several processes append to the same groups as fast as they can, while one changes settings and erases.
 *
 * Families, the first word of a group's name, say what happens in it, and keep what comes out decidable:
 * - `hist:`    history; capacity changes from 1 to 30 all the time; items are removed; event ids are used again
 * - `modal:`   mode and capacity change all the time; no erasure, so that a replay by id gives its exact content
 * - `wide:`    distinct, with room for every member there is, so that only erasure takes anybody out
 * - `event:`   history with room for all; every process appends the same event ids, each of which may get in once
 * - `policy:`  follows a policy whose capacity changes, never below 10
 * Members `ghost-…` are the only ones that are erased, again and again, and for good at the end.
 */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import type { OpenOptions } from '../../src/store/option-types'

export const FIRST_SETTINGS = {
  hist: { capacity: 10, mode: 'history' },
  modal: { capacity: 8, mode: 'history' },
  wide: { capacity: 50, mode: 'distinct' },
  event: { capacity: 10_000, mode: 'history' },
  policy: { capacity: 10, mode: 'history' },
} as const
export type Family = keyof typeof FIRST_SETTINGS

const MIX: Family[] = ['hist', 'modal', 'wide', 'event', 'policy', 'hist', 'hist', 'modal', 'wide', 'hist']

/** `count` groups of all families; a single one is a `hist:`. */
export function groupNames(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `${MIX[index % MIX.length]}:${count}-${index}`)
}

export function familyOf(group: string): Family {
  return group.slice(0, group.indexOf(':')) as Family
}

/** The work of one process. */
export interface Task {
  label: string
  seed: number
  groups: string[]
  /** Concurrent appending loops, each of this number of operations; none for a process that only changes. */
  loops?: number
  operations?: number
  /** An operation appends one item, or two to this number. */
  batch?: number
  /** How many different event ids an `event:` group sees. */
  eventIds?: number
  /** Change settings and the policy, and erase, until the others are done. */
  changes?: boolean
}

/** One acknowledged append. */
export interface Acknowledged {
  /** The loop that made it; within a loop, `op` grows with time. */
  label: string
  op: number
  group: string
  id: string
  member: string
  /** Unlike that of any other item; its payload. */
  n: string
  eventId: string | null
  appended: boolean
  slot: number
}

/** The group had been appended to `totalAppended` times when it got these settings. */
export interface SettingsChange {
  group: string
  totalAppended: string
  capacity: number
  mode: 'history' | 'distinct'
}

export interface Report {
  records: Acknowledged[]
  removals: { group: string; id: string; removed: boolean }[]
  settings: SettingsChange[]
  failures: string[]
  /** From the start signal to the last acknowledgement. */
  seconds: number
  /** The longest that a caller waited for an append. */
  slowestMs: number
}

type Message = { type: string } & Partial<Report>

const CHILD = path.join(__dirname, 'fire-child.mjs')

/** A process that was sent the order to load the library, and what it says. */
export class FireProcess {
  private readonly child: ChildProcess
  private readonly heard: Message[] = []
  private wake: () => void = () => {}
  private gone: string | null = null

  constructor() {
    this.child = fork(CHILD, { execArgv: [], stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
    this.child.on('message', (message: Message) => {
      this.heard.push(message)
      this.wake()
    })
    this.child.on('exit', (code, signal) => {
      this.gone = `a process of the fire ended with ${signal ?? code}`
      this.wake()
    })
  }

  tell(message: object): void {
    this.child.send(message)
  }

  /** The next message of this type; throws when the process fails or ends first. */
  async hear(type: string): Promise<Message> {
    for (;;) {
      const at = this.heard.findIndex((message) => message.type === type)
      const [found] = at < 0 ? [] : this.heard.splice(at, 1)
      if (found) return found
      const failed = this.heard.find((message) => message.type === 'failed')
      if (failed) throw new Error(failed.failures?.join('\n'))
      if (this.gone) throw new Error(`${this.gone} before it was ${type}`)
      await new Promise<void>((resolve) => {
        this.wake = resolve
      })
    }
  }

  /** Closes its store and lets it end by itself. */
  async end(): Promise<void> {
    const exit = once(this.child, 'exit')
    this.tell({ type: 'close' })
    await this.hear('closed')
    await exit
  }

  kill(): void {
    if (this.gone === null) this.child.kill('SIGKILL')
  }
}

/** Starts `count` processes, and has them all open a store at the same moment; gives what `use` gives. */
export async function withProcesses<T>(
  count: number,
  options: OpenOptions,
  use: (processes: FireProcess[]) => Promise<T>,
): Promise<T> {
  const processes = Array.from({ length: count }, () => new FireProcess())
  try {
    await Promise.all(processes.map((each) => each.hear('loaded')))
    for (const each of processes) each.tell({ type: 'open', options })
    await Promise.all(processes.map((each) => each.hear('opened')))
    const result = await use(processes)
    await Promise.all(processes.map((each) => each.end()))
    return result
  } finally {
    for (const each of processes) each.kill()
  }
}

/** Runs the tasks, one for each process, from one start signal to the end of the last append. */
export async function setFire(processes: readonly FireProcess[], tasks: readonly Task[]): Promise<Report> {
  const started = performance.now()
  const pairs = processes.map((process, at) => ({ process, task: tasks[at] as Task }))
  for (const { process, task } of pairs) process.tell({ type: 'go', task })
  const writers = pairs.filter(({ task }) => task.loops)
  const appended = await Promise.all(writers.map(({ process }) => process.hear('appended')))
  const seconds = (performance.now() - started) / 1000
  const changers = pairs.filter(({ task }) => task.changes)
  for (const { process } of changers) process.tell({ type: 'stop' })
  const changed = await Promise.all(changers.map(({ process }) => process.hear('changed')))
  return {
    records: appended.flatMap((message) => message.records ?? []),
    removals: appended.flatMap((message) => message.removals ?? []),
    settings: changed.flatMap((message) => message.settings ?? []),
    // A process that does both tells its list twice.
    failures: [...new Set([...appended, ...changed].flatMap((message) => message.failures ?? []))],
    seconds,
    slowestMs: Math.max(...appended.map((message) => message.slowestMs ?? 0)),
  }
}

/**
 * `recentn replay`: appends the lines of access logs to groups, in order.
 *
 * One batch is in flight at a time. With two, the second could be committed first, and the last items of a group would
 * not be those of the last lines.
 */
import type { NewGroupItem } from '../repositories/recent/types'
import { parseAccessLogLine } from './access-log'
import { type LogInput, type LogLine, readLines } from './lines'
import { eventIdBase, eventIdOf, type Mapping, mapEntry } from './mapping'
import { NameSet } from './name-set'
import type { Progress } from './progress'
import { type GroupSettings, RefusedItems, type ReplayTarget } from './targets'

export interface ReplayOptions {
  mapping: Mapping
  /** The items of one commit, 1 to 1,000. */
  batch: number
  /** The own settings that each group gets before its first append; null leaves the groups unchanged. */
  settings: GroupSettings | null
  /** Stop at the first bad line, with nothing of its batch appended. */
  strict: boolean
  eventIds: boolean
  /** Stops after the batch in flight. */
  signal: AbortSignal
  progress: Progress
}

export interface ReplaySummary {
  lines: number
  /** Appended in this run. With event ids to a server this includes items that were there already: its answer does not say. */
  appended: number
  /** Not appended again, because their event id is in the window of their group. */
  alreadyThere: number
  /** The number of groups that got an item, or had it already. */
  groups: number
  badLines: number
  /** Empty lines, which are not bad. */
  blankLines: number
  seconds: number
  appendsPerSecond: number
  /** True if a signal stopped it before the end. */
  interrupted: boolean
  /** Why it failed before the end of its input; null if it did not. */
  error: string | null
}

/** The maximum number of bad lines that are reported one by one. */
export const MAX_REPORTED = 20

/** Replays the inputs one after the other. Never throws: the summary has the error. */
export async function replay(
  inputs: readonly LogInput[],
  target: ReplayTarget,
  options: ReplayOptions,
): Promise<ReplaySummary> {
  const run = new Replay(target, options)
  const started = performance.now()
  try {
    for (const input of inputs) await run.read(input)
    await run.flush()
  } catch (error) {
    run.summary.interrupted = options.signal.aborted
    if (!(error instanceof Interrupted)) run.summary.error = messageOf(error)
  }
  const { summary } = run
  if (summary.badLines > MAX_REPORTED) {
    options.progress.note(`and ${summary.badLines - MAX_REPORTED} more bad lines`)
  }
  summary.seconds = (performance.now() - started) / 1000
  summary.appendsPerSecond = summary.seconds > 0 ? Math.round(summary.appended / summary.seconds) : 0
  return summary
}

function messageOf(error: unknown): string {
  return (error as Error | null)?.message ?? String(error)
}

/** The line of an item, to report it if the item is refused. */
interface Origin {
  input: LogInput
  number: number
}

class Replay {
  readonly summary: ReplaySummary = {
    lines: 0,
    appended: 0,
    alreadyThere: 0,
    groups: 0,
    badLines: 0,
    blankLines: 0,
    seconds: 0,
    appendsPerSecond: 0,
    interrupted: false,
    error: null,
  }
  readonly #settled = new NameSet()
  readonly #groups = new NameSet()
  #items: NewGroupItem[] = []
  #origins: Origin[] = []
  #weight = 0

  constructor(
    private readonly target: ReplayTarget,
    private readonly options: ReplayOptions,
  ) {}

  async read(input: LogInput): Promise<void> {
    const { signal, progress } = this.options
    const base = eventIdBase(input.name)
    const lines = readLines(input, { signal, onBytes: (count) => progress.advance(count) })
    try {
      for await (const chunk of lines) {
        for (const line of chunk) await this.#line(input, base, line)
        progress.count(this.summary.lines, this.summary.appended)
      }
    } catch (error) {
      if (error instanceof StrictStop || error instanceof TargetFailure || error instanceof Interrupted) throw error
      if (signal.aborted) throw new Interrupted()
      // The lines that were read are good, whatever is wrong with the rest of the file.
      await this.flush()
      throw new Error(`${nameOf(input)} can't be read: ${messageOf(error)}`)
    }
  }

  async #line(input: LogInput, base: string, line: LogLine): Promise<void> {
    this.summary.lines++
    const origin = { input, number: line.number }
    if (line.bytes === null) return this.#bad(origin, 'is longer than 64 KiB')
    if (line.bytes.every(isBlank)) {
      this.summary.blankLines++
      return
    }
    const { entry, reason } = parseAccessLogLine(line.bytes)
    if (!entry) return this.#bad(origin, reason)
    const mapped = mapEntry(entry, this.options.mapping)
    if (!mapped.item) return this.#bad(origin, mapped.reason)
    if (this.options.eventIds) mapped.item.eventId = eventIdOf(base, line.number, line.bytes)
    await this.#add(mapped.item, origin)
  }

  async #add(item: NewGroupItem, origin: Origin): Promise<void> {
    const weight = this.target.weigh(item)
    if (this.#items.length > 0 && this.#weight + weight > this.target.maxWeight) await this.flush()
    this.#items.push(item)
    this.#origins.push(origin)
    this.#weight += weight
    if (this.#items.length >= this.options.batch) await this.flush()
  }

  async flush(): Promise<void> {
    if (this.options.signal.aborted) throw new Interrupted()
    let [items, origins] = [this.#items, this.#origins]
    this.#items = []
    this.#origins = []
    this.#weight = 0
    while (items.length > 0) {
      const refused = await this.#append(items)
      if (!refused) return
      for (const [index, reason] of refused.reasons) this.#bad(origins[index] as Origin, `was refused: ${reason}`)
      const stays = (_: unknown, index: number) => !refused.reasons.has(index)
      items = items.filter(stays)
      origins = origins.filter(stays)
    }
  }

  /** Null if all items were appended; otherwise none was, and the refused ones are returned. */
  async #append(items: readonly NewGroupItem[]): Promise<RefusedItems | null> {
    try {
      await this.#settle(items)
      const alreadyThere = (await this.target.append(items)) ?? 0
      this.summary.alreadyThere += alreadyThere
      this.summary.appended += items.length - alreadyThere
    } catch (error) {
      if (error instanceof RefusedItems) return error
      // A wait between two attempts was interrupted; the attempt before it stored nothing.
      if ((error as Error).name === 'AbortError') throw new Interrupted()
      throw new TargetFailure(messageOf(error), { cause: error })
    }
    for (const group of groupsOf(items)) this.#groups.add(group)
    this.summary.groups = this.#groups.size
    return null
  }

  async #settle(items: readonly NewGroupItem[]): Promise<void> {
    const { settings } = this.options
    if (settings === null) return
    const groups = [...groupsOf(items)].filter((group) => !this.#settled.has(group))
    if (groups.length === 0) return
    await this.target.applySettings(groups, settings)
    for (const group of groups) this.#settled.add(group)
  }

  #bad(origin: Origin, reason: string): void {
    this.summary.badLines++
    const said = `${nameOf(origin.input)}, line ${origin.number} ${reason}`
    if (this.options.strict) throw new StrictStop(`${said}; stopped there, as --strict says`)
    if (this.summary.badLines <= MAX_REPORTED) this.options.progress.note(said)
  }
}

class StrictStop extends Error {}

/** A signal stopped the run. */
class Interrupted extends Error {}

/** The database or the server failed, not the input. */
class TargetFailure extends Error {}

const groupsOf = (items: readonly NewGroupItem[]): Set<string> => new Set(items.map((item) => item.group))

const isBlank = (byte: number): boolean => byte === 0x20 || byte === 0x09

function nameOf(input: LogInput): string {
  return input.name === '-' ? 'standard input' : input.name
}

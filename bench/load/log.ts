/**
 * What was appended and acknowledged: for each append its group and the number that orders it there. Plain arrays, so
 * that keeping the log costs next to nothing. All checks are made from it.
 */
import { isDeepStrictEqual } from 'node:util'
import { opOf, scoreOf, viewerOf, WINDOW } from '../items'
import type { Purpose, Ring, StoredItem } from '../types'

const REFUSED = -1
const UNANSWERED = -2
const CHUNK = 100

export class AppendLog {
  /** How many were begun; each has the number of the beginning. */
  begun = 0
  acknowledged = 0
  refused = 0
  #groups = new Int32Array(1 << 20)
  #orders = new Float64Array(1 << 20)
  /** How many were begun when the answer came: what began later than that, began after it. */
  #ends = new Int32Array(1 << 20)

  constructor(readonly names: readonly string[]) {}

  begin(group: number): number {
    if (this.begun === this.#groups.length) this.#grow()
    this.#groups[this.begun] = group
    this.#orders[this.begun] = UNANSWERED
    return this.begun++
  }

  end(op: number, order: number): void {
    this.#orders[op] = order
    this.#ends[op] = this.begun
    if (order === REFUSED) this.refused++
    else this.acknowledged++
  }

  #grow(): void {
    const groups = new Int32Array(2 * this.begun)
    groups.set(this.#groups)
    this.#groups = groups
    const orders = new Float64Array(2 * this.begun)
    orders.set(this.#orders)
    this.#orders = orders
    const ends = new Int32Array(2 * this.begun)
    ends.set(this.#ends)
    this.#ends = ends
  }

  /** The acknowledged appends of each group that has some, by their order. */
  byGroup(): Map<number, number[]> {
    const groups = new Map<number, number[]>()
    for (let op = 0; op < this.begun; op++) {
      if ((this.#orders[op] as number) < 0) continue
      const group = this.#groups[op] as number
      const list = groups.get(group)
      if (list) list.push(op)
      else groups.set(group, [op])
    }
    for (const list of groups.values()) list.sort((a, b) => this.orderOf(a) - this.orderOf(b))
    return groups
  }

  endOf(op: number): number {
    return this.#ends[op] as number
  }

  orderOf(op: number): number {
    return this.#orders[op] as number
  }
}

/**
 * For a ring whose appends gave no number: its last 10 are right when there is an order of the appends that gives
 * them, in which none comes before one that was answered before it began.
 */
export function lastFault(log: AppendLog, items: readonly StoredItem[], ops: readonly number[]): string | null {
  const shown = new Set(items.map(opOf))
  const due = Math.min(WINDOW, ops.length)
  const known = new Set(ops)
  if (items.length !== due || shown.size !== due || ![...shown].every((op) => known.has(op))) {
    return `has ${[...shown].join(' ')} of ${ops.length} appends`
  }
  const firstEnd = Math.min(...[...shown].map((op) => log.endOf(op)))
  const pushedOut = ops.find((op) => !shown.has(op) && op >= firstEnd)
  return pushedOut === undefined ? null : `${pushedOut} is not there, an older one is: ${[...shown].join(' ')}`
}

export interface Verdict {
  faults: string[]
  /** What was checked. */
  note: string
}

interface Expected {
  gapless: boolean
  purpose?: Purpose
}

/** What a group has, and what it should have of these appends. */
type Compared = (items: readonly StoredItem[], ops: readonly number[]) => [was: unknown[], due: unknown[]]

const newest: Compared = (items, ops) => [items.map(opOf), ops.slice(-WINDOW).reverse()]

const COMPARED: Record<Purpose, Compared> = {
  history: newest,
  erase: newest,
  distinct: (items, ops) => [items.map(({ member }) => member), lastViewers(ops)],
  // Of equal scores any may be there.
  top: (items, ops) => {
    const best = new Map<string | null, number>()
    for (const op of ops) best.set(viewerOf(op), Math.max(scoreOf(op), best.get(viewerOf(op)) ?? 0))
    const was = items.map(({ member, score }) => (best.get(member) === score ? score : `${member}: ${score}`))
    return [was, [...best.values()].sort((a, b) => b - a).slice(0, WINDOW)]
  },
}

/** Holds a ring that nobody appends to any more against the log: ids, the last 10 of every group, nothing lost. */
export async function checkRing(
  ring: Ring,
  log: AppendLog,
  { gapless, purpose = 'history' }: Expected,
): Promise<Verdict> {
  const faults: string[] = []
  const groups = log.byGroup()
  if (log.begun !== log.acknowledged) faults.push(`${log.begun - log.acknowledged} appends were not acknowledged`)
  if (gapless) for (const [group, ops] of groups) addGap(faults, log, group, ops)
  const indexes = [...groups.keys()]
  for (let at = 0; at < indexes.length; at += CHUNK) {
    const chunk = indexes.slice(at, at + CHUNK)
    const answers = await ring.recentMany(chunk.map((group) => log.names[group] as string))
    chunk.forEach((group, index) => {
      const ops = groups.get(group) as number[]
      const [was, due] = COMPARED[purpose](answers[index] ?? [], ops)
      if (!isDeepStrictEqual(was, due))
        faults.push(`${log.names[group]}: has ${was.join(' ')}, due is ${due.join(' ')}`)
    })
  }
  const taken = await ring.taken?.()
  if (taken !== undefined && taken !== log.acknowledged) {
    faults.push(`the store counts ${taken} appends, acknowledged were ${log.acknowledged}`)
  }
  const checked = [
    `the ${purpose === 'top' ? 'highest' : 'last'} ${WINDOW} of ${groups.size} groups`,
    ...(gapless ? ['ids without gap'] : []),
  ]
  if (taken !== undefined) checked.push(`total ${taken}`)
  return { faults, note: `${log.acknowledged} appends; ${checked.join(', ')}` }
}

function addGap(faults: string[], log: AppendLog, group: number, ops: number[]): void {
  const wrong = ops.findIndex((op, index) => log.orderOf(op) !== index)
  if (wrong >= 0) {
    faults.push(
      `${log.names[group]}: id ${log.orderOf(ops[wrong] as number)} where ${wrong} was due (gap or duplicate)`,
    )
  }
}

function lastViewers(ops: readonly number[]): string[] {
  const seen = new Set<string>()
  for (let at = ops.length - 1; at >= 0 && seen.size < WINDOW; at--) seen.add(viewerOf(ops[at] as number))
  return [...seen]
}

/**
 * For a contender that is known to lose appends: how much of what it acknowledged is truly there, by its own count,
 * from 0 to 1.
 */
export async function honestShare(ring: Ring, log: AppendLog): Promise<{ share: number; note: string }> {
  const taken = Math.min((await ring.taken?.()) ?? 0, log.acknowledged)
  const share = log.acknowledged === 0 ? 0 : taken / log.acknowledged
  const note = `NOT CORRECT: of ${log.begun} appends ${log.refused} refused, ${log.acknowledged - taken} acknowledged and lost`
  return { share, note }
}

/** Whether what was read are the newest items of a group that holds these, newest first. */
export function isNewest(items: readonly StoredItem[], ops: readonly number[]): boolean {
  return items.length === ops.length && items.every((item, index) => opOf(item) === ops[index])
}

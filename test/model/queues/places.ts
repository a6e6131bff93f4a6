/**
 * Places of message groups, as the contract says it: in a queue with a `groupConcurrency` of N at most N messages of a group
 * are ready, in flight or waiting for their next try, and the others get the places that become free in the order of their
 * ids. Which message gets a place where some come to the group at the stroke that makes places free, is open: there the store
 * is asked, once it has done it.
 */
import type { Oracle, OracleMessage, OracleQueue } from './oracle'
import { expectSame } from './same'
import type { View } from './view'

/** Messages of a group that wait for its places, where it is open which of them have got one. */
export interface OpenPlaces {
  queue: OracleQueue
  free: number
  /** By id: those that were blocked already, and those that came. */
  before: OracleMessage[]
  come: OracleMessage[]
  turn: number
}

const byId = (a: OracleMessage, b: OracleMessage) => (a.id < b.id ? -1 : 1)

/** Null is no limit. */
function limitOf(queue: OracleQueue | undefined, group: string | null): number | null {
  return group === null ? null : (queue?.settings.groupConcurrency ?? null)
}

/** Whether messages of the group need a place in the queue. */
export function isLimited(queue: OracleQueue | undefined, group: string | null): boolean {
  return limitOf(queue, group) !== null
}

/** Whether a message of a group is one of those that count. */
export function hasPlace({ state, receives }: OracleMessage): boolean {
  return state === 'ready' || state === 'in-flight' || (state === 'delayed' && receives > 0)
}

export function freePlaces(oracle: Oracle, queue: OracleQueue, group: string): number {
  const limit = limitOf(queue, group)
  if (limit === null) return Number.POSITIVE_INFINITY
  if (queue.isLimitNew) return 0
  const taken = oracle.in(queue, 'ready', 'in-flight', 'delayed').filter((one) => one.group === group && hasPlace(one))
  return Math.max(0, limit - taken.length)
}

/** Gives the free places of all groups; `come` are the messages that became blocked at this stroke. */
export function givePlaces(oracle: Oracle, turn: number, come: ReadonlySet<bigint>): OpenPlaces[] {
  const open: OpenPlaces[] = []
  for (const queue of oracle.state.queues) {
    if (queue.isLimitNew) continue
    const blocked = oracle.in(queue, 'blocked').sort(byId)
    for (const group of new Set(blocked.map((message) => message.group as string))) {
      const waiting = blocked.filter((message) => message.group === group)
      const free = freePlaces(oracle, queue, group)
      const isOpen = free > 0 && free < waiting.length && waiting.some(({ id }) => come.has(id))
      if (!isOpen) for (const message of waiting.slice(0, free)) oracle.unblock(message, turn)
      else {
        const before = waiting.filter(({ id }) => !come.has(id))
        open.push({ queue, free, turn, before, come: waiting.filter(({ id }) => come.has(id)) })
      }
    }
  }
  return open
}

/** Asks the store. As many have got a place as were free, and those that were blocked before in the order of their ids. */
export async function expectPlaces({ oracle, queues }: View, open: readonly OpenPlaces[]): Promise<void> {
  for (const { queue, free, before, come, turn } of open) {
    const given: OracleMessage[] = []
    for (const message of [...before, ...come]) {
      const there = await queues.message(queue.name, message.id)
      if (there?.state !== 'blocked') given.push(message)
    }
    const first = before.slice(0, given.filter((message) => before.includes(message)).length)
    expectSame(
      { given: given.length, before: given.filter((message) => before.includes(message)).map(({ id }) => id) },
      { given: free, before: first.map(({ id }) => id) },
    )
    for (const message of given) oracle.unblock(message, turn)
  }
}

/** Has the store see to what is due in limited queues that messages may go to: it would do so when it is asked about them. */
export async function settleOthers(view: View, queue: OracleQueue): Promise<void> {
  for (const other of lettersFirst(view.oracle)) {
    if (other === queue || other.settings.groupConcurrency === null) continue
    if (!view.oracle.in(other, 'in-flight', 'delayed').some((message) => view.oracle.isDue(message))) continue
    await view.queues.peek(other.name, { limit: 1 })
    await expectPlaces(view, view.oracle.settle(other))
  }
}

/** The queues, each after the one that its dead letters go to. */
export function lettersFirst(oracle: Oracle): OracleQueue[] {
  const depthOf = ({ deadLetters }: OracleQueue): number => {
    const letters = oracle.numbered(deadLetters)
    return letters ? 1 + depthOf(letters) : 0
  }
  return [...oracle.state.queues].sort((a, b) => depthOf(a) - depthOf(b))
}

/** The effects of time in a queue; where something is open, the store is made to see to it. */
export async function settleOn(view: View, queue: OracleQueue): Promise<void> {
  await settleOthers(view, queue)
  const open = view.oracle.settle(queue)
  if (open.length === 0) return
  await view.queues.peek(queue.name, { limit: 1 })
  await expectPlaces(view, open)
}

/** The visible state of queues, beside the oracle's: every message in every state, attributes and counts. */
import { isDeepStrictEqual } from 'node:util'
import type { MessageState, PeekedMessage, QueueStatus, Queues } from '../../../src/shared/queue-types'
import { expectLine } from './line'
import { QUEUES, STATES } from './operations'
import type { Oracle, OracleMessage, OracleQueue } from './oracle'
import { expectPlaces, lettersFirst } from './places'
import { expectSame } from './same'

/** All times of the oracle are multiples of it: what is less is how long the run has taken by then. */
const STEP_SECONDS = 40

export interface View {
  queues: Queues
  oracle: Oracle
  /** The time at which the oracle's clock was at 0. */
  beginMs: number
  named: (short: string) => string
  /** How often it was looked. */
  looks: number
  /** Ends claims as a worker does that has not begun with their messages. */
  giveBack: (queue: string, handles: readonly string[]) => Promise<unknown>
  /** Whether it is a transaction's. */
  isInside: boolean
}

export function secondsOf(date: Date | null, beginMs: number): number | null {
  if (date === null) return null
  return wholeSteps((date.getTime() - beginMs) / 1000)
}

/** When a hold ends, by the clock of the oracle. */
export const heldOf = ({ beginMs }: View, holdEndsAt: Date | null) => ({ heldUntil: secondsOf(holdEndsAt, beginMs) })
export const heldUntilOf = ({ now }: Oracle, { heldUntil }: OracleQueue) => ({
  heldUntil: heldUntil > now ? heldUntil : null,
})

function wholeSteps(seconds: number): number {
  return Math.floor(seconds / STEP_SECONDS) * STEP_SECONDS
}

/** Whether what is ready is what was ready when it was last looked. */
function isLineKnown(oracle: Oracle, queue: OracleQueue): boolean {
  const keyOf = (line: readonly { id: bigint; turn: number }[]) => line.map(({ id, turn }) => `${id} ${turn}`).sort()
  return isDeepStrictEqual(keyOf(oracle.in(queue, 'ready')), keyOf(oracle.state.lines.get(queue.number) ?? []))
}

const byId = (a: { id: bigint }, b: { id: bigint }) => (a.id < b.id ? -1 : a.id > b.id ? 1 : 0)

function shownOf(message: PeekedMessage, beginMs: number) {
  // By whom it is held is a matter of time: a receiver reports a second after its first receive.
  const { sentAt, visibleAt, firstReceivedAt, lastReceivedAt, deadAt, archivedAt, receiver: _, ...rest } = message
  const times = { sentAt, visibleAt, firstReceivedAt, lastReceivedAt, deadAt, archivedAt }
  const seconds = Object.entries(times).map(([name, date]) => [name, secondsOf(date, beginMs)])
  return { ...rest, ...Object.fromEntries(seconds) }
}

function expectedOf(oracle: Oracle, message: OracleMessage) {
  const { id, state, body, receives, sentAt, visibleAt, firstReceivedAt, lastReceivedAt, archivedAt } = message
  const { lastError, group, priority, attributes } = message
  const isArchived = state === 'archived'
  const from = isArchived ? undefined : oracle.numbered(message.from)
  const { deadAt, deadReceiveCount } = isArchived ? { deadAt: null, deadReceiveCount: null } : message
  return {
    ...{ id, state, body, receiveCount: receives, maxReceives: oracle.maxReceives(message) },
    ...{ sentAt, visibleAt, firstReceivedAt, lastReceivedAt, archivedAt, deadAt, deadReceiveCount },
    ...{ deadLetterFrom: from?.name ?? null, lastError, messageGroup: group, key: null, priority, attributes },
  }
}

/**
 * Has the store see to what is due in every queue; then all messages, and of those that are ready the order. Now and then
 * is often enough for the other states: what was found wrong later than it came about is shrunk all the same.
 */
export async function expectMessages(view: View, which: 'some' | 'all' = 'some'): Promise<void> {
  const { oracle, queues } = view
  const known = lettersFirst(oracle)
  for (const queue of known) {
    if (!oracle.in(queue, 'in-flight', 'delayed').some((message) => oracle.isDue(message))) continue
    await queues.peek(queue.name, { limit: 1 })
    await expectPlaces(view, oracle.settle(queue))
  }
  const isWhole = which === 'all' || ++view.looks % 4 === 0
  for (const queue of known) {
    if (isWhole) for (const state of STATES) await expectState(view, queue, state, 1000)
    else if (!isLineKnown(oracle, queue)) await expectState(view, queue, 'ready', 1000)
  }
}

async function expectState({ oracle, queues, beginMs }: View, queue: OracleQueue, state: MessageState, limit: number) {
  const expected = oracle.in(queue, state).map((message) => expectedOf(oracle, message))
  const messages: PeekedMessage[] = []
  let pages = 0
  for (let after: string | null | undefined; after !== null; pages++) {
    const page = await queues.peek(queue.name, { state, limit, ...(after === undefined ? {} : { after }) })
    messages.push(...page.messages)
    after = page.nextAfter
  }
  expectSame(messages.map((message) => shownOf(message, beginMs)).sort(byId), expected.sort(byId))
  expectSame(pages, Math.max(1, Math.ceil(expected.length / limit)))
  if (state === 'ready') {
    const ids = messages.map(({ id }) => id)
    expectLine(oracle, queue, ids)
  }
}

/** Every message once more: in small pages, and each by itself, in its queue and in the others. */
export async function expectPages(view: View, limit: number): Promise<void> {
  const { oracle, queues, beginMs, named } = view
  for (const short of QUEUES) {
    const queue = oracle.queue(named(short))
    if (!queue) continue
    for (const state of STATES) await expectState(view, queue, state, limit)
    for (const message of oracle.state.messages) {
      const { failures, ...found } = (await queues.message(queue.name, message.id)) ?? { failures: null }
      const isHere = message.queue === queue.number
      expectSame(failures && shownOf(found as PeekedMessage, beginMs), isHere ? expectedOf(oracle, message) : null)
    }
  }
}

/** The attributes; and the counts, which are those of this moment inside a transaction only. */
export async function expectStatus(view: View, isInside: boolean): Promise<void> {
  const { oracle, queues, named } = view
  const listed: QueueStatus[] = []
  for (let after: string | null | undefined; after !== null; ) {
    const page = await queues.list({ prefix: named(''), limit: 2, ...(after === undefined ? {} : { after }) })
    listed.push(...page.queues)
    after = page.nextAfter
  }
  expectSame(
    listed.map(({ queue }) => queue),
    oracle.state.queues.map(({ name }) => name).sort(),
  )
  for (const short of QUEUES) {
    const queue = oracle.queue(named(short))
    const status = await queues.get(named(short))
    const expected = queue ? statusOf(oracle, queue, isInside) : null
    expectSame(status && shownStatus(view, status, isInside), expected)
    const [inList] = listed
      .filter(({ queue: name }) => name === named(short))
      .map((one) => shownStatus(view, one, isInside))
    expectSame(inList ?? null, expected)
  }
}

function shownStatus(
  view: View,
  { createdAt: _, tag: __, growthPerMinute: ___, counts, died, oldestAgeSeconds: age, ...rest }: QueueStatus,
  isInside: boolean,
) {
  // The counts of what waits for a rate or a hold are those of a few seconds ago.
  const { limited: ____, holdEndsAt, ...settings } = rest
  const attributes = { ...settings, ...heldOf(view, holdEndsAt) }
  return isInside ? { ...attributes, counts, died, age: age === null ? null : wholeSteps(age) } : attributes
}

function statusOf(oracle: Oracle, queue: OracleQueue, isInside: boolean) {
  const attributes = {
    queue: queue.name,
    ...queue.settings,
    paused: queue.paused,
    deadLetterQueue: oracle.numbered(queue.deadLetters)?.name ?? null,
    isDeadLetterQueue: oracle.isDeadLetterQueue(queue),
    ...heldUntilOf(oracle, queue),
  }
  if (!isInside) return attributes
  const count = (state: MessageState) => oracle.in(queue, state).length
  const ages = oracle.in(queue, 'ready', 'blocked', 'in-flight').map(({ sentAt }) => oracle.now - sentAt)
  const counts = {
    ...{ ready: count('ready'), inFlight: count('in-flight'), delayed: count('delayed'), blocked: count('blocked') },
    ...{ dead: count('dead'), archived: count('archived') },
  }
  const died = oracle.state.messages.filter(
    ({ queue: at, from, state }) =>
      (from === queue.number && state !== 'archived') || (from === null && at === queue.number && state === 'dead'),
  )
  return { ...attributes, counts, died: died.length, age: ages.length === 0 ? null : Math.max(...ages) }
}

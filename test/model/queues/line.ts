/**
 * In what order messages are handed out, as far as the contract says it: by priority; within a group as they became
 * ready; groups by turns. Where it says nothing (what became ready at one stroke, which group begins) any order will do,
 * but what was seen in one order stays in it.
 */
import type { Oracle, OracleMessage, OracleQueue } from './oracle'
import { expectSame } from './same'

/** Whether `a` must be handed out before `b`; null when that is open. */
type Order = (a: OracleMessage, b: OracleMessage) => boolean | null

function orderOf({ state }: Oracle, { number }: OracleQueue): Order {
  const places = new Map((state.lines.get(number) ?? []).map(({ id, turn }, place) => [`${id} ${turn}`, place]))
  const placeOf = ({ id, turn }: OracleMessage) => places.get(`${id} ${turn}`)
  return (a, b) => {
    if (a.priority !== b.priority) return a.priority > b.priority
    const key = `${b.id} ${b.turn}`
    if (a.stood?.behind.has(key)) return true
    if (a.stood?.before.has(key)) return false
    if (a.group === b.group && a.turn !== b.turn) return a.turn < b.turn
    const [first, second] = [placeOf(a), placeOf(b)]
    return first === undefined || second === undefined ? null : first < second
  }
}

function expectInOrder(messages: readonly OracleMessage[], order: Order): void {
  for (const [place, message] of messages.entries()) {
    const wrong = messages.slice(place + 1).filter((later) => order(later, message) === true)
    if (wrong.length > 0) expect(`${message.id} before ${wrong.map(({ id }) => id)}`).toBe('after')
  }
}

/** The messages that were received are the first of those that are ready, in order. */
export function expectFirst(oracle: Oracle, queue: OracleQueue, received: readonly OracleMessage[]): void {
  const order = orderOf(oracle, queue)
  expectInOrder(received, order)
  const left = oracle.in(queue, 'ready').filter((message) => !received.includes(message))
  for (const message of received) {
    const passedOver = left.filter((other) => order(other, message) === true).map(({ id }) => id)
    if (passedOver.length > 0) expect(`${message.id} before ${passedOver}`).toBe('after')
  }
}

/** Ready messages are shown in an order that may be; it is remembered. */
export function expectLine(oracle: Oracle, queue: OracleQueue, ids: readonly bigint[]): void {
  const { state } = oracle
  const line = ids.map((id) => state.messages.find((message) => message.id === id) as OracleMessage)
  expectInOrder(line, orderOf(oracle, queue))
  for (const priority of [-1, 0, 1]) {
    const level = line.filter((message) => message.priority === priority)
    const key = `${queue.number}/${priority}`
    if (level.length === 0) state.disturbed.delete(key)
    if (!state.disturbed.has(key)) expectTurns(level)
    expectRounds(level)
  }
  const places = line.map(({ id, turn }) => ({ id, turn }))
  state.lines.set(queue.number, places)
}

/** Before the n-th message of a group there are at most n + 1 of any other one. */
function expectTurns(level: readonly OracleMessage[]): void {
  const before = new Map<string | null, number>()
  for (const { id, group } of level) {
    const own = before.get(group) ?? 0
    const most = Math.max(0, ...before.values())
    if (most > own + 2) expect(`${most} of another group before ${own + 1} of that of ${id}`).toBe('by turns')
    before.set(group, own + 1)
  }
}

/** Messages that were sent at once to where nothing was ready: each group's first one by id, each group's second one … */
function expectRounds(level: readonly OracleMessage[]): void {
  const [first] = level
  if (first?.batch == null || level.some(({ batch }) => batch?.turn !== first.batch?.turn)) return
  const roundOf = ({ batch }: OracleMessage) => batch?.round ?? 0
  const sorted = [...level].sort((a, b) => roundOf(a) - roundOf(b) || (a.id < b.id ? -1 : 1))
  expectSame(
    level.map(({ id }) => id),
    sorted.map(({ id }) => id),
  )
}

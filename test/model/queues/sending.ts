/** Sends of the model: the right answer to a batch, with those in it that are refused or replaced by another message. */
import type { NewMessage, SendOptions } from '../../../src/shared/queue-types'
import type { Oracle, OracleMessage, OracleQueue } from './oracle'
import { freePlaces, isLimited } from './places'
import { expectRefusal, expectSame } from './same'
import type { View } from './view'

let bodies = 0

/** `wrong`: where in the batch one stands that can't be sent; `isAlone`: by `send`, which tells whether it was sent. */
export async function sendOn(
  { oracle, queues }: View,
  name: string,
  shapes: readonly SendOptions[],
  wrong: number | null,
  isAlone: boolean,
): Promise<void> {
  const messages: NewMessage[] = shapes.map((shape) => ({ body: ++bodies, ...shape }))
  const queue = oracle.queue(name)
  if (wrong !== null && wrong < messages.length) {
    const faults = [
      { priority: 1001 },
      { body: undefined },
      { delaySeconds: -1 },
      { dedupId: '' },
      { maxReceives: 0.5 },
    ]
    messages[wrong] = { ...messages[wrong], body: 0, ...faults[wrong % faults.length] }
    return expectRefusal(queues.sendMany(name, messages), ['invalid_input'])
  }
  const { body: first, ...options } = messages[0] as NewMessage
  const answer = isAlone ? queues.send(name, first, options) : queues.sendMany(name, messages)
  if (!queue) return expectRefusal(answer, ['queue_not_found'])
  const answered = await answer
  const all = Array.isArray(answered) ? answered : [answered]
  expectSame(all.length, messages.length)
  const ids = all.map(({ id }) => id)
  expectSame(
    all.map(({ id, sent }) => ({ id, sent })),
    take(oracle, queue, messages, ids).map(({ id, sent }) => ({ id, sent })),
  )
}

/** Takes the ids of new messages from the answer: they only have to grow. */
function take(oracle: Oracle, queue: OracleQueue, messages: readonly NewMessage[], ids: readonly bigint[]) {
  const busy = new Set(oracle.in(queue, 'ready').map(({ priority }) => priority))
  const batch = oracle.newTurn()
  const rounds = new Map<string, number>()
  return messages.map((message, at) => {
    const stands = oracle.standsFor(queue, message.dedupId ?? null)
    if (stands !== null) return { id: stands, sent: false }
    const id = ids[at] as bigint
    expectSame({ id, grows: id > oracle.state.lastId }, { id, grows: true })
    oracle.state.lastId = id
    if (message.dedupId != null) queue.dedups.set(message.dedupId, { id, at: oracle.now })
    const sent = messageOf(oracle, queue, message, id)
    if (sent.state === 'ready') {
      const key = `${sent.priority}/${sent.group}`
      const round = rounds.get(key) ?? 0
      rounds.set(key, round + 1)
      sent.turn = oracle.newTurn()
      sent.batch = busy.has(sent.priority) ? null : { turn: batch, round }
    }
    oracle.state.messages.push(sent)
    return { id, sent: true }
  })
}

function messageOf(oracle: Oracle, queue: OracleQueue, message: NewMessage, id: bigint): OracleMessage {
  const {
    body,
    delaySeconds = 0,
    visibilityTimeoutSeconds,
    maxReceives,
    priority = 0,
    messageGroup,
    attributes,
  } = message
  const group = messageGroup ?? null
  const isBlocked = group !== null && isLimited(queue, group) && freePlaces(oracle, queue, group) === 0
  const state = delaySeconds > 0 ? 'delayed' : isBlocked ? 'blocked' : 'ready'
  return {
    ...{ id, body: body as number, queue: queue.number, state },
    ...{ priority, group, ownMaxReceives: maxReceives },
    ...{ ownVisibility: visibilityTimeoutSeconds ?? null, sentAt: oracle.now, visibleAt: oracle.now + delaySeconds },
    ...{ firstReceivedAt: null, deadAt: null, deadReceiveCount: null },
    ...{ lastReceivedAt: null, archivedAt: null, receives: 0, lastError: null, from: null, handle: null },
    ...{ turn: 0, batch: null, stood: null, attributes: attributes ?? {} },
  }
}

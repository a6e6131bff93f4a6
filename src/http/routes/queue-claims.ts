/**
 * `/v1/queues/{queue}/receive`, `cycle`, `ack`, `nack` and `extend`: claiming messages, and ending or extending claims.
 */

import type { AnswerOf, NamedComponent } from '../../fields/answers'
import { ACKED_RECEIPTS, EXTENDED_RECEIPTS, MESSAGE, NACKED_RECEIPTS, RECEIVED } from '../../fields/answers-queues'
import { AckDto, CycleDto, ExtendDto, NackDto, ReceiveDto } from '../../fields/messages'
import { bodyOf } from '../input/read'
import { type Answer, answering, NO_CONTENT, type Route, route } from '../route'
import { onQueue } from './queues'

/** The routes of the messages of a queue that have been, or will be, received. */
const onClaims = {
  ...onQueue,
  method: 'post',
  scope: 'queue',
  tag: 'Messages',
  refusals: ['queue_not_found'],
} as const

const receive = answering({
  ...onClaims,
  path: `${onQueue.path}/receive`,
  body: { ...bodyOf(ReceiveDto, { limit: 10, waitSeconds: 20 }), optional: true },
  id: 'receiveMessages',
  summary: 'Claim messages',
  description:
    "No other receiver gets the messages during the visibility timeout: the request's, otherwise the message's, otherwise " +
    "the queue's. With `waitSeconds`, the server answers within 1 second of the next available message, and without " +
    'messages when the time has passed. If the client disconnects, the wait ends and nothing is claimed. An answer ' +
    'stops at about 32 MiB; the next one has the rest.',
  gives: [RECEIVED, 'The messages; may be empty.'],
  waits: true,
  call: async (store, { path: { queue }, body, signal }) => ({
    messages: await store.queues.receive(queue, { ...body, bodies: 'text', signal }),
  }),
})

const cycle = answering({
  ...onClaims,
  path: `${onQueue.path}/cycle`,
  body: { ...bodyOf(CycleDto, { limit: 10, cursor: 'poller' }), optional: true },
  id: 'cycleMessages',
  summary: 'Claim the next messages behind a stored cursor, by id, over and over',
  description: 'Receivers that share a cursor get batch after batch. After the last message it begins again.',
  gives: [RECEIVED, 'The messages; may be empty.'],
  waits: true,
  call: async (store, { path: { queue }, body, signal }) => ({
    messages: await store.queues.cycle(queue, { ...body, bodies: 'text', signal }),
  }),
})

async function settled<T>(
  { receiptHandle, receiptHandles }: AckDto,
  one: (handle: string) => Promise<void>,
  many: (handles: readonly string[]) => Promise<T>,
  shape: AnswerOf<T>,
): Promise<Answer | string> {
  if (receiptHandles !== undefined) return shape.json(await many(receiptHandles))
  await one(receiptHandle as string)
  return NO_CONTENT
}

const onReceipts = { ...onClaims, refusals: ['queue_not_found', 'stale_receipt', 'invalid_receipt'] } as const

const ofMany = (shape: NamedComponent) => ({
  200: { description: 'For `receiptHandles`: those that counted, and those that did not.', shape },
  204: { description: 'For `receiptHandle`: it counted.' },
})

const { receiptHandle } = MESSAGE.example

const ack = route({
  ...onReceipts,
  path: `${onQueue.path}/ack`,
  body: bodyOf(AckDto, { receiptHandle }),
  id: 'ackMessages',
  summary: 'Acknowledge received messages: they are done, and are removed or archived',
  outcomes: ofMany(ACKED_RECEIPTS),
  handle: ({ queues }, { path: { queue }, body }) =>
    settled(
      body,
      (handle) => queues.ack(queue, handle),
      (handles) => queues.ackMany(queue, handles),
      ACKED_RECEIPTS,
    ),
})

const nack = route({
  ...onReceipts,
  path: `${onQueue.path}/nack`,
  body: bodyOf(NackDto, { receiptHandle, delaySeconds: 30, error: 'mail server says 451' }),
  id: 'nackMessages',
  summary: 'Return received messages: they failed, and are handed out again after a delay, or never',
  description: 'A message becomes dead if it has been received `maxReceives` times, or with `dead`.',
  outcomes: ofMany(NACKED_RECEIPTS),
  handle: ({ queues }, { path: { queue }, body }) =>
    settled(
      body,
      (handle) => queues.nack(queue, handle, body),
      (handles) => queues.nackMany(queue, handles, body),
      NACKED_RECEIPTS,
    ),
})

const extend = route({
  ...onReceipts,
  path: `${onQueue.path}/extend`,
  body: bodyOf(ExtendDto, { receiptHandles: [receiptHandle], visibilityTimeoutSeconds: 60 }),
  id: 'extendMessages',
  summary: 'Extend the claims of received messages, counted from now',
  outcomes: ofMany(EXTENDED_RECEIPTS),
  handle: ({ queues }, { path: { queue }, body }) =>
    settled(
      body,
      (handle) => queues.extend(queue, handle, body),
      (handles) => queues.extendMany(queue, handles, body),
      EXTENDED_RECEIPTS,
    ),
})

export const claimRoutes: readonly Route[] = [receive, cycle, ack, nack, extend]

/**
 * `/v1/queues/{queue}/receive`, `cycle`, `ack`, `nack` and `extend`: claiming messages, and ending or extending claims.
 */

import type { AnswerOf } from '../../fields/answers'
import { ACKED_RECEIPTS, EXTENDED_RECEIPTS, MESSAGE, NACKED_RECEIPTS, RECEIVED } from '../../fields/answers-queues'
import { AckDto, CycleDto, ExtendDto, NackDto, ReceiveDto } from '../../fields/messages'
import type { Queues } from '../../shared/queue-types'
import { bodyOf } from '../input/read'
import {
  answering,
  type BareRoute,
  type BodyReader,
  NO_CONTENT,
  type Operation,
  type Route,
  route,
  tagged,
} from '../route'

const receive = answering('POST /v1/queues/{queue}/receive', {
  scope: 'queue',
  refusals: ['queue_not_found'],
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

const cycle = answering('POST /v1/queues/{queue}/cycle', {
  scope: 'queue',
  refusals: ['queue_not_found'],
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

interface Settling<D extends AckDto, T> extends Pick<Operation, 'summary' | 'description'> {
  body: BodyReader<D>
  shape: AnswerOf<T>
  one(queues: Queues, queue: string, handle: string, body: D): Promise<void>
  many(queues: Queues, queue: string, handles: readonly string[], body: D): Promise<T>
}

/** One handle is answered with nothing, a list with what became of each. */
function settling<D extends AckDto, T>(
  verb: 'ack' | 'nack' | 'extend',
  { shape, one, many, ...texts }: Settling<D, T>,
): BareRoute {
  return route(`POST /v1/queues/{queue}/${verb}`, {
    ...texts,
    scope: 'queue',
    id: `${verb}Messages`,
    outcomes: {
      200: { description: 'For `receiptHandles`: those that counted, and those that did not.', shape },
      204: { description: 'For `receiptHandle`: it counted.' },
    },
    refusals: ['queue_not_found', 'stale_receipt', 'invalid_receipt'],
    async handle({ queues }, { path: { queue }, body }) {
      const { receiptHandle, receiptHandles } = body
      if (receiptHandles !== undefined) return shape.json(await many(queues, queue, receiptHandles, body))
      await one(queues, queue, receiptHandle as string, body)
      return NO_CONTENT
    },
  })
}

const { receiptHandle } = MESSAGE.example

const ack = settling('ack', {
  body: bodyOf(AckDto, { receiptHandle }),
  summary: 'Acknowledge received messages: they are done, and are removed or archived',
  shape: ACKED_RECEIPTS,
  one: (queues, queue, handle) => queues.ack(queue, handle),
  many: (queues, queue, handles) => queues.ackMany(queue, handles),
})

const nack = settling('nack', {
  body: bodyOf(NackDto, { receiptHandle, delaySeconds: 30, error: 'mail server says 451' }),
  summary: 'Return received messages: they failed, and are handed out again after a delay, or never',
  description: 'A message becomes dead if it has been received `maxReceives` times, or with `dead`.',
  shape: NACKED_RECEIPTS,
  one: (queues, queue, handle, body) => queues.nack(queue, handle, body),
  many: (queues, queue, handles, body) => queues.nackMany(queue, handles, body),
})

const extend = settling('extend', {
  body: bodyOf(ExtendDto, { receiptHandles: [receiptHandle], visibilityTimeoutSeconds: 60 }),
  summary: 'Extend the claims of received messages, counted from now',
  shape: EXTENDED_RECEIPTS,
  one: (queues, queue, handle, body) => queues.extend(queue, handle, body),
  many: (queues, queue, handles, body) => queues.extendMany(queue, handles, body),
})

export const claimRoutes: readonly Route[] = tagged('Messages', [receive, cycle, ack, nack, extend])

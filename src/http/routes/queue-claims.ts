/**
 * `/v1/queues/{queue}/receive`, `delete`, `release` and `extend`: claiming messages, and ending or extending claims.
 */
import { renderMessages } from '../../results/queues'
import { ExtendDto, ReceiptsDto, ReceiveDto, ReleaseDto } from '../dto/queues'
import { bodyOf } from '../input/read'
import * as example from '../openapi/queues'
import { type Route, route } from '../route'
import { onQueue } from './queues'

/** The routes of the messages of a queue that have been, or will be, received. */
const onClaims = {
  ...onQueue,
  method: 'post',
  scope: 'queue',
  tag: 'Messages',
  refusals: ['queue_not_found'],
} as const

const receive = route({
  ...onClaims,
  path: `${onQueue.path}/receive`,
  body: { ...bodyOf(ReceiveDto, example.receive), optional: true },
  id: 'receiveMessages',
  summary: 'Claim messages',
  description:
    "No other receiver gets the messages during the visibility timeout: the request's, otherwise the message's, otherwise " +
    "the queue's. With `waitSeconds`, the server answers within 1 second of the next available message, and without " +
    'messages when the time has passed. If the client disconnects, the wait ends and nothing is claimed. An answer ' +
    'stops at about 32 MiB; the next one has the rest.',
  outcomes: { 200: { description: 'The messages; may be empty.', schema: 'Received', example: example.received } },
  waits: true,
  handle: async (store, { path: { queue }, body, signal }) =>
    renderMessages(await store.queues.receive(queue, { ...body, bodies: 'text', signal })),
})

const settle = route({
  ...onClaims,
  path: `${onQueue.path}/ack`,
  body: bodyOf(ReceiptsDto, example.receipts),
  id: 'ackMessages',
  summary: 'Delete or archive received messages: their work is done',
  outcomes: {
    200: {
      description: 'The deleted messages, and the handles that had no effect.',
      schema: 'AckedReceipts',
      example: example.ackedReceipts,
    },
  },
  handle: async (store, { path: { queue }, body }) =>
    JSON.stringify(await store.queues.ackMany(queue, body.receiptHandles)),
})

const release = route({
  ...onClaims,
  path: `${onQueue.path}/nack`,
  body: bodyOf(ReleaseDto, example.release),
  id: 'nackMessages',
  summary: 'Release received messages: their work failed, and is tried again after a delay, or never',
  description: 'A message becomes dead if it has been received `maxReceives` times, or is released with `dead`.',
  outcomes: {
    200: {
      description: 'The released messages, and the handles that had no effect.',
      schema: 'NackedReceipts',
      example: example.nackedReceipts,
    },
  },
  handle: async (store, { path: { queue }, body: { receiptHandles, ...options } }) =>
    JSON.stringify(await store.queues.nackMany(queue, receiptHandles, options)),
})

const extend = route({
  ...onClaims,
  path: `${onQueue.path}/extend`,
  body: bodyOf(ExtendDto, example.extend),
  id: 'extendMessages',
  summary: 'Extend the claims of received messages, counted from now',
  outcomes: {
    200: {
      description: 'The extended messages, and the handles that had no effect.',
      schema: 'ExtendedReceipts',
      example: example.extendedReceipts,
    },
  },
  handle: async (store, { path: { queue }, body: { receiptHandles, visibilityTimeoutSeconds } }) =>
    JSON.stringify(await store.queues.extendMany(queue, receiptHandles, { visibilityTimeoutSeconds })),
})

export const claimRoutes: readonly Route[] = [receive, settle, release, extend]

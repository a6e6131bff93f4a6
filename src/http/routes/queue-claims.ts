/** `/v1/queues/{queue}/receive`, `delete`, `release` and `extend`: claiming messages, and ending or prolonging claims. */
import { EXTEND, RECEIPTS, RECEIVE, RELEASE } from '../../fields/queues'
import { renderMessages } from '../../results/queues'
import { bodyOf } from '../input/read'
import * as example from '../openapi/queues'
import { ok, type Route, route } from '../route'
import { pathName } from '../subjects'
import { pathParameters } from './queues'

const path = '/v1/queues/{queue}'

const receive = route({
  method: 'post',
  path: `${path}/receive`,
  scope: 'queue',
  about: pathName('queues', 'queue'),
  pathParameters,
  body: { ...bodyOf(RECEIVE, example.receive), optional: true },
  operation: {
    id: 'receiveMessages',
    tag: 'Messages',
    summary: 'Claim messages',
    description:
      "Within the visibility timeout (the request's, else the message's, else the queue's) no other receiver gets them. " +
      'With `waitSeconds`, an answer without messages comes only after so long; a message that becomes available ' +
      'meanwhile is answered within 1 second. When the client goes away, the waiting ends and nothing is claimed. An ' +
      'answer stops at about 32 MiB; what is left is for the next one.',
    outcomes: {
      200: { description: 'The messages; none when there are none.', schema: 'Received', example: example.received },
    },
    refusals: ['queue_not_found'],
  },
  waits: true,
  async handle(store, { path: { queue }, body, signal }) {
    return ok(renderMessages(await store.queues.receive(queue, { ...body, bodies: 'text', signal })))
  },
})

const settle = route({
  method: 'post',
  path: `${path}/delete`,
  scope: 'queue',
  about: pathName('queues', 'queue'),
  pathParameters,
  body: bodyOf(RECEIPTS, example.receipts),
  operation: {
    id: 'deleteReceived',
    tag: 'Messages',
    summary: 'Done: remove, or archive, received messages',
    outcomes: {
      200: {
        description: 'What was deleted, and which handles did nothing.',
        schema: 'DeletedReceipts',
        example: example.deletedReceipts,
      },
    },
    refusals: ['queue_not_found'],
  },
  async handle(store, { path: { queue }, body }) {
    return ok(JSON.stringify(await store.queues.delete(queue, body.receiptHandles)))
  },
})

const release = route({
  method: 'post',
  path: `${path}/release`,
  scope: 'queue',
  about: pathName('queues', 'queue'),
  pathParameters,
  body: bodyOf(RELEASE, example.release),
  operation: {
    id: 'releaseReceived',
    tag: 'Messages',
    summary: 'Failed: hand received messages out again after a delay, or never',
    description: 'A message that has been received `maxReceives` times, or is released with `dead`, is dead then.',
    outcomes: {
      200: {
        description: 'What was released, and which handles did nothing.',
        schema: 'ReleasedReceipts',
        example: example.releasedReceipts,
      },
    },
    refusals: ['queue_not_found'],
  },
  async handle(store, { path: { queue }, body: { receiptHandles, ...options } }) {
    return ok(JSON.stringify(await store.queues.release(queue, receiptHandles, options)))
  },
})

const extend = route({
  method: 'post',
  path: `${path}/extend`,
  scope: 'queue',
  about: pathName('queues', 'queue'),
  pathParameters,
  body: bodyOf(EXTEND, example.extend),
  operation: {
    id: 'extendReceived',
    tag: 'Messages',
    summary: 'Hold received messages for so long, counted from now',
    outcomes: {
      200: {
        description: 'What was extended, and which handles did nothing.',
        schema: 'ExtendedReceipts',
        example: example.extendedReceipts,
      },
    },
    refusals: ['queue_not_found'],
  },
  async handle(store, { path: { queue }, body: { receiptHandles, visibilityTimeoutSeconds } }) {
    return ok(JSON.stringify(await store.queues.extend(queue, receiptHandles, { visibilityTimeoutSeconds })))
  },
})

export const claimRoutes: readonly Route[] = [receive, settle, release, extend]

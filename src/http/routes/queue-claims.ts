/** `/v1/queues/{queue}/receive`, `delete`, `release` and `extend`: claiming messages, and ending or prolonging claims. */

import { renderMessages } from '../../results/queues'
import {
  ExtendDto,
  ReceiptsDto,
  ReceiveDto,
  ReleaseDto,
  receiveOptionsOf,
  releaseOptionsOf,
} from '../input/dto/messages'
import { toDto } from '../input/validate'
import { toReceipts } from '../input/validate-messages'
import * as example from '../openapi/queue-examples'
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
  body: {
    schema: 'Receive',
    example: example.receive,
    optional: true,
    read: (body, faults) => toDto(ReceiveDto, body.value, '', faults),
  },
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
    const options = { ...receiveOptionsOf(body), bodies: 'text', signal } as const
    return ok(renderMessages(await store.queues.receive(queue, options)))
  },
})

const settle = route({
  method: 'post',
  path: `${path}/delete`,
  scope: 'queue',
  about: pathName('queues', 'queue'),
  pathParameters,
  body: {
    schema: 'Receipts',
    example: example.receipts,
    read: (body, faults) => toReceipts(ReceiptsDto, body, faults),
  },
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
  body: { schema: 'Release', example: example.release, read: (body, faults) => toReceipts(ReleaseDto, body, faults) },
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
  async handle(store, { path: { queue }, body }) {
    return ok(JSON.stringify(await store.queues.release(queue, body.receiptHandles, releaseOptionsOf(body))))
  },
})

const extend = route({
  method: 'post',
  path: `${path}/extend`,
  scope: 'queue',
  about: pathName('queues', 'queue'),
  pathParameters,
  body: { schema: 'Extend', example: example.extend, read: (body, faults) => toReceipts(ExtendDto, body, faults) },
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

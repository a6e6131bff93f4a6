/**
 * `/v1/queues/{queue}/receive`, `cycle`, `ack`, `nack` and `extend`: claiming messages, and ending or extending claims.
 */
import { renderMessages } from '../../results/queues'
import { AckDto, CycleDto, ExtendDto, NackDto, ReceiveDto } from '../dto/queues'
import { bodyOf } from '../input/read'
import * as example from '../openapi/queues'
import { type Answer, NO_CONTENT, type Route, route } from '../route'
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

const cycle = route({
  ...onClaims,
  path: `${onQueue.path}/cycle`,
  body: { ...bodyOf(CycleDto, example.cycle), optional: true },
  id: 'cycleMessages',
  summary: 'Claim the next messages behind a stored cursor, by id, over and over',
  description: 'Receivers that share a cursor get batch after batch. After the last message it begins again.',
  outcomes: { 200: { description: 'The messages; may be empty.', schema: 'Received', example: example.received } },
  waits: true,
  handle: async (store, { path: { queue }, body, signal }) =>
    renderMessages(await store.queues.cycle(queue, { ...body, bodies: 'text', signal })),
})

async function settled(
  { receiptHandle, receiptHandles }: AckDto,
  one: (handle: string) => Promise<void>,
  many: (handles: readonly string[]) => Promise<object>,
): Promise<Answer | string> {
  if (receiptHandles !== undefined) return JSON.stringify(await many(receiptHandles))
  await one(receiptHandle as string)
  return NO_CONTENT
}

const onReceipts = { ...onClaims, refusals: ['queue_not_found', 'stale_receipt', 'invalid_receipt'] } as const

const ofMany = (schema: string, shown: unknown) => ({
  200: { description: 'For `receiptHandles`: those that counted, and those that did not.', schema, example: shown },
  204: { description: 'For `receiptHandle`: it counted.' },
})

const ack = route({
  ...onReceipts,
  path: `${onQueue.path}/ack`,
  body: bodyOf(AckDto, example.ack),
  id: 'ackMessages',
  summary: 'Acknowledge received messages: they are done, and are removed or archived',
  outcomes: ofMany('AckedReceipts', example.ackedReceipts),
  handle: ({ queues }, { path: { queue }, body }) =>
    settled(
      body,
      (handle) => queues.ack(queue, handle),
      (handles) => queues.ackMany(queue, handles),
    ),
})

const nack = route({
  ...onReceipts,
  path: `${onQueue.path}/nack`,
  body: bodyOf(NackDto, example.nack),
  id: 'nackMessages',
  summary: 'Return received messages: they failed, and are handed out again after a delay, or never',
  description: 'A message becomes dead if it has been received `maxReceives` times, or with `dead`.',
  outcomes: ofMany('NackedReceipts', example.nackedReceipts),
  handle: ({ queues }, { path: { queue }, body }) =>
    settled(
      body,
      (handle) => queues.nack(queue, handle, body),
      (handles) => queues.nackMany(queue, handles, body),
    ),
})

const extend = route({
  ...onReceipts,
  path: `${onQueue.path}/extend`,
  body: bodyOf(ExtendDto, example.extend),
  id: 'extendMessages',
  summary: 'Extend the claims of received messages, counted from now',
  outcomes: ofMany('ExtendedReceipts', example.extendedReceipts),
  handle: ({ queues }, { path: { queue }, body }) =>
    settled(
      body,
      (handle) => queues.extend(queue, handle, body),
      (handles) => queues.extendMany(queue, handles, body),
    ),
})

export const claimRoutes: readonly Route[] = [receive, cycle, ack, nack, extend]

/** `/v1/queues` and `/v1/queues/{queue}`: listing queues, reading their state, redriving and purging them. */
import { PURGE, REDRIVE } from '../../fields/queues'
import { renderQueuePage, renderQueueStatus } from '../../results/queues'
import { nameParameter, pageParameters, prefixParameter } from '../input/parameters'
import { bodyOf } from '../input/read'
import { deleted } from '../openapi/groups'
import * as example from '../openapi/queues'
import { found, ok, type Route, route } from '../route'
import { listed, narrowed, pathName, type Subject } from '../subjects'

const path = '/v1/queues/{queue}'
const inPath = pathName('queues', 'queue')
const pathParameters = { queue: nameParameter('The queue.', 'mail') }

/** The routes of one queue. */
export const onQueue = { about: inPath, pathParameters }

/** A redrive sends messages to queues that the request does not name. */
function redriven(input: { path: { queue: string } }): Subject[] {
  return [...inPath(input), { kind: 'queues', prefix: '' }]
}

const list = route({
  method: 'get',
  path: '/v1/queues',
  scope: 'read',
  about: listed('queues'),
  queryParameters: {
    prefix: prefixParameter('Return only queues whose names begin with this.', 'mail'),
    ...pageParameters('mail'),
  },
  operation: {
    id: 'listQueues',
    tag: 'Queues',
    summary: 'List queues by name',
    outcomes: { 200: { description: 'A page of queues.', schema: 'QueuePage', example: example.queuePage } },
  },
  async handle(store, { query, within }) {
    const prefix = narrowed(query.prefix, within)
    if (prefix === null) return ok(renderQueuePage({ queues: [], nextAfter: null }, within))
    return ok(renderQueuePage(await store.queues.list({ ...query, prefix }), within))
  },
})

const get = route({
  ...onQueue,
  method: 'get',
  path,
  scope: 'read',
  operation: {
    id: 'getQueue',
    tag: 'Queues',
    summary: 'Read a queue: its settings, the number of messages in each state, and the age of the oldest',
    outcomes: { 200: { description: 'The queue.', schema: 'QueueStatus', example: example.queueStatus } },
    refusals: ['queue_not_found'],
  },
  async handle(store, { path: { queue }, within }) {
    return ok(renderQueueStatus(found(await store.queues.get(queue), 'queue_not_found'), within))
  },
})

const redrive = route({
  method: 'post',
  path: `${path}/redrive`,
  scope: 'admin',
  about: redriven,
  pathParameters,
  body: { ...bodyOf(REDRIVE, example.redrive), optional: true },
  operation: {
    id: 'redriveQueue',
    tag: 'Queues',
    summary: 'Send dead messages back to where they came from',
    description:
      'Call it on the queue that holds them. Its own dead messages, and those that were dead-lettered from another queue and ' +
      'are not in flight, go back with receive count 0. Messages whose queue no longer exists stay.',
    outcomes: { 200: { description: 'The number of moved messages.', schema: 'Moved', example: example.moved } },
    refusals: ['queue_not_found'],
  },
  async handle(store, { path: { queue }, body, within }) {
    return ok(JSON.stringify(await store.queues.redrive(queue, { ...body, prefix: within ?? undefined })))
  },
})

const purge = route({
  ...onQueue,
  method: 'post',
  path: `${path}/purge`,
  scope: 'admin',
  body: { ...bodyOf(PURGE, example.purge), optional: true },
  operation: {
    id: 'purgeQueue',
    tag: 'Queues',
    summary: 'Drop the ready and the delayed messages',
    description:
      'Messages that are in flight, dead or archived stay. In a dead-letter queue, messages that died in another queue are ready, so they are dropped.',
    outcomes: { 200: { description: 'The number of dropped messages.', schema: 'Deleted', example: deleted } },
    refusals: ['queue_not_found'],
  },
  async handle(store, { path: { queue }, body }) {
    return ok(JSON.stringify(await store.queues.purge(queue, body)))
  },
})

export const queueRoutes: readonly Route[] = [list, get, redrive, purge]

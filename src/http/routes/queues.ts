/** `/v1/queues` and `/v1/queues/{queue}`: what queues there are, their attributes, and what is done to all they hold. */
import { RecentnError } from '../../errors'
import { PURGE, REDRIVE } from '../../fields/queues'
import { renderQueue, renderQueuePage, renderQueueStatus } from '../../results/queues'
import { nameParameter, pageParameters, prefixParameter } from '../input/parameters'
import { bodyOf } from '../input/read'
import { deleted } from '../openapi/groups'
import * as example from '../openapi/queues'
import { narrowed } from '../reach'
import { found, gone, ok, type Route, route, stored } from '../route'
import { listed, pathName, type Subject } from '../subjects'
import { settingsBody } from './queue-settings'

const path = '/v1/queues/{queue}'
export const pathParameters = { queue: nameParameter('The queue.', 'mail') }

const inPath = pathName('queues', 'queue')

/** The dead messages go back to queues that the request does not name. */
function redriven(input: { path: { queue: string } }): Subject[] {
  return [...inPath(input), { kind: 'queues', prefix: '' }]
}

const list = route({
  method: 'get',
  path: '/v1/queues',
  scope: 'read',
  about: listed('queues'),
  queryParameters: {
    prefix: prefixParameter('Only queues whose name begins with this.', 'mail'),
    ...pageParameters('mail'),
  },
  operation: {
    id: 'listQueues',
    tag: 'Queues',
    summary: 'The queues, by name',
    outcomes: { 200: { description: 'A page of queues.', schema: 'QueuePage', example: example.queuePage } },
  },
  async handle(store, { query, within }) {
    const prefix = narrowed(query.prefix, within)
    if (prefix === null) return ok(renderQueuePage({ queues: [], nextAfter: null }, within))
    return ok(renderQueuePage(await store.queues.list({ ...query, prefix }), within))
  },
})

const get = route({
  method: 'get',
  path,
  scope: 'read',
  about: inPath,
  pathParameters,
  operation: {
    id: 'getQueue',
    tag: 'Queues',
    summary: 'The attributes of a queue, how many messages it has in each state, and how old the oldest is',
    outcomes: { 200: { description: 'The queue.', schema: 'QueueStatus', example: example.queueStatus } },
    refusals: ['queue_not_found'],
  },
  async handle(store, { path: { queue }, within }) {
    return ok(renderQueueStatus(found(await store.queues.get(queue), 'queue_not_found'), within))
  },
})

const put = route({
  method: 'put',
  path,
  scope: 'admin',
  pathParameters,
  body: settingsBody,
  about: inPath,
  operation: {
    id: 'putQueue',
    tag: 'Queues',
    summary: 'Create a queue, or replace all of its settings',
    description:
      'What is left out takes its default; a paused queue stays paused. To create a queue only where there is none, use ' +
      '`ensureQueue`; to change some settings, `updateQueue`. A dead-letter queue that does not exist is answered with 400 and the code ' +
      '`queue_not_found`.',
    outcomes: {
      200: { description: 'The settings were replaced.', schema: 'Queue', example: example.queue },
      201: { description: 'The queue was created.', schema: 'Queue', example: example.queue },
    },
    refusals: ['dead_letter_cycle'],
  },
  async handle(store, { path: { queue }, body, within }) {
    const put = await store.queues.put(queue, body)
    return stored(put.created, renderQueue(put, within))
  },
})

const drop = route({
  method: 'delete',
  path,
  scope: 'admin',
  about: inPath,
  pathParameters,
  operation: {
    id: 'deleteQueue',
    tag: 'Queues',
    summary: 'Drop a queue with its messages',
    outcomes: { 204: { description: 'It is gone.' } },
    refusals: ['queue_not_found', 'queue_in_use'],
  },
  async handle(store, { path: { queue }, within }) {
    const deleted = await store.queues.deleteQueue(queue).catch((error: unknown) => {
      // The message names the queue that it serves, which may be outside of what the asker may know of.
      const isInUse = error instanceof RecentnError && error.code === 'queue_in_use'
      throw isInUse && within !== null ? new RecentnError('queue_in_use') : error
    })
    return gone(deleted, 'queue_not_found')
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
      'Called on the queue that holds them: its own dead messages, and those that came from another queue by ' +
      'dead-lettering and are not in flight, go back with receive count 0. Those whose queue is gone stay.',
    outcomes: { 200: { description: 'How many were moved.', schema: 'Moved', example: example.moved } },
    refusals: ['queue_not_found'],
  },
  async handle(store, { path: { queue }, body, within }) {
    return ok(JSON.stringify(await store.queues.redrive(queue, { ...body, prefix: within ?? undefined })))
  },
})

const purge = route({
  method: 'post',
  path: `${path}/purge`,
  scope: 'admin',
  about: inPath,
  pathParameters,
  body: { ...bodyOf(PURGE, example.purge), optional: true },
  operation: {
    id: 'purgeQueue',
    tag: 'Queues',
    summary: 'Drop what is ready and delayed',
    description:
      'Messages that are in flight, dead or archived stay. In a dead-letter queue, what died elsewhere is ready: it is dropped.',
    outcomes: { 200: { description: 'How many were dropped.', schema: 'Deleted', example: deleted } },
    refusals: ['queue_not_found'],
  },
  async handle(store, { path: { queue }, body }) {
    return ok(JSON.stringify(await store.queues.purge(queue, body)))
  },
})

export const queueRoutes: readonly Route[] = [list, get, put, drop, redrive, purge]

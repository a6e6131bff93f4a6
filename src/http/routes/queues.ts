/** `/v1/queues` and `/v1/queues/{queue}`: listing queues, reading their state, redriving and purging them. */
import { renderQueuePage, renderQueueStatus } from '../../results/queues'
import { PromoteDto, PurgeDto, RedriveDto } from '../dto/queues'
import { nameParameter } from '../input/parameters'
import { bodyOf } from '../input/read'
import { deleted } from '../openapi/groups'
import * as example from '../openapi/queues'
import { found, type Route, route, settingsAnswer } from '../route'
import { pathName } from '../subjects'
import { listing } from './listing'

const inPath = pathName('queues', 'queue')

export const onQueue = {
  path: '/v1/queues/{queue}',
  tag: 'Queues',
  about: inPath,
  pathParameters: { queue: nameParameter('The queue.', 'mail') },
}

const list = listing('queues', {
  id: 'listQueues',
  tag: 'Queues',
  summary: 'List queues by name',
  prefix: 'mail',
  after: 'mail',
  schema: 'QueuePage',
  example: example.queuePage,
  page: async (store, query, within) => renderQueuePage(await store.queues.list(query), within),
})

const get = route({
  ...onQueue,
  method: 'get',
  scope: 'read',
  id: 'getQueue',
  summary: 'Read a queue: its settings, the number of messages in each state, and the age of the oldest',
  outcomes: { 200: { description: 'The queue.', schema: 'QueueStatus', example: example.queueStatus } },
  refusals: ['queue_not_found'],
  hasSettings: true,
  async handle(store, { path: { queue }, within }) {
    const status = found(await store.queues.get(queue), 'queue_not_found')
    return settingsAnswer(status, renderQueueStatus(status, within))
  },
})

const redrive = route({
  ...onQueue,
  method: 'post',
  path: `${onQueue.path}/redrive`,
  scope: 'admin',
  // A redrive sends messages to queues that the request does not name.
  about: (input) => [...inPath(input), { kind: 'queues', prefix: '' }],
  body: { ...bodyOf(RedriveDto, example.redrive), optional: true },
  id: 'redriveQueue',
  summary: 'Send dead messages back to where they came from',
  description:
    'Call it on the queue that holds them. Its own dead messages, and those that were dead-lettered from another queue and ' +
    'are not in flight, go back with receive count 0; with `ids` only these. Messages whose queue no longer exists stay.',
  outcomes: { 200: { description: 'The number of moved messages.', schema: 'Moved', example: example.moved } },
  refusals: ['queue_not_found'],
  handle: async (store, { path: { queue }, body, within }) =>
    JSON.stringify(await store.queues.redrive(queue, { ...body, prefix: within ?? undefined })),
})

const promote = route({
  ...onQueue,
  method: 'post',
  path: `${onQueue.path}/promote`,
  scope: 'admin',
  body: bodyOf(PromoteDto, example.promote),
  id: 'promoteMessages',
  summary: 'Make delayed messages due now',
  description: 'Messages that are not delayed, or not there, are not counted.',
  outcomes: { 200: { description: 'The number of promoted messages.', schema: 'Promoted', example: example.promoted } },
  refusals: ['queue_not_found'],
  handle: async (store, { path: { queue }, body: { ids } }) => JSON.stringify(await store.queues.promote(queue, ids)),
})

const purge = route({
  ...onQueue,
  method: 'post',
  path: `${onQueue.path}/purge`,
  scope: 'admin',
  body: { ...bodyOf(PurgeDto, example.purge), optional: true },
  id: 'purgeQueue',
  summary: 'Drop the ready, blocked and delayed messages',
  description:
    'Messages that are in flight, dead or archived stay. In a dead-letter queue, messages that died in another queue are ready, so they are dropped.',
  outcomes: { 200: { description: 'The number of dropped messages.', schema: 'Deleted', example: deleted } },
  refusals: ['queue_not_found'],
  handle: async (store, { path: { queue }, body }) => JSON.stringify(await store.queues.purge(queue, body)),
})

export const queueRoutes: readonly Route[] = [list, get, redrive, promote, purge]

/** `/v1/queues` and `/v1/queues/{queue}`: listing queues, reading their state and their errors, redriving and purging them. */
import { DELETED } from '../../fields/answers-groups'
import { DEAD_ERRORS, MOVED, PROMOTED, QUEUE_HISTORY, QUEUE_PAGE, QUEUE_STATUS } from '../../fields/answers-queues'
import { QUEUE_RECEIVERS } from '../../fields/answers-receivers'
import { HISTORY_PERIODS, QUEUE_ORDERS, QUEUE_STATES } from '../../fields/queues'
import { PromoteDto, PurgeDto, RedriveDto } from '../dto/queues'
import { chosenParameter, nameParameter, optional, wordParameter } from '../input/parameters'
import { bodyOf } from '../input/read'
import { found, type Route, route, settingsAnswer } from '../route'
import { named, pathName } from '../subjects'
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
  summary: 'List queues by name, or by a number',
  description: 'With `state` or `sort` the counts are a few seconds old, unless counting all messages takes long.',
  prefix: 'mail',
  after: 'mail',
  shape: QUEUE_PAGE,
  also: {
    state: chosenParameter(
      'Return only queues in this state. `main`: no queue names it as its dead-letter queue. `dead`: messages that died in it ' +
        'are dead. `growing`, `blocked`: as in the overview. `stuck`: `unreceived`, `late` or `held` there.',
      QUEUE_STATES,
    ),
    sort: chosenParameter('The largest number first, in place of by name.', QUEUE_ORDERS),
    deadLetterQueue: optional(
      nameParameter('Return only queues that name this one as their dead-letter queue.', 'mail-dead'),
    ),
  },
  alsoAbout: ({ query }) => named('queues', [query.deadLetterQueue], { parameter: 'deadLetterQueue' }),
  nothing: { states: null },
  page: (store, query) => store.queues.list(query),
})

const get = route({
  ...onQueue,
  method: 'get',
  scope: 'read',
  id: 'getQueue',
  summary: 'Read a queue: its settings, the number of messages in each state, and the age of the oldest',
  outcomes: { 200: { description: 'The queue.', shape: QUEUE_STATUS } },
  refusals: ['queue_not_found'],
  hasSettings: true,
  async handle(store, { path: { queue }, within }) {
    const status = found(await store.queues.get(queue), 'queue_not_found')
    return settingsAnswer(status, QUEUE_STATUS.json(status, within))
  },
})

/** The queue in which messages died. */
export const fromParameter = optional(nameParameter('Only messages that died in this queue.', 'mail'))
export const inPathOrFrom = (input: { path: { queue: string }; query: { from?: string | undefined } }) => [
  ...inPath(input),
  ...named('queues', [input.query.from], { parameter: 'from' }),
]
const diedIn = ({ from }: { from?: string }) => named('queues', [from], { pointer: '/from' })

const errors = route({
  ...onQueue,
  method: 'get',
  path: `${onQueue.path}/errors`,
  scope: 'read',
  about: inPathOrFrom,
  queryParameters: { from: fromParameter },
  id: 'listErrors',
  summary: 'Read what the dead messages in a queue died of',
  description:
    'Errors that differ only in numbers and ids are one. Dead letters of other queues count, unless they are in flight.',
  outcomes: { 200: { description: 'The errors.', shape: DEAD_ERRORS } },
  refusals: ['queue_not_found'],
  handle: async (store, { path: { queue }, query }) => DEAD_ERRORS.json(await store.queues.errors(queue, query)),
})

const history = route({
  ...onQueue,
  method: 'get',
  path: `${onQueue.path}/history`,
  scope: 'read',
  queryParameters: {
    period: wordParameter(
      'The last hour in steps of 15 seconds, or the last week in steps of 10 minutes.',
      HISTORY_PERIODS,
    ),
  },
  id: 'queueHistory',
  summary: 'Read how many messages were sent, acknowledged and waiting in the last hour or week',
  description: 'Each process adds its numbers every 15 seconds; one that is killed loses its last numbers.',
  outcomes: { 200: { description: 'The history.', shape: QUEUE_HISTORY } },
  refusals: ['queue_not_found'],
  handle: async (store, { path: { queue }, query }) => QUEUE_HISTORY.json(await store.queues.history(queue, query)),
})

const receivers = route({
  ...onQueue,
  method: 'get',
  path: `${onQueue.path}/receivers`,
  scope: 'read',
  id: 'queueReceivers',
  summary: 'Read which processes receive from a queue, and what blocks its message groups',
  outcomes: { 200: { description: 'The receivers and the blocked groups.', shape: QUEUE_RECEIVERS } },
  refusals: ['queue_not_found'],
  handle: async (store, { path: { queue } }) => QUEUE_RECEIVERS.json(await store.queues.receivers(queue)),
})

const redrive = route({
  ...onQueue,
  method: 'post',
  path: `${onQueue.path}/redrive`,
  scope: 'admin',
  // A redrive sends messages to queues that the request does not name.
  about: (input) => [...inPath(input), { kind: 'queues', prefix: '' }],
  body: { ...bodyOf(RedriveDto, { limit: 100 }), about: diedIn, optional: true },
  id: 'redriveQueue',
  summary: 'Send dead messages back to where they came from',
  description:
    'Call it on the queue that holds them. Its own dead messages, and those that were dead-lettered from another queue and ' +
    'are not in flight, go back with receive count 0. Messages whose queue no longer exists stay.',
  outcomes: { 200: { description: 'The number of moved messages.', shape: MOVED } },
  refusals: ['queue_not_found'],
  handle: async (store, { path: { queue }, body, within }) =>
    MOVED.json(await store.queues.redrive(queue, { ...body, prefix: within ?? undefined })),
})

const promote = route({
  ...onQueue,
  method: 'post',
  path: `${onQueue.path}/promote`,
  scope: 'admin',
  body: bodyOf(PromoteDto, { ids: ['1042'] }),
  id: 'promoteMessages',
  summary: 'Make delayed messages due now, or end the claims of messages in flight',
  description:
    'Messages in another state, or not there, are not counted. With `inFlight` claims end as by `nackMessages`: their receipt ' +
    'handles are stale, and a message that has used up its receives is dead.',
  outcomes: { 200: { description: 'The number of promoted messages.', shape: PROMOTED } },
  refusals: ['queue_not_found'],
  handle: async (store, { path: { queue }, body: { ids, ...options } }) =>
    PROMOTED.json(await store.queues.promote(queue, ids, options)),
})

const purge = route({
  ...onQueue,
  method: 'post',
  path: `${onQueue.path}/purge`,
  scope: 'admin',
  body: { ...bodyOf(PurgeDto, { dryRun: false }), about: diedIn, optional: true },
  id: 'purgeQueue',
  summary: 'Drop the ready, blocked and delayed messages, or dead ones',
  description:
    'Messages that are in flight, dead or archived stay. In a dead-letter queue, messages that died in another queue are ready, so they are dropped.',
  outcomes: { 200: { description: 'The number of dropped messages.', shape: DELETED } },
  refusals: ['queue_not_found'],
  handle: async (store, { path: { queue }, body }) => DELETED.json(await store.queues.purge(queue, body)),
})

export const queueRoutes: readonly Route[] = [list, get, errors, history, receivers, redrive, promote, purge]

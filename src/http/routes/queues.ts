/** `/v1/queues` and `/v1/queues/{queue}`: listing queues, reading their state and their errors, redriving and purging them. */
import { DELETED } from '../../fields/answers-groups'
import { DEAD_ERRORS, MOVED, PROMOTED, QUEUE_HISTORY, QUEUE_PAGE } from '../../fields/answers-queues'
import { QUEUE_RECEIVERS } from '../../fields/answers-receivers'
import { PromoteDto, PurgeDto, RedriveDto } from '../../fields/messages'
import { HISTORY_PERIODS, QUEUE_ORDERS, QUEUE_STATES } from '../../fields/queues'
import { chosenParameter, nameParameter, optional, wordParameter } from '../input/parameters'
import { bodyOf } from '../input/read'
import { answering, type Route, tagged } from '../route'
import { named } from '../subjects'
import { listing } from './listing'

const list = listing('queues', {
  id: 'listQueues',
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

/** The queue in which messages died. */
export const fromParameter = optional(nameParameter('Only messages that died in this queue.', 'mail'))
export const diedInQuery = ({ query }: { query: { from?: string | undefined } }) =>
  named('queues', [query.from], { parameter: 'from' })
const diedIn = ({ from }: { from?: string }) => named('queues', [from], { pointer: '/from' })

const errors = answering('GET /v1/queues/{queue}/errors', {
  scope: 'read',
  absent: 'queue_not_found',
  about: diedInQuery,
  queryParameters: { from: fromParameter },
  id: 'queueErrors',
  summary: 'Sum up what the dead messages in a queue died of',
  description:
    'Errors that differ only in numbers and ids are one. Dead letters of other queues count, unless they are in flight.',
  gives: [DEAD_ERRORS, 'The errors.'],
  call: (store, { path: { queue }, query }) => store.queues.errors(queue, query),
})

const history = answering('GET /v1/queues/{queue}/history', {
  scope: 'read',
  absent: 'queue_not_found',
  queryParameters: {
    period: wordParameter(
      'The last hour in steps of 15 seconds, or the last week in steps of 10 minutes.',
      HISTORY_PERIODS,
    ),
  },
  id: 'queueHistory',
  summary: 'Read how many messages were sent, acknowledged and waiting in the last hour or week',
  description: 'Each process adds its numbers every 15 seconds; one that is killed loses its last numbers.',
  gives: [QUEUE_HISTORY, 'The history.'],
  call: (store, { path: { queue }, query }) => store.queues.history(queue, query),
})

const receivers = answering('GET /v1/queues/{queue}/receivers', {
  scope: 'read',
  absent: 'queue_not_found',
  id: 'queueReceivers',
  summary: 'Read which processes receive from a queue, and what blocks its message groups',
  gives: [QUEUE_RECEIVERS, 'The receivers and the blocked groups.'],
  call: (store, { path: { queue } }) => store.queues.receivers(queue),
})

const redrive = answering('POST /v1/queues/{queue}/redrive', {
  scope: 'admin',
  absent: 'queue_not_found',
  // A redrive sends messages to queues that the request does not name.
  about: () => [{ kind: 'queues', prefix: '' }],
  body: { ...bodyOf(RedriveDto, { limit: 100 }), about: diedIn, optional: true },
  id: 'redriveQueue',
  summary: 'Send dead messages back to where they came from',
  description:
    'Call it on the queue that holds them. Its own dead messages, and those that were dead-lettered from another queue and ' +
    'are not in flight, go back with receive count 0. Messages whose queue no longer exists stay.',
  gives: [MOVED, 'The number of moved messages.'],
  call: (store, { path: { queue }, body, within }) =>
    store.queues.redrive(queue, { ...body, prefix: within ?? undefined }),
})

const promote = answering('POST /v1/queues/{queue}/promote', {
  scope: 'admin',
  absent: 'queue_not_found',
  body: bodyOf(PromoteDto, { ids: ['1042'] }),
  id: 'promoteMessages',
  summary: 'Make delayed messages due now, or end the claims of messages in flight',
  description:
    'Messages in another state, or not there, are not counted. With `inFlight` claims end as by `nackMessages`: their receipt ' +
    'handles are stale, and a message that has used up its receives is dead.',
  gives: [PROMOTED, 'The number of promoted messages.'],
  call: (store, { path: { queue }, body: { ids, ...options } }) => store.queues.promote(queue, ids, options),
})

const purge = answering('POST /v1/queues/{queue}/purge', {
  scope: 'admin',
  absent: 'queue_not_found',
  body: { ...bodyOf(PurgeDto, { dryRun: false }), about: diedIn, optional: true },
  id: 'purgeQueue',
  summary: 'Drop the ready, blocked and delayed messages, or dead ones',
  description:
    'Messages that are in flight, dead or archived stay. In a dead-letter queue, messages that died in another queue are ready, so they are dropped.',
  gives: [DELETED, 'The number of dropped messages.'],
  call: (store, { path: { queue }, body }) => store.queues.purge(queue, body),
})

export const queueRoutes: readonly Route[] = tagged('Queues', [
  list,
  errors,
  history,
  receivers,
  redrive,
  promote,
  purge,
])

/** `/v1/queues/{queue}/messages`: sending messages, reading them without a claim, and removing one by its id. */
import { MESSAGE_PAGE, SENT, SENT_MANY, SENT_ONE_OR_MANY, WHOLE_MESSAGE } from '../../fields/answers-queues'
import { isObject } from '../../fields/dto'
import { ALIKE, MessagesDto, NewMessageDto } from '../../fields/messages'
import { bounded } from '../../fields/options'
import { MESSAGE_STATES } from '../../fields/queues'
import { MAX_BATCH } from '../../fields/rules'
import type { Sent } from '../../shared/queue-types'
import { optional, pageParameters, textParameter, wordParameter } from '../input/parameters'
import { readBody } from '../input/read'
import { answering, type Route, removing, route, stored, tagged } from '../route'
import { MAX_ANSWER_BYTES } from './items'
import { diedInQuery, fromParameter } from './queues'

const newMessage = {
  body: { to: 'a@example.org' },
  delaySeconds: 5,
  dedupId: 'welcome-7',
  messageGroup: 'tenant-3',
  attributes: { source: 'sign-up' },
}

const send = route('POST /v1/queues/{queue}/messages', {
  scope: 'queue',
  body: {
    schema: 'Sending',
    dto: NewMessageDto,
    example: { messages: [newMessage, { body: 'anything', priority: 10 }] },
    read: (body, faults) =>
      isObject(body.value) && Object.hasOwn(body.value, 'messages')
        ? readBody(MessagesDto, body, faults)
        : readBody(NewMessageDto, body, faults),
  },
  id: 'sendMessages',
  summary: `Send a message, or up to ${MAX_BATCH} of them`,
  description:
    'Many messages are sent in one commit, or none; the answer has them in the order given. If the queue got a message ' +
    'with the same `dedupId` in the last 5 minutes, nothing is sent. The answer has the id of that message, even if it is ' +
    'gone, and `sent` is false. The same goes for a message with the same `key` that waits, whose body `onKey` may replace.',
  outcomes: {
    200: {
      description: 'Messages with the same `dedupId` were sent before, or wait with the same `key`; nothing is sent.',
      shape: SENT_ONE_OR_MANY,
      example: { ...SENT.example, sent: false },
    },
    201: {
      description: 'The messages are sent and committed.',
      shape: SENT_ONE_OR_MANY,
      located: 'for one',
    },
  },
  refusals: ['queue_not_found', 'queue_full'],
  async handle(store, { path: { queue }, body: sending }) {
    const isMany = sending instanceof MessagesDto
    const messages = await store.queues.sendMany(queue, isMany ? sending.messages : [sending])
    const isNew = messages.some(({ sent }) => sent)
    if (isMany) return stored(isNew, SENT_MANY.json({ messages }))
    const [one] = messages as [Sent]
    return stored(isNew, SENT.json(one), `/v1/queues/${encodeURIComponent(queue)}/messages/${one.id}`)
  },
})

const peek = answering('GET /v1/queues/{queue}/messages', {
  scope: 'read',
  about: diedInQuery,
  queryParameters: {
    state: wordParameter('Return only messages in this state.', MESSAGE_STATES),
    bodies: wordParameter(
      '`preview`: in place of each body, the first 200 characters of its JSON as a string, with `…` if it is longer.',
      ['value', 'preview'],
    ),
    error: optional(textParameter(ALIKE, 'SMTP 550: no mailbox #')),
    from: fromParameter,
    ...pageParameters('MC4xMDQyLjEwNDI', 'opaque'),
  },
  id: 'peekMessages',
  summary: 'Read the messages in one state without claiming them',
  description:
    'A page stops at about 4 MiB. With `error` or `from` it also stops after 10,000 messages that do not fit.',
  gives: [MESSAGE_PAGE, 'A page of messages.'],
  refusals: ['queue_not_found'],
  call(store, { path: { queue }, query }) {
    const bodies = query.bodies === 'preview' ? 'preview' : 'text'
    return store.queues.peek(queue, bounded({ ...query, bodies } as const, MAX_ANSWER_BYTES))
  },
})

const get = answering('GET /v1/queues/{queue}/messages/{id}', {
  scope: 'read',
  id: 'getMessage',
  summary: 'Read one message, in any state',
  gives: [WHOLE_MESSAGE, 'The message.'],
  refusals: ['queue_not_found'],
  absent: 'message_not_found',
  call: (store, { path: { queue, id } }) => store.queues.message(queue, id, { bodies: 'text' }),
})

const remove = removing('DELETE /v1/queues/{queue}/messages/{id}', {
  scope: 'admin',
  id: 'removeMessage',
  summary: 'Remove one message, in any state',
  description: 'The message is not archived, and the receipt handle of its receiver becomes stale.',
  gives: 'The message is removed.',
  refusals: ['queue_not_found'],
  absent: 'message_not_found',
  call: (store, { path: { queue, id } }) => store.queues.remove(queue, id),
})

const cancel = removing('DELETE /v1/queues/{queue}/keys/{key}', {
  scope: 'queue',
  id: 'cancelMessage',
  summary: 'Remove the message that waits with a key',
  description: 'One that is in flight stays.',
  gives: 'The message is removed.',
  refusals: ['queue_not_found'],
  absent: 'message_not_found',
  call: (store, { path: { queue, key } }) => store.queues.cancel(queue, key),
})

export const messageRoutes: readonly Route[] = tagged('Messages', [send, peek, get, remove, cancel])

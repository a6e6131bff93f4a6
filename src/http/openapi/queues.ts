/** What the OpenAPI document says of queues and messages: the schemas of the answers, and an example of each body. */
import { orNull, ref, type Schema } from '../../fields/field'
import * as fields from '../../fields/queues'
import { schemaOf } from '../dto/dto'
import * as dto from '../dto/queues'
import {
  answer,
  anyJson,
  componentsOf,
  count,
  list,
  nameOrNull,
  pageOf,
  tag,
  textOrNull,
  timeOrNull,
  truth,
} from './shapes'

const queueAnswer = {
  queue: ref('Name'),
  ...schemaOf(dto.QueueChangesDto).properties,
  tag,
  paused: truth('Whether `pauseQueue` has paused the queue: it accepts sends, but receives get nothing.'),
  createdAt: ref('Time'),
}

const maxReceives = {
  ...orNull(fields.MAX_RECEIVES.schema),
  description: "The limit in force: the message's own, otherwise the queue's. Null is no limit.",
}
const life = {
  firstReceivedAt: { ...timeOrNull, description: 'When it was received for the first time, in whatever queue.' },
  deadAt: {
    ...timeOrNull,
    description: 'When it died, for a dead message, and for a dead letter until it is redriven; otherwise null.',
  },
  deadReceiveCount: { ...orNull(count), description: 'How often it had been received when it died.' },
}
const messageEnd = {
  lastError: {
    ...textOrNull,
    description:
      'The error of the last `nack`; for a message that died without one, that its visibility timeout ended.',
  },
  messageGroup: nameOrNull,
  priority: fields.PRIORITY.schema,
  attributes: {
    type: 'object',
    description: 'As they were sent; empty if there are none.',
    additionalProperties: { type: 'string' },
  },
}

const handles = list({ type: 'string' })
const failedHandles = list(
  answer({ receiptHandle: { type: 'string' }, code: { enum: ['stale_receipt', 'invalid_receipt'] } }),
  '`stale_receipt`: the claim has ended. `invalid_receipt`: not a handle of this queue.',
)

export const queueSchemas: Readonly<Record<string, Schema>> = {
  ...componentsOf(dto.QueueSettingsDto, dto.QueueChangesDto),
  Queue: answer(queueAnswer),
  QueueStatus: answer({
    ...queueAnswer,
    isDeadLetterQueue: truth(
      'Whether another queue names it as its dead-letter queue. Messages that die there are ready here.',
    ),
    counts: answer(
      { ready: count, inFlight: count, delayed: count, blocked: count, dead: count, archived: count },
      'At most 5 seconds old; exact once the queue has not changed for 5 seconds.',
    ),
    oldestAgeSeconds: {
      ...orNull(count),
      description: 'The age of the oldest message that is ready, blocked or in flight; null if there is none.',
    },
  }),
  ...componentsOf(dto.NoFieldsDto),
  QueuePage: pageOf('queues', 'QueueStatus'),
  ...componentsOf(dto.RedriveDto, dto.PromoteDto, dto.PurgeDto),
  Moved: answer({ moved: count }),
  Promoted: answer({ promoted: count }),
  ...componentsOf(dto.NewMessageDto, dto.MessagesDto),
  Sending: { anyOf: [ref('NewMessage'), ref('Messages')] },
  Sent: answer({
    id: ref('Id'),
    sent: truth('False: a message with this `dedupId` was sent before; `id` is that of that message.'),
  }),
  SentMany: answer({ messages: list(ref('Sent')) }),
  SentOneOrMany: { oneOf: [ref('Sent'), ref('SentMany')] },
  ...componentsOf(dto.ReceiveDto, dto.CycleDto),
  Message: answer({
    id: ref('Id'),
    body: anyJson,
    receiveCount: { ...count, description: 'The number of receives, including this one.' },
    receiptHandle: { type: 'string', description: 'Opaque; identifies the message and this claim.' },
    sentAt: ref('Time'),
    visibleAt: { ...ref('Time'), description: 'The end of the claim.' },
    ...life,
    receivedAt: { ...ref('Time'), description: 'The beginning of the claim.' },
    maxReceives,
    ...messageEnd,
  }),
  Received: answer({ messages: list(ref('Message')) }),
  ...componentsOf(dto.AckDto, dto.NackDto, dto.ExtendDto),
  AckedReceipts: answer({ acked: handles, failed: failedHandles }),
  NackedReceipts: answer({ nacked: handles, failed: failedHandles }),
  ExtendedReceipts: answer({ extended: handles, failed: failedHandles }),
  PeekedMessage: answer({
    id: ref('Id'),
    state: { enum: [...fields.MESSAGE_STATES] },
    body: anyJson,
    receiveCount: count,
    maxReceives,
    sentAt: ref('Time'),
    visibleAt: { ...ref('Time'), description: 'When the message becomes, or became, visible again.' },
    ...life,
    lastReceivedAt: timeOrNull,
    archivedAt: timeOrNull,
    deadLetterFrom: {
      ...nameOrNull,
      description:
        'The queue in which a dead letter died; null if that queue no longer exists, if the key may not see it, or if the ' +
        'message is archived.',
    },
    ...messageEnd,
  }),
  MessagePage: pageOf('messages', 'PeekedMessage'),
}

export const queueSettings = { visibilityTimeoutSeconds: 60, maxReceives: 5, deadLetterQueue: 'mail-dead' }

export const queueChanges = { visibilityTimeoutSeconds: 60 }

export const queue = {
  queue: 'mail',
  visibilityTimeoutSeconds: 60,
  maxReceives: 5,
  deadLetterQueue: 'mail-dead',
  onDelete: 'remove',
  retentionSeconds: null,
  groupConcurrency: null,
  maxMessages: null,
  tag: 'W0bS1IIIXjmIVLDc0ZQdMw',
  paused: false,
  createdAt: '2026-11-20T08:30:00.000Z',
}

export const pausedQueue = { ...queue, paused: true }

export const queueStatus = {
  ...queue,
  isDeadLetterQueue: false,
  counts: { ready: 12, inFlight: 3, delayed: 1, blocked: 0, dead: 0, archived: 0 },
  oldestAgeSeconds: 4,
}

const deadLetters = {
  ...queueStatus,
  ...{ queue: 'mail-dead', deadLetterQueue: null, isDeadLetterQueue: true, oldestAgeSeconds: null },
}

export const queuePage = { queues: [queueStatus, deadLetters], nextAfter: null }

export const redrive = { limit: 100 }
export const moved = { moved: 100 }
export const promote = { ids: ['1042'] }
export const promoted = { promoted: 1 }
export const noFields = {}
export const purge = { dryRun: false }

const newMessage = {
  body: { to: 'a@example.org' },
  delaySeconds: 5,
  dedupId: 'welcome-7',
  messageGroup: 'tenant-3',
  attributes: { source: 'sign-up' },
}

export const messages = { messages: [newMessage, { body: 'anything', priority: 10 }] }

export const sentBefore = { id: '1042', sent: false }

export const sentMany = {
  messages: [
    { id: '1042', sent: true },
    { id: '1043', sent: true },
  ],
}

export const receive = { limit: 10, waitSeconds: 20 }

const receiptHandle = 'AAAAAAAABBKcWb0SSTvJtSXJzQfPzkUvd3vZpg'

const alive = { firstReceivedAt: '2026-11-21T10:00:05.300Z', deadAt: null, deadReceiveCount: null }
const end = { ...alive, lastError: null, messageGroup: 'tenant-3', priority: 0, attributes: { source: 'sign-up' } }

export const received = {
  messages: [
    {
      id: '1042',
      body: { to: 'a@example.org' },
      receiveCount: 1,
      receiptHandle,
      sentAt: '2026-11-21T10:00:00.250Z',
      receivedAt: '2026-11-21T10:00:05.300Z',
      visibleAt: '2026-11-21T10:01:05.300Z',
      maxReceives: 5,
      ...end,
    },
  ],
}

export const cycle = { limit: 10, cursor: 'poller' }

export const ack = { receiptHandle }

export const nack = { receiptHandle, delaySeconds: 30, error: 'mail server says 451' }

export const extend = { receiptHandles: [receiptHandle], visibilityTimeoutSeconds: 60 }

const failed = [{ receiptHandle, code: 'stale_receipt' }]

export const ackedReceipts = { acked: [receiptHandle], failed: [] }

export const nackedReceipts = { nacked: [receiptHandle], failed: [] }

export const extendedReceipts = { extended: [], failed }

export const peekedMessage = {
  id: '1042',
  state: 'in-flight',
  body: { to: 'a@example.org' },
  receiveCount: 1,
  maxReceives: 5,
  sentAt: '2026-11-21T10:00:00.250Z',
  visibleAt: '2026-11-21T10:01:05.300Z',
  lastReceivedAt: '2026-11-21T10:00:05.300Z',
  archivedAt: null,
  deadLetterFrom: null,
  ...end,
}

const readyMessage = { ...peekedMessage, state: 'ready', receiveCount: 0, firstReceivedAt: null, lastReceivedAt: null }

export const messagePage = { messages: [readyMessage], nextAfter: null }

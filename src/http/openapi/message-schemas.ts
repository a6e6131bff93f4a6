/** The component schemas of messages: sent, received, settled and looked at. */
import {
  MAX_DELAY_SECONDS,
  MAX_PRIORITY,
  MAX_RECEIVES,
  MAX_VISIBILITY_SECONDS,
  MAX_WAIT_SECONDS,
  MESSAGE_STATES,
  ORDERS,
} from '../../fields/queue-rules'
import { MAX_BATCH } from '../../fields/rules'
import { answer, anyJson, count, list, orNull, ref, request, type Schema, whole } from './shapes'

const visibility = whole(0, MAX_VISIBILITY_SECONDS)
const priority = whole(-MAX_PRIORITY, MAX_PRIORITY)
const textOrNull = orNull({ type: 'string' })
const lastError = {
  ...textOrNull,
  description:
    'What the last release with an error said; of a message that died without one, that its visibility timeout ran out.',
}

const newMessage = {
  body: { description: 'Any JSON value of at most 256 KiB and 64 levels; stored and given back unchanged.' },
  delaySeconds: orNull(whole(0, MAX_DELAY_SECONDS, { default: 0, description: 'Not handed out before.' })),
  visibilityTimeoutSeconds: {
    ...orNull(visibility),
    description: "In place of the queue's, where a receive asks for none.",
  },
  maxReceives: {
    ...orNull(whole(1, MAX_RECEIVES)),
    description: "In place of the queue's. Null is no limit; the queue's when left out.",
  },
  dedupId: {
    ...orNull(ref('Name')),
    description: 'While a message was sent to this queue with it in the last 5 minutes, that one stands for this one.',
  },
  priority: orNull({ ...priority, default: 0, description: 'Higher first.' }),
  messageGroup: {
    ...orNull(ref('Name')),
    description: 'Messages of one group take turns with those of other groups. Those without one share one.',
  },
}

const receiptHandle = { type: 'string', description: 'Names this message and this claim; opaque.' }
const handles = list({ type: 'string' })
const receiptHandles = list({ type: 'string' }, { minItems: 1, maxItems: MAX_BATCH })
const failed = list(
  answer({ receiptHandle: { type: 'string' }, code: { enum: ['stale_receipt', 'invalid_receipt'] } }),
  {
    description:
      '`stale_receipt`: the message was claimed again, or settled. `invalid_receipt`: malformed, or there never was one.',
  },
)

export const messageSchemas: Readonly<Record<string, Schema>> = {
  NewMessage: request(newMessage, ['body']),
  Messages: request({ messages: list(ref('NewMessage'), { minItems: 1, maxItems: MAX_BATCH }) }, ['messages']),
  Sending: { anyOf: [ref('NewMessage'), ref('Messages')] },
  Sent: answer({ id: ref('Id') }),
  SentMany: answer({ ids: list(ref('Id')) }),
  SentOneOrMany: { oneOf: [ref('Sent'), ref('SentMany')] },
  Receive: request({
    max: orNull(whole(1, MAX_BATCH, { default: 1, description: 'At most so many messages.' })),
    visibilityTimeoutSeconds: { ...orNull(visibility), description: "In place of the messages' own and the queue's." },
    waitSeconds: orNull(
      whole(0, MAX_WAIT_SECONDS, { default: 0, description: 'How long to wait for a message when there is none.' }),
    ),
    order: orNull({
      enum: [...ORDERS],
      default: 'ready',
      description: '`ready`: by priority and fairness. `cycle`: round and round by id, from where the cursor is.',
    }),
    cursor: { ...orNull(ref('Name')), description: '`cycle`: which cursor goes on; `default` when left out.' },
  }),
  Message: answer({
    id: ref('Id'),
    body: anyJson,
    receiveCount: { ...count, description: 'This claim included.' },
    receiptHandle,
    sentAt: ref('Time'),
    visibleAt: { ...ref('Time'), description: 'When the claim runs out.' },
    lastError,
    messageGroup: orNull(ref('Name')),
    priority,
  }),
  Received: answer({ messages: list(ref('Message')) }),
  Receipts: request({ receiptHandles }, ['receiptHandles']),
  Release: request(
    {
      receiptHandles,
      delaySeconds: orNull(whole(0, MAX_DELAY_SECONDS, { default: 0, description: 'Handed out again after so long.' })),
      error: { ...textOrNull, description: 'Kept as `lastError`, cut to 1,000 characters.' },
      dead: orNull({
        type: 'boolean',
        default: false,
        description: 'Never again: to the dead letters, whatever the receive count.',
      }),
    },
    ['receiptHandles'],
  ),
  Extend: request({ receiptHandles, visibilityTimeoutSeconds: { ...visibility, description: 'Counted from now.' } }, [
    'receiptHandles',
    'visibilityTimeoutSeconds',
  ]),
  DeletedReceipts: answer({ deleted: handles, failed }),
  ReleasedReceipts: answer({ released: handles, failed }),
  ExtendedReceipts: answer({ extended: handles, failed }),
  PeekedMessage: answer({
    id: ref('Id'),
    state: { enum: [...MESSAGE_STATES] },
    body: anyJson,
    receiveCount: count,
    maxReceives: {
      ...orNull(whole(1, MAX_RECEIVES)),
      description: "In force: its own, or the queue's where it has none. Null is no limit.",
    },
    sentAt: ref('Time'),
    visibleAt: { ...ref('Time'), description: 'When it is, or was, to be handed out again.' },
    lastReceivedAt: orNull(ref('Time')),
    archivedAt: orNull(ref('Time')),
    deadLetterFrom: {
      ...orNull(ref('Name')),
      description:
        'Of a dead letter, the queue that it died in; null when that one is gone, when the key may not see it, and once ' +
        'the message is archived.',
    },
    lastError,
    messageGroup: orNull(ref('Name')),
    priority,
  }),
  MessagePage: answer({ messages: list(ref('PeekedMessage')), nextAfter: textOrNull }),
}

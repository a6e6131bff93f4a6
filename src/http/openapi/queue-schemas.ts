/** The component schemas of queues themselves. */
import { DEFAULT_MAX_RECEIVES, MAX_RECEIVES, MAX_VISIBILITY_SECONDS, ON_DELETE } from '../../fields/queue-rules'
import { MAX_TTL_SECONDS } from '../../fields/rules'
import { answer, count, list, orNull, ref, request, type Schema, whole } from './shapes'

const visibilityTimeoutSeconds = whole(0, MAX_VISIBILITY_SECONDS, {
  description: 'How long a receiver has a message for itself; 30 when left out.',
})
const maxReceives = {
  ...orNull(whole(1, MAX_RECEIVES)),
  description: `A message whose claim ends without a delete after this many receives is dead. Null is no limit; ${DEFAULT_MAX_RECEIVES} when left out.`,
}
const deadLetterQueue = {
  ...orNull(ref('Name')),
  description: 'Where dead messages go: a queue that exists. Null, and left out: they stay, with the state `dead`.',
}
const onDelete = {
  enum: [...ON_DELETE],
  description: 'What happens to a message that its receiver deletes; `remove` when left out.',
}
const retentionSeconds = {
  ...orNull(whole(1, MAX_TTL_SECONDS)),
  description: 'How long archived messages are kept; null, and left out: for ever.',
}
const paused = {
  type: 'boolean',
  description: 'Whether the queue is paused, by `pauseQueue`: sends are taken, receives get nothing.',
}

const dryRun = {
  type: 'boolean',
  description: 'True: nothing is changed, and the answer is how many messages it would have been, counted now.',
}

const queue = {
  queue: ref('Name'),
  visibilityTimeoutSeconds,
  maxReceives,
  deadLetterQueue,
  onDelete,
  retentionSeconds,
  paused,
  createdAt: ref('Time'),
}

export const queueSchemas: Readonly<Record<string, Schema>> = {
  QueueSettings: request({
    visibilityTimeoutSeconds: orNull(visibilityTimeoutSeconds),
    maxReceives,
    deadLetterQueue,
    onDelete: orNull(onDelete),
    retentionSeconds,
  }),
  QueueChanges: request({
    visibilityTimeoutSeconds: whole(0, MAX_VISIBILITY_SECONDS, {
      description: 'How long a receiver has a message for itself.',
    }),
    maxReceives: {
      ...orNull(whole(1, MAX_RECEIVES)),
      description: 'A message whose claim ends without a delete after this many receives is dead. Null is no limit.',
    },
    deadLetterQueue: {
      ...orNull(ref('Name')),
      description: 'Where dead messages go: a queue that exists. Null: they stay, with the state `dead`.',
    },
    onDelete: { enum: [...ON_DELETE], description: 'What happens to a message that its receiver deletes.' },
    retentionSeconds: {
      ...orNull(whole(1, MAX_TTL_SECONDS)),
      description: 'How long archived messages are kept. Null: for ever.',
    },
  }),
  Queue: answer(queue),
  QueueStatus: answer({
    ...queue,
    isDeadLetterQueue: {
      type: 'boolean',
      description: 'Whether another queue names it as its dead-letter queue. What dies there is ready here.',
    },
    counts: {
      ...answer({ ready: count, inFlight: count, delayed: count, dead: count, archived: count }),
      description: 'At most 5 seconds old; exact once the queue has been still that long.',
    },
    oldestAgeSeconds: {
      ...orNull(count),
      description: 'Since when the oldest message that is ready or in flight was sent; null when there is none.',
    },
  }),
  NoFields: request({}),
  QueuePage: answer({ queues: list(ref('QueueStatus')), nextAfter: orNull({ type: 'string' }) }),
  Redrive: request({
    max: orNull(whole(1, Number.MAX_SAFE_INTEGER, { description: 'At most so many; all when left out.' })),
    dryRun: orNull(dryRun),
  }),
  Purge: request({ dryRun: orNull(dryRun) }),
  Moved: answer({ moved: count }),
}

/** `/v1/queues/{queue}`: creating, changing, pausing and dropping a queue. */

import { HELD, QUEUE, QUEUE_STATUS } from '../../fields/answers-queues'
import { HoldDto, NoFieldsDto, QueueChangesDto, QueueSettingsDto } from '../../fields/queues'
import { bodyOf } from '../input/read'
import { answering, type BodyReader, type Route, tagged } from '../route'
import { named, type Subject } from '../subjects'
import { settingsRoutes } from './settings'

function lettersIn({ deadLetterQueue }: { deadLetterQueue?: string | null }): Subject[] {
  return named('queues', [deadLetterQueue], { pointer: '/deadLetterQueue' })
}

/** All settings of a queue; a setting that is left out gets its default. */
const settingsBody: BodyReader<QueueSettingsDto> = {
  ...bodyOf(QueueSettingsDto, { visibilityTimeoutSeconds: 60, maxReceives: 5, deadLetterQueue: 'mail-dead' }),
  optional: true,
  about: lettersIn,
}

const { get, put, update, drop } = settingsRoutes({
  noun: 'Queue',
  path: '/v1/queues/{queue}',
  calls: ({ queues }) => queues,
  shape: QUEUE,
  status: QUEUE_STATUS,
  get: { summary: 'Read a queue: its settings, the number of messages in each state, and the age of the oldest' },
  put: {
    summary: 'Create a queue, or replace all of its settings',
    description:
      'A setting that is left out gets its default; a paused queue stays paused. With `If-None-Match: *`, for which the scope ' +
      '`queue` suffices, an existing queue stays as it is; the server logs a warning if it has other settings. Use it where an ' +
      'operator owns the settings. A `deadLetterQueue` outside of the prefix of the key is shown as null.',
    body: settingsBody,
    creates: 'queues',
    refusals: ['dead_letter_queue_not_found', 'dead_letter_cycle', 'too_many'],
    ensureScope: 'queue',
  },
  update: {
    summary: 'Change some settings of a queue',
    description:
      'A setting that is left out stays as it is; `{}` changes nothing. A `deadLetterQueue` outside of the prefix of the key is ' +
      'shown as null.',
    body: { ...bodyOf(QueueChangesDto, { visibilityTimeoutSeconds: 60 }), about: lettersIn },
    refusals: ['dead_letter_queue_not_found', 'dead_letter_cycle'],
  },
  drop: { summary: 'Drop a queue with its messages', refusals: ['queue_in_use'] },
})

const pause = answering('POST /v1/queues/{queue}/pause', {
  scope: 'admin',
  absent: 'queue_not_found',
  body: { ...bodyOf(NoFieldsDto, {}), optional: true },
  id: 'pauseQueue',
  summary: 'Pause a queue',
  description:
    'Until `resumeQueue`, the queue accepts sends but receives get nothing. Messages in flight can be settled. Pausing a ' +
    'paused queue changes nothing, and changing its settings does not resume it.',
  gives: [QUEUE, 'The queue is paused.', { ...QUEUE.example, paused: true }],
  call: (store, { path: { queue } }) => store.queues.pause(queue),
})

const resume = answering('POST /v1/queues/{queue}/resume', {
  scope: 'admin',
  absent: 'queue_not_found',
  body: { ...bodyOf(NoFieldsDto, {}), optional: true },
  id: 'resumeQueue',
  summary: 'Resume a paused queue',
  description: 'Waiting receives get the available messages. Resuming a queue that is not paused changes nothing.',
  gives: [QUEUE, 'The queue is not paused.'],
  call: (store, { path: { queue } }) => store.queues.resume(queue),
})

const hold = answering('POST /v1/queues/{queue}/hold', {
  absent: 'queue_not_found',
  scope: 'queue',
  body: bodyOf(HoldDto, { group: 'tenant-3', seconds: 30 }),
  id: 'holdQueue',
  summary: 'Hold a queue, or one of its message groups, for some time',
  description:
    'No message of it is handed out for `seconds`; messages that were received before stay with their receivers. Another ' +
    'hold of the same replaces this one, and 0 ends it.',
  gives: [HELD, 'Until when it is held.'],
  call: (store, { path: { queue }, body }) => store.queues.hold(queue, body),
})

export const queueSettingsRoutes: readonly Route[] = tagged('Queues', [get, put, drop, update, pause, resume, hold])

/** `/v1/queues/{queue}`: creating, changing, pausing and dropping a queue. */

import { HELD, QUEUE } from '../../fields/answers-queues'
import { HoldDto, NoFieldsDto, QueueChangesDto, QueueSettingsDto } from '../../fields/queues'
import { RecentnError } from '../../shared/errors'
import { bodyOf } from '../input/read'
import { type BodyReader, gone, putSettings, type Route, route, settingsAnswer } from '../route'
import { named, type Subject } from '../subjects'
import { onQueue } from './queues'

function lettersIn({ deadLetterQueue }: { deadLetterQueue?: string | null }): Subject[] {
  return named('queues', [deadLetterQueue], { pointer: '/deadLetterQueue' })
}

/** All settings of a queue; a setting that is left out gets its default. */
const settingsBody: BodyReader<QueueSettingsDto> = {
  ...bodyOf(QueueSettingsDto, { visibilityTimeoutSeconds: 60, maxReceives: 5, deadLetterQueue: 'mail-dead' }),
  optional: true,
  about: lettersIn,
}

const onSettings = { ...onQueue, scope: 'admin' } as const

const put = route({
  ...onSettings,
  method: 'put',
  body: settingsBody,
  id: 'putQueue',
  creates: 'queues',
  summary: 'Create a queue, or replace all of its settings',
  description:
    'A setting that is left out gets its default; a paused queue stays paused. With `If-None-Match: *`, for which the scope ' +
    '`queue` suffices, an existing queue stays as it is; the server logs a warning if it has other settings. Use it where an ' +
    'operator owns the settings. A `deadLetterQueue` outside of the prefix of the key is shown as null.',
  outcomes: {
    200: { description: 'The settings were replaced.', shape: QUEUE },
    201: { description: 'The queue was created.', shape: QUEUE, located: 'always' },
  },
  refusals: ['dead_letter_queue_not_found', 'dead_letter_cycle', 'too_many'],
  hasSettings: true,
  ensureScope: 'queue',
  handle: (store, { path: { queue }, body, within, ...conditions }) =>
    putSettings(
      conditions,
      (options) => store.queues.put(queue, body, options),
      () => store.queues.ensure(queue, body),
      (settled) => QUEUE.json(settled, within),
      `/v1/queues/${encodeURIComponent(queue)}`,
    ),
})

const drop = route({
  ...onSettings,
  method: 'delete',
  id: 'deleteQueue',
  summary: 'Drop a queue with its messages',
  outcomes: { 204: { description: 'The queue is dropped.' } },
  refusals: ['queue_not_found', 'queue_in_use'],
  async handle(store, { path: { queue }, within }) {
    const deleted = await store.queues.drop(queue).catch((error: unknown) => {
      // The error names the queue that uses this one, which may be outside of the caller's prefix.
      const isInUse = error instanceof RecentnError && error.code === 'queue_in_use'
      throw isInUse && within !== null ? new RecentnError('queue_in_use') : error
    })
    return gone(deleted, 'queue_not_found')
  },
})

const update = route({
  ...onSettings,
  method: 'patch',
  body: { ...bodyOf(QueueChangesDto, { visibilityTimeoutSeconds: 60 }), about: lettersIn },
  id: 'updateQueue',
  summary: 'Change some settings of a queue',
  description:
    'A setting that is left out stays as it is; `{}` changes nothing. A `deadLetterQueue` outside of the prefix of the key is ' +
    'shown as null.',
  outcomes: { 200: { description: 'The queue as it is now.', shape: QUEUE } },
  refusals: ['queue_not_found', 'dead_letter_queue_not_found', 'dead_letter_cycle'],
  hasSettings: true,
  async handle(store, { path: { queue }, body, within, ifTag }) {
    const changed = await store.queues.update(queue, body, { ifTag })
    return settingsAnswer(changed, QUEUE.json(changed, within))
  },
})

const pause = route({
  ...onSettings,
  method: 'post',
  path: `${onQueue.path}/pause`,
  body: { ...bodyOf(NoFieldsDto, {}), optional: true },
  id: 'pauseQueue',
  summary: 'Pause a queue',
  description:
    'Until `resumeQueue`, the queue accepts sends but receives get nothing. Messages in flight can be settled. Pausing a ' +
    'paused queue changes nothing, and changing its settings does not resume it.',
  outcomes: { 200: { description: 'The queue is paused.', shape: QUEUE, example: { ...QUEUE.example, paused: true } } },
  refusals: ['queue_not_found'],
  handle: async (store, { path: { queue }, within }) => QUEUE.json(await store.queues.pause(queue), within),
})

const resume = route({
  ...onSettings,
  method: 'post',
  path: `${onQueue.path}/resume`,
  body: { ...bodyOf(NoFieldsDto, {}), optional: true },
  id: 'resumeQueue',
  summary: 'Resume a paused queue',
  description: 'Waiting receives get the available messages. Resuming a queue that is not paused changes nothing.',
  outcomes: { 200: { description: 'The queue is not paused.', shape: QUEUE } },
  refusals: ['queue_not_found'],
  handle: async (store, { path: { queue }, within }) => QUEUE.json(await store.queues.resume(queue), within),
})

const hold = route({
  ...onSettings,
  scope: 'queue',
  method: 'post',
  path: `${onQueue.path}/hold`,
  body: bodyOf(HoldDto, { group: 'tenant-3', seconds: 30 }),
  id: 'holdQueue',
  summary: 'Hold a queue, or one of its message groups, for some time',
  description:
    'No message of it is handed out for `seconds`; messages that were received before stay with their receivers. Another ' +
    'hold of the same replaces this one, and 0 ends it.',
  outcomes: { 200: { description: 'Until when it is held.', shape: HELD } },
  refusals: ['queue_not_found'],
  handle: async (store, { path: { queue }, body }) => HELD.json(await store.queues.hold(queue, body)),
})

export const queueSettingsRoutes: readonly Route[] = [put, drop, update, pause, resume, hold]

/** `/v1/queues/{queue}`: what an app and an operator change of a queue that may exist already. */
import { NO_FIELDS, QUEUE_CHANGES, QUEUE_SETTINGS } from '../../fields/queues'
import type { QueueSettings } from '../../repositories/queues/types'
import { renderQueue } from '../../results/queues'
import { nameParameter } from '../input/parameters'
import { bodyOf } from '../input/read'
import * as example from '../openapi/queues'
import { type BodyReader, ok, type Route, route, stored } from '../route'
import { named, pathName, type Subject } from '../subjects'

const path = '/v1/queues/{queue}'
const pathParameters = { queue: nameParameter('The queue.', 'mail') }

const inPath = pathName('queues', 'queue')

/** The dead-letter queue that settings name. */
function lettersIn({ deadLetterQueue }: { deadLetterQueue?: string | null }): Subject[] {
  return named('queues', [deadLetterQueue], { pointer: '/deadLetterQueue' })
}

/** All settings of a queue; those that are left out take their defaults. */
export const settingsBody: BodyReader<QueueSettings> = {
  ...bodyOf(QUEUE_SETTINGS, example.queueSettings),
  optional: true,
  about: lettersIn,
}

const update = route({
  method: 'patch',
  path,
  scope: 'admin',
  pathParameters,
  body: { ...bodyOf(QUEUE_CHANGES, example.queueChanges), about: lettersIn },
  about: inPath,
  operation: {
    id: 'updateQueue',
    tag: 'Queues',
    summary: 'Change some settings of a queue',
    description:
      'What is left out stays as it is; `{}` changes nothing. A dead-letter queue that does not exist is answered with ' +
      '400 and the code `queue_not_found`; a `deadLetterQueue` outside of the prefix of the key is shown as null.',
    outcomes: { 200: { description: 'The queue as it is now.', schema: 'Queue', example: example.queue } },
    refusals: ['queue_not_found', 'dead_letter_cycle'],
  },
  async handle(store, { path: { queue }, body, within }) {
    return ok(renderQueue(await store.queues.update(queue, body), within))
  },
})

const ensure = route({
  method: 'post',
  path: `${path}/ensure`,
  scope: 'admin',
  pathParameters,
  body: settingsBody,
  about: inPath,
  operation: {
    id: 'ensureQueue',
    tag: 'Queues',
    summary: 'Create a queue where there is none',
    description:
      'For the start of an app: a queue that exists stays as it is, whatever its settings are. The body is that of ' +
      '`putQueue`. A `deadLetterQueue` outside of the prefix of the key is shown as null.',
    outcomes: {
      200: { description: 'The queue exists, and is as it was.', schema: 'Queue', example: example.queue },
      201: { description: 'The queue was created.', schema: 'Queue', example: example.queue },
    },
  },
  async handle(store, { path: { queue }, body, within }) {
    const ensured = await store.queues.ensure(queue, body)
    return stored(ensured.created, renderQueue(ensured, within))
  },
})

const pause = route({
  method: 'post',
  path: `${path}/pause`,
  scope: 'admin',
  about: inPath,
  pathParameters,
  body: { ...bodyOf(NO_FIELDS, example.noFields), optional: true },
  operation: {
    id: 'pauseQueue',
    tag: 'Queues',
    summary: 'Pause a queue',
    description:
      'Sends are taken, receives get nothing, until `resumeQueue`. Messages in flight can be settled. Pausing a paused ' +
      'queue changes nothing, and no change of its settings resumes it.',
    outcomes: { 200: { description: 'The queue is paused.', schema: 'Queue', example: example.pausedQueue } },
    refusals: ['queue_not_found'],
  },
  async handle(store, { path: { queue }, within }) {
    return ok(renderQueue(await store.queues.pause(queue), within))
  },
})

const resume = route({
  method: 'post',
  path: `${path}/resume`,
  scope: 'admin',
  about: inPath,
  pathParameters,
  body: { ...bodyOf(NO_FIELDS, example.noFields), optional: true },
  operation: {
    id: 'resumeQueue',
    tag: 'Queues',
    summary: 'Resume a paused queue',
    description: 'Receives that wait get what there is. Resuming a queue that is not paused changes nothing.',
    outcomes: { 200: { description: 'The queue is not paused.', schema: 'Queue', example: example.queue } },
    refusals: ['queue_not_found'],
  },
  async handle(store, { path: { queue }, within }) {
    return ok(renderQueue(await store.queues.resume(queue), within))
  },
})

export const queueSettingsRoutes: readonly Route[] = [update, ensure, pause, resume]

/** `/v1/schedules` and `/v1/schedules/{schedule}`: what is sent to queues again and again. */

import { SCHEDULE, SCHEDULE_PAGE } from '../../fields/answers-schedules'
import { NewScheduleDto, ScheduleChangesDto } from '../../fields/schedules'
import type { Schedule } from '../../shared/schedule-types'
import { nameParameter } from '../input/parameters'
import { bodyOf } from '../input/read'
import { found, gone, putSettings, type Route, route, settingsAnswer } from '../route'
import { named, pathName, type Subject } from '../subjects'
import { listing } from './listing'

const inPath = pathName('schedules', 'schedule')
const onSchedule = {
  path: '/v1/schedules/{schedule}',
  tag: 'Schedules',
  about: inPath,
  pathParameters: { schedule: nameParameter('The schedule.', 'nightly-report') },
}
/** The answer about a schedule names a queue that the request does not. */
const anyQueue: Subject = { kind: 'queues', prefix: '' }
const onStored = {
  ...onSchedule,
  about: (input: { path: { schedule: string } }) => [...inPath(input), anyQueue],
}

/** A caller that may not see a queue may not see what is scheduled into it. */
const seen = <S extends Schedule>(schedule: S | null, within: string | null): S | null =>
  schedule?.queue.startsWith(within ?? '') ? schedule : null
/** REST never parses bodies. */
const asText = { bodies: 'text' } as const

const list = listing('schedules', {
  id: 'listSchedules',
  tag: 'Schedules',
  summary: 'List schedules by name, without their bodies',
  prefix: 'nightly',
  after: 'nightly-report',
  shape: SCHEDULE_PAGE,
  alsoAbout: () => [anyQueue],
  page: (store, query, within) => store.schedules.list({ ...query, queuePrefix: within ?? undefined }),
})

const get = route({
  ...onStored,
  method: 'get',
  scope: 'read',
  id: 'getSchedule',
  summary: 'Read a schedule: what it sends, its last tick and its next',
  outcomes: { 200: { description: 'The schedule.', shape: SCHEDULE } },
  refusals: ['schedule_not_found'],
  hasSettings: true,
  async handle(store, { path: { schedule }, within }) {
    const there = found(seen(await store.schedules.get(schedule, asText), within), 'schedule_not_found')
    return settingsAnswer(there, SCHEDULE.json(there))
  },
})

const { cron, timeZone, body } = SCHEDULE.example

const put = route({
  ...onSchedule,
  method: 'put',
  scope: 'admin',
  body: {
    ...bodyOf(NewScheduleDto, { queue: 'mail', cron, timeZone, body }),
    about: ({ queue }) => named('queues', [queue], { pointer: '/queue' }),
  },
  id: 'putSchedule',
  creates: 'schedules',
  summary: 'Create a schedule, or replace it',
  description:
    'While `cron`, `everySeconds` and `timeZone` stay the same, the next tick stays too. Each tick is sent once, however ' +
    'many processes run. If the queue does not exist, the answer is 404 with the code `queue_not_found`.',
  outcomes: {
    200: { description: 'The schedule was replaced.', shape: SCHEDULE },
    201: { description: 'The schedule was created.', shape: SCHEDULE, located: 'always' },
  },
  refusals: ['queue_not_found', 'too_many'],
  hasSettings: true,
  handle: (store, { path: { schedule }, body, within, ...conditions }) =>
    putSettings(
      conditions,
      (options) => store.schedules.put(schedule, body, { ...options, ...asText }),
      () => store.schedules.ensure(schedule, body, asText),
      (there) => (seen(there, within) ? SCHEDULE.json(there) : null),
      `/v1/schedules/${encodeURIComponent(schedule)}`,
    ),
})

const update = route({
  ...onStored,
  method: 'patch',
  scope: 'admin',
  body: {
    ...bodyOf(ScheduleChangesDto, { cron: '0 3 * * *' }),
    about: ({ queue }) => named('queues', [queue], { pointer: '/queue' }),
  },
  id: 'updateSchedule',
  summary: 'Change some of what a schedule sends, or when',
  description:
    'A field that is left out stays as it is. From `cron` to an interval: `{ "cron": null, "everySeconds": 60 }`. While ' +
    '`cron`, `everySeconds` and `timeZone` stay the same, the next tick stays too.',
  outcomes: { 200: { description: 'The schedule as it is now.', shape: SCHEDULE } },
  refusals: ['schedule_not_found', 'queue_not_found'],
  hasSettings: true,
  async handle(store, { path: { schedule }, body, within, ifTag }) {
    if (within !== null) found(seen(await store.schedules.get(schedule, asText), within), 'schedule_not_found')
    const changed = await store.schedules.update(schedule, body, { ifTag, ...asText })
    return settingsAnswer(changed, SCHEDULE.json(changed))
  },
})

const drop = route({
  ...onStored,
  method: 'delete',
  scope: 'admin',
  id: 'deleteSchedule',
  summary: 'End a schedule',
  description: 'Messages that it has sent stay.',
  outcomes: { 204: { description: 'The schedule has ended.' } },
  refusals: ['schedule_not_found'],
  async handle(store, { path: { schedule }, within }) {
    if (within !== null) found(seen(await store.schedules.get(schedule, asText), within), 'schedule_not_found')
    return gone(await store.schedules.drop(schedule), 'schedule_not_found')
  },
})

export const scheduleRoutes: readonly Route[] = [list, get, put, update, drop]

/** `/v1/schedules` and `/v1/schedules/{schedule}`: what is sent to queues again and again. */

import { SCHEDULE, SCHEDULE_PAGE } from '../../fields/answers-schedules'
import { NewScheduleDto, ScheduleChangesDto } from '../../fields/schedules'
import { bodyOf } from '../input/read'
import { type Route, tagged } from '../route'
import { named, type Subject } from '../subjects'
import { listing } from './listing'
import { settingsRoutes } from './settings'

/** The answer about a schedule names a queue that the request does not. */
const anyQueue: Subject = { kind: 'queues', prefix: '' }

const list = listing('schedules', {
  id: 'listSchedules',
  summary: 'List schedules by name, without their bodies',
  prefix: 'nightly',
  after: 'nightly-report',
  shape: SCHEDULE_PAGE,
  alsoAbout: () => [anyQueue],
  page: (store, query, within) => store.schedules.list({ ...query, queuePrefix: within ?? undefined }),
})

const { cron, timeZone, body } = SCHEDULE.example

const aboutQueue = (queue: string | undefined) => named('queues', [queue], { pointer: '/queue' })

const { get, put, update, drop } = settingsRoutes({
  noun: 'Schedule',
  path: '/v1/schedules/{schedule}',
  about: () => [anyQueue],
  // REST never parses bodies.
  calls: ({ schedules }) => ({
    get: (name) => schedules.get(name, { bodies: 'text' }),
    put: (name, given: NewScheduleDto, options) => schedules.put(name, given, { ...options, bodies: 'text' }),
    ensure: (name, given) => schedules.ensure(name, given, { bodies: 'text' }),
    update: (name, given: ScheduleChangesDto, options) => schedules.update(name, given, { ...options, bodies: 'text' }),
    drop: (name) => schedules.drop(name),
  }),
  shape: SCHEDULE,
  status: SCHEDULE,
  // A caller that may not see a queue may not see what is scheduled into it.
  isSeen: ({ queue }, within) => queue.startsWith(within),
  get: { summary: 'Read a schedule: what it sends, its last tick and its next' },
  put: {
    summary: 'Create a schedule, or replace it',
    description:
      'While `cron`, `everySeconds` and `timeZone` stay the same, the next tick stays too. Each tick is sent once, however ' +
      'many processes run. If the queue does not exist, the answer is 404 with the code `queue_not_found`.',
    about: () => [],
    body: {
      ...bodyOf(NewScheduleDto, { queue: 'mail', cron, timeZone, body }),
      about: ({ queue }) => aboutQueue(queue),
    },
    creates: 'schedules',
    refusals: ['queue_not_found', 'too_many'],
  },
  update: {
    summary: 'Change some of what a schedule sends, or when',
    description:
      'A field that is left out stays as it is. From `cron` to an interval: `{ "cron": null, "everySeconds": 60 }`. While ' +
      '`cron`, `everySeconds` and `timeZone` stay the same, the next tick stays too.',
    body: { ...bodyOf(ScheduleChangesDto, { cron: '0 3 * * *' }), about: ({ queue }) => aboutQueue(queue) },
    refusals: ['queue_not_found'],
  },
  drop: { summary: 'Drop a schedule', description: 'Messages that it has sent stay.' },
})

export const scheduleRoutes: readonly Route[] = tagged('Schedules', [list, get, put, update, drop])

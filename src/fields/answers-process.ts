/** The answers about what is wrong now, about the process, and about what a caller may do. */

import type { ApiKey } from '../shared/key-types'
import type { Overview, Trouble, TroubleKind } from '../shared/overview-types'
import {
  type AnswerOf,
  answer,
  constant,
  count,
  list,
  type NamedComponent,
  name,
  of,
  optional,
  orNull,
  shown,
  text,
  time,
} from './answers'
import { optional as leftOut, rulesOf } from './field'
import { SCOPES } from './keys'
import { oneOf, PREFIX } from './rules'

/** The worst first. */
export const TROUBLES = [
  ...['dead', 'unreceived', 'schedule', 'unpublished', 'held', 'blocked', 'paused', 'behind', 'late', 'growing'],
] as readonly TroubleKind[]
export const OVERVIEW_RULES = rulesOf({ prefix: leftOut(PREFIX) })

export const TROUBLE: AnswerOf<Trouble> = answer('Trouble', {
  kind: of(
    oneOf(TROUBLES),
    'dead',
    '`dead`: messages died in a queue. `unreceived`: they are ready for a minute, none is in flight, and no process receives. `late`: they are ready ' +
      'for 5 minutes, and a process receives. `growing`: more and more wait, for 10 minutes. `paused`: the queue is paused and has some. `held`: they are in flight for 10 minutes, ' +
      'or their claims ended a minute ago. `blocked`: they wait for their message group for 5 minutes. `unpublished`: entries of a ' +
      'feed wait for a publisher for a minute. `behind`: a consumer has not read changes of 5 minutes ago, or 10,000 of them. ' +
      '`schedule`: it cannot send its tick, or nothing sends it.',
  ),
  name: { ...name('mail'), description: 'Of the queue, the feed or the schedule.' },
  count: count(1512, 'How many messages, entries, changes or ticks.'),
  beganAt: time(
    '2026-11-21T10:00:00.250Z',
    'The first death, or when the oldest of them began to wait or was received.',
  ),
  deadLetterQueue: shown(null, 'For `dead`, the dead-letter queue that has them, if it is another queue.'),
  consumer: orNull(name(), 'For `behind`.'),
  messageGroup: orNull(name(), 'For `blocked`, the message group of the oldest.'),
  error: orNull(text(), 'For `schedule`, why it cannot send.'),
})

export const OVERVIEW: AnswerOf<Overview> = answer('Overview', {
  troubles: list(TROUBLE, [TROUBLE.example], 'Up to 500, the worst first.'),
  total: count(1, 'How many there are.'),
  lookedAt: time('2026-11-21T11:00:00.250Z', 'When the database was asked.'),
})

export const HEALTH: AnswerOf<{ status: 'ok'; warning?: string }> = answer('Health', {
  status: constant('ok'),
  warning: optional(
    text(),
    "Only in `readyz`, and only if this process's writes fail because the database's disk is full.",
  ),
})
export const METRICS: NamedComponent = {
  name: 'Metrics',
  component: { type: 'string', description: 'The text format of Prometheus.' },
  example: '# HELP recentn_database_up Whether the database answered within a second.\n# TYPE …',
}
export const ACCESS: AnswerOf<Pick<ApiKey, 'scopes' | 'prefix'>> = answer('Access', {
  scopes: list(of(oneOf(SCOPES)), ['append', 'read']),
  prefix: orNull(text()),
})

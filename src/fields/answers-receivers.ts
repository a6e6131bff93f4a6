/** The answers about the receivers of a queue. */
import type { ActiveReceiver, BlockedGroup, MessageReceiver, QueueReceivers } from '../shared/queue-types'
import { type AnswerOf, answer, count, id, list, name, of, orNull, text, time, truth } from './answers'
import { MESSAGE_STATES } from './queues'
import { oneOf } from './rules'

const seen = {
  name: text('worker-3:4711', 'Its host and its process id; over HTTP those of the server.'),
  lastSeenAt: time('2026-11-21T11:00:00.250Z', 'When it last reported that it runs, which it does twice a minute.'),
  gone: truth(false, 'Whether it has closed, or has not reported for 90 seconds.'),
}
/** The receiver of a message. */
export const HOLDER = orNull<MessageReceiver>(
  answer('', seen),
  'The process that holds it in flight; null if it is not in flight, or if that is not known.',
)
const activeReceiver: AnswerOf<ActiveReceiver> = answer('', {
  ...seen,
  beganAt: time('2026-11-21T10:00:00.250Z', 'When it began.'),
  inFlight: count(3, 'How many messages it holds.'),
  receivedLastMinute: count(120, 'How many it got in the minute before it was last seen.'),
})
const blocking: AnswerOf<BlockedGroup['waitsFor'][number]> = answer('', {
  id: id('1042'),
  state: of(oneOf(MESSAGE_STATES), 'in-flight'),
  visibleAt: time('2026-11-21T11:01:05.300Z'),
  receiver: HOLDER,
})
const blockedGroup: AnswerOf<BlockedGroup> = answer('', {
  messageGroup: name('tenant-3'),
  blocked: count(14, 'How many messages wait.'),
  beganAt: time('2026-11-21T10:50:00.250Z', 'Since when the oldest of them waits.'),
  waitsFor: list(
    blocking,
    [blocking.example],
    'The messages that have its places. They are searched among the first 5,000 of each state.',
  ),
})
export const QUEUE_RECEIVERS: AnswerOf<QueueReceivers> = answer('QueueReceivers', {
  receivers: list(
    activeReceiver,
    [activeReceiver.example],
    'Those that received in the last two minutes, or hold messages; by name.',
  ),
  unknownInFlight: count(
    0,
    'How many messages are held by others: by a process of an older version, or one that began in the last second.',
  ),
  blockedGroups: list(blockedGroup, [blockedGroup.example], 'The 50 with the most messages that wait.'),
})

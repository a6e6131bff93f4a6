/** Due work in a queue, for looks at one queue and at all of them. */
import { type PollFacts, REMINDED, type Subjects } from '../reminders'
import { GROUP_PHASE } from './heads'
import { STATE } from './rows'

/** States that the claims index has in the order of time. */
export const TIMED = [STATE.inFlight, STATE.delayed] as const

/** SQL of the messages of a queue in such a state, along the index. */
export const timedSql = ({ engine, tables }: Pick<PollFacts, 'engine' | 'tables'>, queueId: string, state: number) =>
  `FROM ${tables.queueMessages}${engine.useIndex(tables.index.messagesClaim)} WHERE queue_id = ${queueId} AND state = ${state}`

/** Costs two lookups in the index, however many messages there are. */
export function dueSql(words: PollFacts, queueId: string): string {
  const due = (state: number) => `(SELECT 1 ${timedSql(words, queueId, state)} AND sort_major <= ${words.now} LIMIT 1)`
  return TIMED.map((state) => `${due(state)} IS NOT NULL`).join(' OR ')
}

/** A queue has work while a message is due, or its `groupConcurrency` is to be applied to the messages that are there. */
export const REMINDED_QUEUES: Subjects = {
  kind: REMINDED.queue,
  table: ({ tables }) => tables.queues,
  hasWork: (words) => `(${dueSql(words, 'subject.id')} OR subject.group_phase <> ${GROUP_PHASE.settled})`,
  page: 3,
}

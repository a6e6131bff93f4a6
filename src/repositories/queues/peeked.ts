/** Rows of messages as `peek` and `message` give them. */
import type { Row } from '../../database/engine'
import { PEEKED_MESSAGE, WHOLE_MESSAGE } from '../../fields/answers-queues'
import type { BodyForm, MessageState, PeekedMessage, WholeMessage } from '../../shared/queue-types'
import { limitOf } from './heads'
import { attributesOf, bodyOf, countOf, timeOf } from './rows'
import { failuresOf } from './settle/failures'

type PeekedRow = [
  row: Row,
  state: MessageState,
  limit: number,
  also: { bodies?: BodyForm; receiver: PeekedMessage['receiver'] },
]

export const peekedOf = (...given: PeekedRow): PeekedMessage => PEEKED_MESSAGE.of(fieldsOf(...given))

export const wholeOf = (...given: PeekedRow): WholeMessage =>
  WHOLE_MESSAGE.of({ ...fieldsOf(...given), failures: failuresOf(given[0].failures) })

/** `limit` is the queue's, as the table has it, for messages without their own. */
function fieldsOf(...[row, state, limit, { bodies, receiver }]: PeekedRow): PeekedMessage {
  return {
    id: BigInt(row.id as string),
    state,
    body: bodyOf(row.body as string, bodies),
    receiveCount: Number(row.receive_count),
    maxReceives: limitOf(row.max_receives === null ? limit : Number(row.max_receives)),
    sentAt: new Date(Number(row.sent_at_ms)),
    visibleAt: new Date(Number(row.visible_at_ms)),
    firstReceivedAt: timeOf(row.first_received_at_ms),
    lastReceivedAt: timeOf(row.last_received_at_ms),
    archivedAt: state === 'archived' ? new Date(Number(row.archived_at_ms)) : null,
    deadAt: timeOf(row.dead_at_ms),
    deadReceiveCount: countOf(row.dead_receive_count),
    deadLetterFrom: (row.dead_letter_from as string | null | undefined) ?? null,
    lastError: row.last_error as string | null,
    messageGroup: row.message_group as string | null,
    key: row.message_key as string | null,
    receiver,
    priority: Number(row.priority),
    attributes: attributesOf(row.attributes as string | null),
  }
}

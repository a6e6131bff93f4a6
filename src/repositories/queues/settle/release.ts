/** Ending the claims of others by the ids of messages: as a nack by their receiver would. */
import type { Reader, Session } from '../../../database/engine'
import { rowsAmong } from '../../chunks'
import { requireHead } from '../heads'
import { MAX_IDS, STATE } from '../rows'
import { QUEUE_OF_IDS, type Receipt } from './receipts'
import type { NackRequest, SettledReceipts } from './settle'

/** Claims that begin in the meantime stay. Resolves to how many it has ended. */
export async function release(
  session: Session,
  run: (request: NackRequest) => Promise<SettledReceipts>,
  queue: string,
  ids: readonly bigint[],
  begunBy?: Date,
): Promise<number> {
  const receipts = await session.read((reader) => heldReceipts(reader, queue, ids, begunBy))
  if (receipts.length === 0) return 0
  const nack = { delayMs: 0, error: 'Its claim was ended by a promote.', dead: false }
  return (await run({ queue, receipts, nack })).size
}

async function heldReceipts(reader: Reader, queue: string, ids: readonly bigint[], begunBy?: Date): Promise<Receipt[]> {
  const { id } = await requireHead(reader, queue)
  const begun = begunBy ? ` AND last_received_at_ms <= ${begunBy.getTime()}` : ''
  const select = `SELECT ${reader.engine.bigint('id')} AS id, receipt FROM ${reader.tables.queueMessages} WHERE id IN`
  const held = (some: string) => `${select} ${some} AND ${QUEUE_OF_IDS} = ? AND state = ${STATE.inFlight}${begun}`
  const rows = await rowsAmong(reader, [...new Set(ids)], MAX_IDS, held, { after: [id] })
  return rows.map((row) => ({ id: BigInt(row.id as string), receipt: row.receipt as string }))
}

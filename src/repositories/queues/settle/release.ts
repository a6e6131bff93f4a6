/** Ending the claims of others by the ids of messages: as a nack by their receiver would. */
import { placeholders, type Reader, type Session } from '../../../database/engine'
import { chunksOf } from '../../chunks'
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
  const receipts: Receipt[] = []
  for (const chunk of chunksOf([...new Set(ids)], MAX_IDS)) {
    const rows = await reader.rows(
      `SELECT ${reader.engine.bigint('id')} AS id, receipt FROM ${reader.tables.queueMessages} ` +
        `WHERE id IN (${placeholders(chunk.length)}) AND ${QUEUE_OF_IDS} = ? AND state = ${STATE.inFlight}${begun}`,
      [...chunk, id],
    )
    for (const row of rows) receipts.push({ id: BigInt(row.id as string), receipt: row.receipt as string })
  }
  return receipts
}

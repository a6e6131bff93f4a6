/**
 * Messages that wait behind one with their key that is gone: a process of a schema without keys has acknowledged it, and does not
 * know of them. Both locks and rows are those of `key-locks.ts`.
 */
import type { Reader, Session, Tx } from '../../../database/engine'
import { groupedBy } from '../../chunks'
import { changePlaces, makeNextReady } from '../groups/places'
import { readHeadById } from '../heads'
import type { QueueMemory } from '../memory'
import { BEHIND, STATE } from '../rows'
import { lockFreeKeys } from './key-locks'
import { KeyTurns } from './key-turns'

const PAGE = 200
const { ready, inFlight, delayed, blocked } = STATE

/** Finds them by the claims index. `which`: SQL of the queues, by their ids. */
export function selectOverdueSql({ engine, tables }: Pick<Reader, 'engine' | 'tables'>, which: string): string {
  const { queues, queueMessages: messages, queueKeys: keys } = tables
  const ahead =
    `SELECT 1 FROM ${keys} JOIN ${messages} ahead ON ahead.id = ahead_id AND ahead.queue_id = ${keys}.queue_id ` +
    `AND ahead.state IN (${ready}, ${inFlight}, ${delayed}) ` +
    `WHERE ${keys}.queue_id = behind.queue_id AND ${keys}.message_key = behind.message_key`
  return (
    `SELECT ${engine.bigint(`${queues}.id`)} AS id, behind.message_key AS message_key FROM ${queues} ` +
    `${engine.joinNext} ${messages} behind${engine.useIndex(tables.index.messagesClaim)} ON behind.queue_id = ${queues}.id ` +
    `AND behind.state = ${blocked} AND behind.sort_major = ${BEHIND.major} AND behind.sort_minor = ${BEHIND.minor} ` +
    `WHERE ${queues}.keyed = 1 AND ${queues}.id ${which} AND NOT EXISTS (${ahead}) LIMIT ${PAGE}`
  )
}

/** Has them handed out. It reads all messages of these queues that wait behind others, so call it seldom. */
export async function releaseOverdue(session: Session, memory: QueueMemory, which: string): Promise<void> {
  const found = await session.read((reader) => reader.rows(selectOverdueSql(reader, which)))
  for (const [id, some] of groupedBy(found, (row) => String(row.id))) {
    const release = async (tx: Tx) => {
      const held = await readHeadById(tx, BigInt(id), tx.engine.forShare)
      if (held === null) return
      const { head, nowMs } = held
      const names = some.map(({ message_key }) => ({ head, key: message_key as string }))
      const turns = new KeyTurns(await lockFreeKeys(tx, names))
      turns.releaseOverdue()
      const given = await changePlaces(tx, turns.moves(nowMs))
      await turns.finish(tx, memory, nowMs, given)
      await makeNextReady(tx, given, memory)
    }
    // A key that another transaction has locked is found again.
    await session.write(release, { arrived: async () => false, retryMs: 0 })
  }
}

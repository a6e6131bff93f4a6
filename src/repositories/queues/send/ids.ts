/**
 * The ids of new messages. The servers return the first id of an INSERT, and the others follow at the step of the session;
 * where that step may change meanwhile, the INSERT returns all.
 */
import type { Engine, StatementAnswer, Tx } from '../../../database/engine'

/** The INSERT of messages, which returns what `idsOf` needs. */
export function returningIds(engine: Engine, sql: string): string {
  return engine.returnsIds ? `${sql} RETURNING ${engine.bigint('id')} AS id` : sql
}

/** The ids of `count` new messages, in the order of the INSERT; `stride` is the step of the session. */
export function idsOf({ engine }: Tx, { insertId, rows }: StatementAnswer, count: number, stride: bigint): bigint[] {
  if (engine.returnsIds) return rows.map(({ id }) => BigInt(id as string))
  const ids: bigint[] = []
  let id = engine.firstId(insertId, count)
  // A loop: this runs for each message.
  for (let index = 0; index < count; index++) {
    ids.push(id)
    id += stride
  }
  return ids
}

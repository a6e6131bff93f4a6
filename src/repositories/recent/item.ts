/**
 * Reading one item: head and item in one statement, by the primary key where the slot follows from the id; a `distinct` or
 * `top` group is searched, because no index has the ids. Whether the window shows it is decided as for a member's page. Takes no
 * lock.
 */
import type { Reader } from '../../database/engine'
import type { Item, PayloadOptions } from '../../shared/group-types'
import { MemberWindows } from './members'
import type { PolicyCache } from './policies'
import { headOf, headText, itemColumns, itemOf, itemRowOf, type ReadFacts } from './rows'

/** Parameters: the id, the group and the id, and the group and the id again. */
export function selectItemSql({ engine, tables, now }: ReadFacts): string {
  const select =
    `SELECT ${headText('g.', now)} AS line, ${itemColumns(engine)} ` +
    `FROM ${tables.groups} g JOIN ${tables.items} i ON i.group_key = g.group_key`
  const where = 'WHERE g.group_key = ? AND i.id = ?'
  return (
    `${select} AND i.slot = ? % g.capacity ${where} AND g.mode = 'history'\nUNION ALL\n` +
    `${select} ${where} AND g.mode <> 'history'`
  )
}

export async function readItem(
  reader: Reader,
  policies: PolicyCache,
  group: string,
  id: bigint,
  { payloads }: PayloadOptions,
): Promise<Item | null> {
  const [row] = await reader.rows(selectItemSql(reader), [id, group, id, group, id])
  if (!row) return null
  const head = headOf(row.line as string)
  const item = itemRowOf(group, row)
  const set = await policies.current(reader, [head.policyEpoch])
  return (await new MemberWindows(reader, item.member).shows(set, head, item)) ? itemOf(item, payloads) : null
}

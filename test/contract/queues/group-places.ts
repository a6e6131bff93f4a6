/** Whether the tables are as `groupConcurrency` promises: read off the rows, not asked of the store. */
import { type Context, eventually } from '../context'

interface GroupRow {
  name: string
  /** As the row of the group says it. */
  taken: number
  /** Messages that are ready, in flight, or wait for their next try. */
  open: number
  blocked: number
  /** The smallest id that is blocked, and the greatest that is ready. */
  firstBlocked: number
}

async function groupsOf(
  { store }: Context,
  queue: string,
): Promise<{ limit: number; phase: number; groups: GroupRow[]; wrong: string[] }> {
  const query = (sql: string, values: unknown[]) => store.dataSource.query(sql, values)
  const [head] = await query(
    'SELECT id, group_concurrency, group_limit_id, group_phase FROM recentn_queues WHERE queue = ?',
    [queue],
  )
  const messages = await query(
    'SELECT id, message_group, state, receive_count, group_place FROM recentn_queue_messages WHERE queue_id = ? AND message_group IS NOT NULL',
    [head.id],
  )
  const rows = await query(
    'SELECT message_group, limit_id, taken FROM recentn_queue_message_groups WHERE queue_id = ?',
    [head.id],
  )
  const groups = new Map<string, GroupRow>()
  const wrong: string[] = []
  const groupOf = (name: unknown) => {
    const known = groups.get(String(name)) ?? {
      name: String(name),
      taken: 0,
      open: 0,
      blocked: 0,
      firstBlocked: Infinity,
    }
    groups.set(known.name, known)
    return known
  }
  for (const row of rows)
    if (Number(row.limit_id) === Number(head.group_limit_id)) groupOf(row.message_group).taken = Number(row.taken)
  for (const { id, message_group: name, state, receive_count: receives, group_place: place } of messages) {
    const group = groupOf(name)
    const isOpen = Number(state) < 2 || (Number(state) === 2 && Number(receives) > 0)
    const hasPlace = Number(place ?? 0) === Number(head.group_limit_id)
    if (Number(head.group_concurrency) > 0 && isOpen !== hasPlace)
      wrong.push(`message ${id} in state ${state} has place ${place}`)
    if (isOpen) group.open++
    if (Number(state) === 4) {
      group.blocked++
      group.firstBlocked = Math.min(group.firstBlocked, Number(id))
    }
  }
  return { limit: Number(head.group_concurrency), phase: Number(head.group_phase), groups: [...groups.values()], wrong }
}

/** The faults of the groups of the queue. */
async function faultsOf(context: Context, queue: string, most: number): Promise<string[]> {
  const { limit, phase, groups, wrong } = await groupsOf(context, queue)
  const faults = phase === 0 ? wrong : [`is in phase ${phase}`]
  for (const { name, taken, open, blocked } of groups) {
    const say = (what: string) => faults.push(`${name} ${what}: ${taken} taken, ${open} open, ${blocked} blocked`)
    if (limit === 0 && (taken > 0 || blocked > 0)) say('is limited')
    if (limit > 0 && taken !== open) say('is counted wrong')
    if (limit > 0 && open > Math.max(limit, most)) say('has too many places')
    if (limit > 0 && blocked > 0 && open < limit) say('is stuck')
  }
  return faults
}

/** `most` are open where the limit was lowered; `withinMs` is for what a sweeper does. */
export async function expectPlaces(
  context: Context,
  queue: string,
  { most = 0, withinMs = 0 }: { most?: number; withinMs?: number } = {},
): Promise<void> {
  const isFine = async () => (await faultsOf(context, queue, most)).length === 0
  if (withinMs > 0) await eventually(withinMs, `places of ${queue}`, isFine)
  expect(await faultsOf(context, queue, most)).toEqual([])
}

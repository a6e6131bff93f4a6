/**
 * Nodes of clusters: how a server says that it is one, what differs there, how a node catches up with the others, and what it
 * answers of itself. Owns the facts of engines that are nodes.
 *
 * Invariant: whether a commit has arrived is asked only of a node that has applied what the cluster had committed before. It
 * may be another one than the node that had the commit, and behind it.
 */
import type { HeldConnection } from '../connection'
import type { Engine, Reader, Row } from '../engine'
import type { Setting } from '../statements'
import { type GroupMember, MEMBERS, outOfGroup, UnfitHost } from './server-hosts'
import { limitUntil } from './statement-limit'

/** Both are the server's own words for being a node: Galera's, and Group Replication's. */
export const CLUSTER_VARIABLES = "SHOW VARIABLES WHERE Variable_name IN ('wsrep_on', 'group_replication_group_name')"

export function asNode(engine: Engine, answer: readonly Row[]): Engine {
  const values = new Map(answer.map(({ Variable_name, Value }) => [Variable_name, Value]))
  if (/^(on|1)$/i.test(String(values.get('wsrep_on')))) return galeraNode(engine)
  if (!values.get('group_replication_group_name')) return engine
  // Group Replication gives every session the step of its beginning, and SKIP LOCKED is safe there.
  return { ...engine, caughtUp: readWith('group_replication_consistency', "'BEFORE'"), members: MEMBERS }
}

/** Galera compares what nodes have changed when they commit. */
function galeraNode(engine: Engine): Engine {
  return {
    ...engine,
    forNext: engine.forUpdate,
    forShareSkipLocked: engine.forShare,
    commitsAlone: false,
    // The step follows the number of nodes, also between two statements of a transaction.
    returnsIds: engine.returning,
    caughtUp: readWith('wsrep_sync_wait', '1'),
  }
}

/** Reads with a setting of the session, which is then as it was. */
function readWith(variable: string, value: string): Engine['caughtUp'] {
  return {
    begin: [`SET @recentn_before = @@SESSION.${variable}`, `SET SESSION ${variable} = ${value}`],
    end: `SET SESSION ${variable} = @recentn_before`,
  }
}

/** Waits until the server has applied what the cluster has committed. This and what runs there next has time until then. */
export async function catchUp(connection: HeldConnection, { engine, tables }: Setting, until?: number): Promise<void> {
  if (until !== undefined && connection.driver) limitUntil(connection.driver, until)
  const query = (sql: string) => connection.rows(sql, [])
  const looked = () => query(`SELECT id FROM ${tables.schema} LIMIT 1`)
  await caughtUp({ query, drop: () => connection.drop() }, engine, looked)
}

/** Runs `work`, each of whose statements waits in a cluster until the server has applied what was committed before. */
export async function caughtUp(
  on: { query(sql: string): Promise<unknown>; drop(): void },
  engine: Engine,
  work: () => Promise<unknown>,
): Promise<void> {
  const { begin, end } = engine.caughtUp ?? { begin: [], end: '' }
  try {
    for (const sql of begin) await on.query(sql)
    await work()
    if (end) await on.query(end)
  } catch (error) {
    // The session may have kept the setting.
    on.drop()
    throw error
  }
}

/** The members of the server's group; none where the account may not read them. */
export async function membersOf(
  engine: Engine,
  query: (sql: string) => Promise<unknown>,
): Promise<readonly GroupMember[]> {
  if (engine.members === '') return []
  try {
    return (await query(engine.members)) as readonly GroupMember[]
  } catch (error) {
    if (!['other', 'no-table'].includes(engine.failure(error))) throw error
    return []
  }
}

/** Resolves when the server answers, and takes part in its group. */
export async function ping({ engine, tables, rows }: Reader): Promise<void> {
  // A node of a Galera cluster without a quorum answers what needs no table.
  await rows(`SELECT version FROM ${tables.schema} WHERE id = 1`)
  const members = await membersOf(engine, rows)
  const reason = outOfGroup(members)
  // A server that has left its group by a command may be used without it.
  if (reason !== null && members.every(({ state }) => state !== 'OFFLINE')) throw new UnfitHost(`This member ${reason}`)
}

/**
 * Nodes of clusters: how a server says that it is one, what differs there, and how a node catches up with the others. Owns the
 * facts of engines that are nodes.
 *
 * Invariant: whether a commit has arrived is asked only of a node that has applied what the cluster had committed before: it
 * may be another one than the node that had the commit, and behind it.
 */
import type { QueryRunner } from 'typeorm'
import type { Engine, Row } from './engine'
import { drop } from './life'
import { numberBy } from './mysql'
import { limitUntil } from './statement-limit'
import type { Setting } from './statements'

/** Both are the server's own words for being a node: Galera's, and Group Replication's. */
export const CLUSTER_VARIABLES = "SHOW VARIABLES WHERE Variable_name IN ('wsrep_on', 'group_replication_group_name')"

/** The engine of a server that has given this answer to `CLUSTER_VARIABLES`. */
export function asNode(engine: Engine, answer: readonly Row[]): Engine {
  const values = new Map(answer.map(({ Variable_name, Value }) => [Variable_name, Value]))
  if (/^(on|1)$/i.test(String(values.get('wsrep_on')))) return galeraNode(engine)
  return values.get('group_replication_group_name') ? groupMember(engine) : engine
}

/** Galera compares what nodes have changed when they commit. */
function galeraNode(engine: Engine): Engine {
  return {
    ...engine,
    forNext: engine.forUpdate,
    numberFree: numberBy(engine.forUpdate),
    forShareSkipLocked: engine.forShare,
    commitsAlone: false,
    packsStatements: false,
    // The step follows the number of nodes, also between two statements of a transaction.
    returnsIds: engine.returning,
    caughtUp: readWith('wsrep_sync_wait', '1'),
  }
}

/** Group Replication gives every session the step of its beginning, and SKIP LOCKED is safe there. */
function groupMember(engine: Engine): Engine {
  return { ...engine, caughtUp: readWith('group_replication_consistency', "'BEFORE'") }
}

/** Reads with a setting of the session, which is then as it was. */
function readWith(variable: string, value: string): Engine['caughtUp'] {
  return (table) => [
    `SET @recentn_before = @@SESSION.${variable}`,
    `SET SESSION ${variable} = ${value}`,
    `SELECT id FROM ${table} LIMIT 1`,
    `SET SESSION ${variable} = @recentn_before`,
  ]
}

/** Waits until the server has applied what the cluster has committed. This and what the runner does next has time until then. */
export async function catchUp(runner: QueryRunner, { engine, tables }: Setting, until?: number): Promise<void> {
  if (until !== undefined) limitUntil(runner, until)
  try {
    for (const sql of engine.caughtUp?.(tables.schema) ?? []) await runner.query(sql)
  } catch (error) {
    // The session may have kept the setting.
    drop(runner)
    throw error
  }
}

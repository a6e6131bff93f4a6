/**
 * The operations on policies: checks the arguments and runs each in a transaction. Owns recentn_policies; every change locks
 * and raises the epoch first.
 */
import type { Reader, Session, Tx } from '../../database/engine'
import { POLICY } from '../../fields/answers-groups'
import { checkedPage, PREFIX_PAGE_RULES } from '../../fields/rules'
import { RecentnError } from '../../shared/errors'
import type { IfTag, Policies, Policy } from '../../shared/group-types'
import { nameRange } from '../name-range'
import { checkTag, settingsTag, warnOfOthers } from '../settings'
import * as check from './check'
import { policyLosses } from './losses'
import type { GroupMemory } from './memory'
import { epochOf, type PolicyRow, policyOf, selectEpoch } from './policies'

const selectAll = ({ tables }: Reader) =>
  `SELECT prefix, capacity, mode, ttl_seconds, forget_empty_seconds FROM ${tables.policies}`

export function policiesOn(session: Session, memory: GroupMemory): Policies {
  const write = <T>(work: (tx: Tx) => Promise<T>): Promise<T> =>
    session.write((tx) => {
      memory.changesPolicies(tx)
      return work(tx)
    })
  const get = (prefix: string) => session.read((reader) => readPolicy(reader, prefix))
  return {
    async get(prefix) {
      check.checkName('prefix', prefix)
      const there = await get(prefix)
      return there && shown(there)
    },
    async put(prefix, settings, options = {}) {
      const policy = check.checkedPolicy(prefix, settings, options)
      return write((tx) => changePolicy(tx, prefix, options, () => policy))
    },
    async update(prefix, changes, options = {}) {
      const given = check.checkedPolicyChanges(prefix, changes, options)
      const changed = await write((tx) =>
        changePolicy(tx, prefix, options, (before) => {
          if (before === null) throw new RecentnError('policy_not_found')
          return { ...before, ...given }
        }),
      )
      return shown(changed)
    },
    async ensure(prefix, settings) {
      const policy = check.checkedPolicy(prefix, settings, {})
      // A plain read takes no lock. In a transaction it may show an old snapshot.
      const there = session.inTransaction ? null : await get(prefix)
      const ensured =
        there === null
          ? await write((tx) => changePolicy(tx, prefix, {}, (before) => before ?? policy))
          : POLICY.of({ ...shown(there), created: false })
      warnOfOthers('policy', prefix, ensured, settings)
      return ensured
    },
    async losses(prefix, settings) {
      if (settings === undefined) check.checkName('prefix', prefix)
      const policy = settings === undefined ? null : check.checkedPolicy(prefix, settings, {})
      return policyLosses(session, memory.policies, prefix, policy)
    },
    async drop(prefix) {
      check.checkName('prefix', prefix)
      return write((tx) => dropPolicy(tx, prefix))
    },
    async list(options = {}) {
      const { limit, after = '', prefix = '', contains } = checkedPage(options, PREFIX_PAGE_RULES)
      const { where, parameters } = nameRange('prefix', after, prefix, contains)
      const rows = await session.read((reader) =>
        reader.rows(`${selectAll(reader)} WHERE ${where} ORDER BY prefix LIMIT ?`, [...parameters, limit + 1]),
      )
      const policies = rows.slice(0, limit).map((row) => shown(policyOf(row)))
      return { policies, nextAfter: rows.length > limit ? (policies.at(-1)?.prefix ?? null) : null }
    },
  }
}

function shown({ prefix, capacity, mode, ttlSeconds, forgetEmptySeconds }: PolicyRow): Policy {
  const settings = { capacity, mode, ttlSeconds, forgetEmptySeconds }
  return POLICY.of({ prefix, ...settings, tag: settingsTag(Object.values(settings)) })
}

async function readPolicy(reader: Reader, prefix: string, lock = ''): Promise<PolicyRow | null> {
  const [row] = await reader.rows(`${selectAll(reader)} WHERE prefix = ?${lock}`, [prefix])
  return row ? policyOf(row) : null
}

async function raiseEpoch(tx: Tx): Promise<void> {
  await tx.later(`UPDATE ${tx.tables.policyEpoch} SET epoch = epoch + 1 WHERE id = 1`)
}

/** Stores what `change` makes of the policy, unless that is the policy as it is. */
async function changePolicy(
  tx: Tx,
  prefix: string,
  options: IfTag,
  change: (before: PolicyRow | null) => PolicyRow,
): Promise<Policy & { created: boolean }> {
  await raiseEpoch(tx)
  const before = await readPolicy(tx, prefix, tx.engine.forUpdate)
  const policy = change(before)
  checkTag(options, before && shown(before).tag)
  if (policy !== before) {
    const columns = ['prefix', 'capacity', 'mode', 'ttl_seconds', 'forget_empty_seconds']
    const row = [prefix, policy.capacity, policy.mode, policy.ttlSeconds, policy.forgetEmptySeconds]
    const upsert = tx.engine.upsert(tx.tables.policies, 'prefix', columns, columns.slice(1), [row])
    await tx.later(upsert.sql, upsert.parameters)
    await beginRollout(tx, prefix)
  }
  return POLICY.of({ ...shown(policy), created: before === null })
}

/** False when there was none. */
async function dropPolicy(tx: Tx, prefix: string): Promise<boolean> {
  await raiseEpoch(tx)
  const deleted = await tx.run(`DELETE FROM ${tx.tables.policies} WHERE prefix = ?`, [prefix])
  if (deleted > 0) await beginRollout(tx, prefix)
  return deleted > 0
}

/** The sweeper will update the expiry of this prefix's groups, also of those that no process writes to any more. */
async function beginRollout(tx: Tx, prefix: string): Promise<void> {
  const [row] = await tx.rows(`${selectEpoch(tx)}${tx.engine.forUpdate}`)
  const columns = ['prefix', 'epoch', 'after_key']
  const upsert = tx.engine.upsert(tx.tables.policyRollouts, 'prefix', columns, columns.slice(1), [
    [prefix, epochOf(row?.epoch, tx.tables), ''],
  ])
  await tx.later(upsert.sql, upsert.parameters)
}

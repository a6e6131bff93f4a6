/**
 * Telling the groups of a changed policy when their items expire, some hundred at a time, so that the sweeper finds them.
 *
 * Invariant: a rollout stays until each group whose name begins with its prefix was told, by its policies or newer ones,
 * or has a rollout of its own, whose prefix is the whole name. That is what a group gets that another transaction has
 * locked: nobody is waited for, and the others of the prefix are told meanwhile. Heads are locked first, the rollout's
 * row last, in the same transaction. Any number of processes may do it at once: who is told twice is told the same.
 */
import type { Session, Tx } from '../../database/engine'
import { nameRange } from '../name-range'
import { saveUnpublished, selectHeads } from './heads'
import type { PolicyCache } from './policies'
import { setExpiry } from './reslot'
import type { Head } from './rows'

const GROUPS_AT_ONCE = 200
const ROLLOUTS_A_ROUND = 20
const MAX_ROLLOUTS = 1000

interface Rollout {
  prefix: string
  epoch: bigint
  /** The last name that is done; '' before the first. */
  after: string
}

/** Takes some rollouts a step further; true when another round at once would get further. */
export async function rollOut(session: Session, policies: PolicyCache): Promise<boolean> {
  const rows = await session.read((reader) =>
    reader.rows(
      `SELECT prefix, ${reader.engine.bigint('epoch')} AS epoch, after_key FROM ${reader.tables.policyRollouts} LIMIT ${MAX_ROLLOUTS}`,
    ),
  )
  // From any place on: what stands still for a lock, or fails, must not keep the others waiting for ever.
  const from = Math.floor(Math.random() * rows.length)
  const turn = [...rows.slice(from), ...rows.slice(0, from)].slice(0, ROLLOUTS_A_ROUND)
  let isMoving = false
  for (const row of turn) {
    const rollout = {
      prefix: row.prefix as string,
      epoch: BigInt(row.epoch as string),
      after: row.after_key as string,
    }
    if (await step(session, policies, rollout)) isMoving = true
  }
  return isMoving
}

/** Tells the next groups of a rollout; false when it stands where it was. */
async function step(session: Session, policies: PolicyCache, rollout: Rollout): Promise<boolean> {
  const { where, parameters } = nameRange('group_key', rollout.after, rollout.prefix)
  const rows = await session.read((reader) =>
    reader.rows(`SELECT group_key FROM ${reader.tables.groups} WHERE ${where} ORDER BY group_key LIMIT ?`, [
      ...parameters,
      GROUPS_AT_ONCE,
    ]),
  )
  const groups = rows.map(({ group_key }) => group_key as string)
  return session.write(async (tx) => {
    const locked = await tell(tx, policies, groups, rollout.epoch)
    // The group that is named as the prefix can have no rollout beside this one.
    const isOwn = (group: string) => group === rollout.prefix
    await beginAgain(
      tx,
      locked.filter((group) => !isOwn(group)),
      rollout.epoch,
    )
    if (locked.some(isOwn)) return false
    await goOn(tx, rollout, groups.length < GROUPS_AT_ONCE ? null : (groups.at(-1) as string))
    return true
  })
}

/** Resolves to those of the groups that another transaction has locked: they were not told. */
async function tell(tx: Tx, policies: PolicyCache, groups: readonly string[], epoch: bigint): Promise<string[]> {
  const heads = await selectHeads(tx, groups, tx.engine.forUpdateSkipLocked)
  const set = await policies.current(tx, [epoch, ...[...heads.values()].map(({ policyEpoch }) => policyEpoch)])
  const changed: Head[] = []
  for (const head of heads.values()) {
    const { ttlSeconds } = set.settingsOf(head.group, head.own)
    if (ttlSeconds === head.ttlSeconds) continue
    await setExpiry(tx, head, ttlSeconds)
    head.version += 1n
    changed.push(head)
  }
  await saveUnpublished(tx, changed)
  const missing = groups.filter((group) => !heads.has(group))
  return missing.length === 0 ? [] : [...(await selectHeads(tx, missing, '')).keys()]
}

/** Begins a rollout for each name, or begins it again; one of newer policies stays one of these. */
async function beginAgain(tx: Tx, names: readonly string[], epoch: bigint): Promise<void> {
  if (names.length === 0) return
  const { sql, parameters } = tx.engine.values(names.map((name) => [name, epoch, '']))
  const proposed = tx.engine.proposed('epoch')
  await tx.run(
    `INSERT INTO ${tx.tables.policyRollouts} (prefix, epoch, after_key) VALUES ${sql} ${tx.engine.onDuplicate('prefix')} ` +
      `epoch = CASE WHEN epoch < ${proposed} THEN ${proposed} ELSE epoch END, after_key = ''`,
    parameters,
  )
}

/** Unless the policy was changed again meanwhile, and the rollout begun again. */
async function goOn(tx: Tx, { prefix, epoch }: Rollout, after: string | null): Promise<void> {
  const which = 'WHERE prefix = ? AND epoch = ?'
  if (after === null) await tx.run(`DELETE FROM ${tx.tables.policyRollouts} ${which}`, [prefix, epoch])
  else await tx.run(`UPDATE ${tx.tables.policyRollouts} SET after_key = ? ${which}`, [after, prefix, epoch])
}

/**
 * The row of a poll in `recentn_polls`: its number, under which claims are kept, and its purpose. Two polls with one name and
 * different purposes would take each other's claims and pass over each other's rows: the second one is refused.
 *
 * Invariant: a purpose is written once, by the first poller with the name, under the lock of the row. How a row is marked
 * in the end, how often it is tried and which rows `where` leaves are not part of it: a poller may change these and continue.
 */
import { createHash } from 'node:crypto'
import type { Reader, Session, Tx } from '../../database/engine'
import { invalidInput } from '../../shared/errors'
import type { Shape } from './shape'

interface Registered {
  pollId: bigint
  /** Rows that were done under another `where` are remembered. */
  hasNewWhere: boolean
}

interface Purpose {
  purpose: string | null
  whereDigest: string | null
}

interface KnownPurpose extends Purpose {
  pollId: bigint
}

/** Throws `invalid_input` if the name belongs to another purpose. */
export async function register(session: Session, name: string, shape: Shape): Promise<Registered> {
  const wanted = purposeOf(shape)
  const known = await session.read((reader) => find(reader, name))
  const settled = known && isSettled(known, wanted) ? known : await session.write((tx) => settle(tx, name, wanted))
  if (wanted.purpose !== null && settled.purpose !== null && settled.purpose !== wanted.purpose) {
    throw otherPurpose(session, name, settled.purpose, wanted.purpose)
  }
  const isChanged = settled.whereDigest !== null && settled.whereDigest !== wanted.whereDigest
  return { pollId: settled.pollId, hasNewWhere: wanted.whereDigest !== null && isChanged }
}

/** Nothing has to be written: the purpose is as it should be, or the poll is refused. */
function isSettled(known: Purpose, wanted: Purpose): boolean {
  if (wanted.purpose === null) return true
  return known.purpose !== null && (known.purpose !== wanted.purpose || known.whereDigest === wanted.whereDigest)
}

async function find(reader: Reader, name: string, lock = ''): Promise<KnownPurpose | null> {
  const [row] = await reader.rows(
    `SELECT ${reader.engine.bigint('id')} AS poll_id, purpose, where_digest FROM ${reader.tables.polls} WHERE poll = ?${lock}`,
    [name],
  )
  if (!row) return null
  const [purpose, whereDigest] = [row.purpose as string | null, row.where_digest as string | null]
  return { pollId: BigInt(row.poll_id as string), purpose, whereDigest }
}

async function settle(tx: Tx, name: string, wanted: Purpose): Promise<KnownPurpose> {
  await tx.later(
    `INSERT INTO ${tx.tables.polls} (poll, created_at_ms) VALUES (?, ${tx.now}) ${tx.engine.onDuplicate('poll')} poll = ${tx.engine.proposed('poll')}`,
    [name],
  )
  const known = (await find(tx, name, tx.engine.forUpdate)) as KnownPurpose
  if (!isSettled(known, wanted)) {
    const { purpose, whereDigest } = wanted
    await tx.later(`UPDATE ${tx.tables.polls} SET purpose = ?, where_digest = ? WHERE id = ${known.pollId}`, [
      purpose,
      whereDigest,
    ])
  }
  return known
}

/** Empty when the user's row notes everything itself, but for the place of a cycle. */
function purposeOf({ table, identity, status, own, sequence, cycle, onDone, where }: Shape): Purpose {
  if (own && !cycle) return { purpose: null, whereDigest: null }
  const digest = createHash('sha256')
    .update(JSON.stringify([where?.sql ?? '', (where?.parameters ?? []).map(String)]))
    .digest('hex')
  const purpose = {
    table: table.fullName,
    key: identity.key,
    ...(status
      ? { status: status.column.replace(/["`]/g, ''), ready: status.ready, claimed: status.claimed }
      : { onDone, sequence: sequence?.name ?? null }),
    // Rows that a cursor has passed under one condition are not looked at under another.
    ...(sequence ? { where: digest } : {}),
    ...(cycle ? { cycle: cycle.name, claim: own?.claim.replace(/["`]/g, '') } : {}),
  }
  return { purpose: JSON.stringify(purpose), whereDigest: status || own ? null : digest }
}

/** A cursor means a place in one column of one table. */
function hasOtherCursor(has: string, wanted: string): boolean {
  const placed = ({ table, sequence, cycle }: { table: string; sequence?: string | null; cycle?: string }) =>
    sequence || cycle ? JSON.stringify([table, sequence, cycle]) : null
  const [before, now] = [has, wanted].map((text) => placed(JSON.parse(text)))
  return before !== null && before !== now
}

function otherPurpose({ tables }: Session, name: string, has: string, wanted: string): Error {
  const isReset = hasOtherCursor(has, wanted)
  const sets = isReset ? 'purpose = NULL, cursor_value = NULL' : 'purpose = NULL'
  const detail =
    `the poll ${name} is there for another purpose, ${has}, and this one would be ${wanted}: they would share claims and ` +
    'remembered rows. Give this one its own name; or, if it is the same poller and was changed, and the consequences ' +
    `are understood${isReset ? ' (rows that its cursor has passed are handled again)' : ''}, let it continue: ` +
    `UPDATE ${tables.polls} SET ${sets} WHERE poll = '${name.replaceAll("'", "''")}'`
  return invalidInput([{ pointer: '/name', detail }])
}

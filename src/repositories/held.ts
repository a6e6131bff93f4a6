/** Which rows other transactions hold. Group commit asks, to set aside only the calls that need them. */
import type { Engine, Reader, Row, Statement } from '../database/engine'

/** For the next statement alone: what others have not committed is seen. */
const READ_UNCOMMITTED = 'SET TRANSACTION ISOLATION LEVEL READ UNCOMMITTED'

/**
 * The names of the rows of this SELECT that another transaction has locked, also rows that it has inserted or deleted and not
 * committed. It waits for none. `skipping`: how the call would lock them, without those that are locked.
 */
export async function heldElsewhere(
  { engine, rows }: Reader,
  { sql, parameters }: Statement,
  nameOf: (row: Row) => string,
  skipping = engine.forUpdateSkipLocked,
): Promise<Set<string>> {
  const held = new Set<string>()
  // SQLite has one lock, which is not the lock of a row.
  if (skipping === '') return held
  for (const row of await rows(sql, parameters)) held.add(nameOf(row))
  await rows(READ_UNCOMMITTED)
  for (const row of await rows(sql, parameters)) held.add(nameOf(row))
  if (held.size === 0) return held
  for (const row of await rows(`${sql}${skipping}`, parameters)) held.delete(nameOf(row))
  return held
}

/** The shared lock, without rows that are locked for update. Where that would wait (a Galera node), it takes the other one. */
export function skippingShared({ forShare, forShareSkipLocked, forUpdateSkipLocked }: Engine): string {
  return forShareSkipLocked === forShare ? forUpdateSkipLocked : forShareSkipLocked
}

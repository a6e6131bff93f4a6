/**
 * Rows that the table does not let be claimed: a trigger or a CHECK refuses the mark, or a column for attempts is full.
 * They are found by halving the claim that was refused, and are passed over by this process for as long as a claim
 * holds, so that they keep no other row waiting.
 */
import type { Engine, Statement } from '../../database/engine'
import { RecentnError } from '../../errors'
import type { RowRef } from './identity'
import type { Plan } from './plan'

/** How many are passed over at once; with more of them it is not the rows. */
const MOST = 100

/** Thrown inside a claim, so that nothing of it is left. */
export class RefusedClaim extends RecentnError {
  readonly refs: readonly RowRef[]

  constructor({ table }: Plan, refs: readonly RowRef[], cause: unknown) {
    const why = cause instanceof Error ? cause.message : String(cause)
    super('database_refused', `The table ${table.name} does not let this row be claimed: ${why}`, { cause })
    this.refs = refs
  }
}

/** Whether the error is about these rows, and not about the server or its settings. */
export function isRefusal(engine: Engine, error: unknown): boolean {
  return !(error instanceof RecentnError) && engine.failure(error) === 'other' && engine.refusal(error) === undefined
}

export class PassedOver {
  readonly #rows = new Map<string, { ref: RowRef; until: number }>()

  /** False: there are too many. */
  add(ref: RowRef, ms: number): boolean {
    if (this.#rows.size >= MOST) return false
    this.#rows.set(ref.rowKey, { ref, until: performance.now() + ms })
    return true
  }

  /** SQL that leaves them out; null where there are none. */
  except({ identity }: Plan): Statement | null {
    for (const [rowKey, { until }] of this.#rows) if (until <= performance.now()) this.#rows.delete(rowKey)
    const refs = [...this.#rows.values()].map(({ ref }) => ref)
    if (refs.length === 0) return null
    const parts = identity.isKey ? [identity.any(refs)] : refs.map((ref) => identity.any([ref]))
    return {
      sql: parts.map(({ sql }) => `NOT (${sql})`).join(' AND '),
      parameters: parts.flatMap(({ parameters }) => parameters),
    }
  }
}

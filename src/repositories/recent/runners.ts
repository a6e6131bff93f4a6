/**
 * What a store shares among the callers of its groups, and how its group commit runs appends. The locks are
 * those of the operations: each head that a batch of appends writes.
 */
import type { Reader, Tx } from '../../database/engine'
import { type AppendRun, appendBatch } from './append'
import { lockedGroups } from './heads'
import type { GroupMemory } from './memory'
import type { ReadCall } from './page'
import type { QuickOutcome } from './quick-read'
import type { NewItemRow } from './ring'
import type { Appended } from './rows'

/** Gets what was appended. What `resolve` throws, `reject` gets. */
export interface AppendCaller {
  resolve(appended: readonly Appended[]): void
  reject(error: unknown): void
}

/** Runs what many callers ask for at the same time together. A store's kit has such mechanisms. */
export interface GroupRunners {
  appends: {
    /** Commits the rows of one request, all or nothing; requests for groups of one name keep their order. */
    hand(group: string, rows: readonly NewItemRow[], size: { items: number; bytes: number }, caller: AppendCaller): void
  }
  reads: { add(kind: string, call: ReadCall, size: number): Promise<QuickOutcome> }
  /** Runs work that may take long when it is its turn. */
  longReads: { add(kind: string, work: () => Promise<unknown>, size: number): Promise<unknown> }
}

/** The appends of a store as group commit runs them. */
export function appendsOf(memory: GroupMemory) {
  return {
    run(tx: Tx, requests: readonly (readonly NewItemRow[])[], writing: AppendRun) {
      memory.appendsTo(tx, groupsIn(requests))
      return appendBatch(tx, memory, requests, writing)
    },
    async heldLocks(reader: Reader, requests: readonly (readonly NewItemRow[])[]): Promise<(string | null)[]> {
      const held = await lockedGroups(reader, new Set(groupsIn(requests)))
      return requests.map((rows) => rows.find(({ group }) => held.has(group))?.group ?? null)
    },
  }
}

function* groupsIn(requests: readonly (readonly NewItemRow[])[]): Generator<string> {
  for (const rows of requests) for (const { group } of rows) yield group
}

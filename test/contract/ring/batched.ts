/** Shared by the suites of batched appends: callers at the same time, and the traces of batches. */
import type { DataSource } from 'typeorm'
import { RecentnError, type Store } from '../../../src/index'

export const times = <T>(count: number, make: (n: number) => T): T[] => Array.from({ length: count }, (_, n) => make(n))

/** The marks of batches: the number of the last batch by writer. */
export async function writersOf(source: DataSource): Promise<Map<string, number>> {
  const rows: { writer: string; batch: unknown }[] = await source.query('SELECT writer, batch FROM recentn_writers')
  return new Map(rows.map(({ writer, batch }) => [writer, Number(batch)]))
}

/** How many batches `store` has run, and the names of its writers; `before` is what was there when it was opened. */
export async function batchesOf(store: Store, before: ReadonlyMap<string, number>) {
  const mine = [...(await writersOf(store.dataSource))].filter(([writer]) => !before.has(writer))
  return { batches: mine.reduce((sum, [, batch]) => sum + batch, 0), writers: mine.map(([writer]) => writer) }
}

/** The results of calls that were begun at the same time: the answers, and the errors of those that were refused. */
export async function outcomesOf<T>(calls: readonly Promise<T>[]): Promise<(T | RecentnError)[]> {
  const settled = await Promise.allSettled(calls)
  return settled.map((outcome) => {
    if (outcome.status === 'fulfilled') return outcome.value
    if (outcome.reason instanceof RecentnError) return outcome.reason
    throw outcome.reason
  })
}

export function answersOf<T>(outcomes: readonly (T | RecentnError)[]): T[] {
  return outcomes.filter((outcome): outcome is T => !(outcome instanceof RecentnError))
}

export function refusalsOf(outcomes: readonly unknown[]): RecentnError[] {
  return outcomes.filter((outcome): outcome is RecentnError => outcome instanceof RecentnError)
}

/** Sorted by id, lowest first. */
export function byId<T extends { id: bigint }>(items: readonly T[]): T[] {
  return [...items].sort((a, b) => (a.id < b.id ? -1 : a.id > b.id ? 1 : 0))
}

/** `count` bigints from `from` upwards. */
export const up = (from: bigint | number, count: number): bigint[] => times(count, (n) => BigInt(from) + BigInt(n))

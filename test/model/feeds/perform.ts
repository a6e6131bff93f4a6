/** A write of the model on a store, or inside a transaction: what it answers, in the form the oracle has. */
import type { EntityManager } from 'typeorm'
import { RecentnError } from '../../../src/index'
import type { Sequences } from '../../../src/repositories/sequences'
import type { Feeds, NewEntry, RepublishSelection } from '../../../src/shared/feed-types'
import { type FeedName, KEYS, type Write } from './operations'
import { liveIn, type World } from './oracle'

/** A store, or a transaction. */
export interface Target {
  feeds: Feeds
  sequences: Sequences
  manager: EntityManager
}

/** Names of a run begin with a unique prefix, so that runs share a database without meeting. */
export interface Names {
  feed(feed: FeedName): string
  /** The number of a sequence. */
  own(name: string): string
}

export const TABLE = 'feed_model_kv'

export function namesOf(run: string): Names {
  return { feed: (feed) => `${run}:${feed}`, own: (name) => `${run}:${name}` }
}

/** The code of the error in place of an answer. */
export async function codeOr<T>(call: Promise<T>): Promise<T | string> {
  return call.catch((error: unknown) => {
    if (error instanceof RecentnError && ['invalid_input', 'feed_not_found', 'cursor_expired'].includes(error.code)) {
      return error.code
    }
    throw error
  })
}

export async function perform(
  { feeds, sequences, manager }: Target,
  names: Names,
  write: Write,
  value: unknown,
): Promise<unknown> {
  switch (write.kind) {
    case 'put':
      return (await feeds.put(names.feed(write.feed), write.key, value)).version
    case 'putMany': {
      const entries = write.keys.map((key, nth) => ({ key, value: `${value}.${nth}` }))
      const answer = await feeds.putMany(names.feed(write.feed), entries)
      expect(answer.entries.map(({ key }) => key)).toEqual(write.keys)
      return answer.entries.map(({ version }) => version)
    }
    case 'delete':
      return (await feeds.delete(names.feed(write.feed), write.key))?.version ?? null
    case 'republish':
      return republished(feeds, names.feed(write.feed), { keys: write.keys })
    case 'republishPrefix':
      return republished(feeds, names.feed(write.feed), { prefix: write.prefix })
    case 'row':
      return putRow(manager, write.key, value)
    case 'removeRow': {
      const remove = () => manager.query(`DELETE FROM ${TABLE} WHERE k = ?`, [write.key])
      if (!write.isToldFirst) await remove()
      const tombstone = await feeds.delete(names.feed('kv'), write.key)
      if (write.isToldFirst) await remove()
      return tombstone?.version ?? null
    }
    case 'next':
      return sequences.next(names.own(write.name), write.count)
    case 'drop':
      return feeds.drop(names.feed(write.feed))
    case 'refused':
      return codeOr(refused(feeds, names, write))
  }
}

async function republished(feeds: Feeds, feed: string, selection: RepublishSelection): Promise<number | string> {
  const answer = await codeOr(feeds.republish(feed, selection))
  return typeof answer === 'string' ? answer : answer.republished
}

/** As the documentation says: the column is set to null with each change. */
async function putRow(manager: EntityManager, key: string, value: unknown): Promise<null> {
  const there = await manager.query(`SELECT k FROM ${TABLE} WHERE k = ?`, [key])
  const sql =
    there.length > 0
      ? `UPDATE ${TABLE} SET v = ?, sync = NULL WHERE k = ?`
      : `INSERT INTO ${TABLE} (v, k, sync) VALUES (?, ?, NULL)`
  await manager.query(sql, [value, key])
  return null
}

function refused(feeds: Feeds, names: Names, { what, key, at }: Extract<Write, { kind: 'refused' }>): Promise<unknown> {
  const a = names.feed('a')
  const many = (bad: unknown) => {
    const entries: unknown[] = ['k', 'k1', 'l', 'l'].map((one) => ({ key: one, value: 'never' }))
    entries[at] = bad
    return feeds.putMany(a, entries as NewEntry[])
  }
  switch (what) {
    case 'key of many':
      return many({ key: '', value: 'never' })
    case 'value of many':
      return many({ key, value: undefined })
    case 'field of many':
      return many({ key, value: 'never', version: 1 })
    case 'too many':
      return feeds.putMany(
        a,
        Array.from({ length: 1001 }, (_, n) => ({ key: `${key}${n}`, value: 'never' })),
      )
    case 'republished key':
      return feeds.republish(a, { keys: [key, '..'] })
    case 'both':
      return feeds.republish(a, { keys: [key], prefix: '' })
    case 'no value':
      return feeds.put(a, key, undefined as unknown)
    case 'put in rows':
      return feeds.put(names.feed('kv'), key, 'never')
    case 'drop of rows':
      return feeds.drop(names.feed('kv'))
    case 'beyond the last':
      return feeds.moveCursor(a, 'other', 2n ** 62n, { force: at % 2 === 0 })
  }
  throw new Error(`nothing is known of ${what}`)
}

/**
 * The locks of a write until its transaction has ended, at most: others that want it wait. `feed/key` is an entry,
 * `feed.row/key` a row of the table, `feed/` a feed as a whole.
 */
export function locksOf(write: Write): string[] {
  const locks = (feed: FeedName, keys: readonly string[]) =>
    keys.flatMap((key) => [`${feed}/${key}`, `${feed}.row/${key}`])
  switch (write.kind) {
    case 'put':
    case 'delete':
      return [`${write.feed}/${write.key}`]
    case 'putMany':
      return write.keys.map((key) => `${write.feed}/${key}`)
    case 'republish':
      return [...locks(write.feed, write.keys), ...(write.feed === 'kv' ? ['the table'] : [])]
    case 'republishPrefix': {
      const keys = KEYS.filter((key) => key.startsWith(write.prefix))
      // Whatever its keys are, it waits for the transaction that begins the feed.
      return [`${write.feed}/shared`, ...locks(write.feed, keys), ...(write.feed === 'kv' ? ['the table'] : [])]
    }
    // A unique index of the user's has its neighbours locked too, where a row was deleted; and a small table is read whole.
    case 'row':
      return [`kv.row/${write.key}`, 'the table']
    case 'removeRow':
      return [...locks('kv', [write.key]), 'the table']
    case 'next':
      return [`sequence/${write.name}`]
    case 'drop':
      return [`${write.feed}/`]
    case 'refused':
      return write.what === 'beyond the last' ? ['a/consumer'] : []
  }
}

/** The same, of a write that finds nothing to change and so holds nothing. */
export function isIdle(write: Write, { feeds }: World): boolean {
  return write.kind === 'delete' && write.feed !== 'kv' && !liveIn(feeds[write.feed]).has(write.key)
}

export function areInTheWay(mine: readonly string[], held: readonly string[]): boolean {
  const isShared = (lock: string) => lock.endsWith('/shared')
  const isOf = (lock: string, whole: string) => whole.endsWith('/') && lock.startsWith(whole)
  return mine.some((one) =>
    held.some((other) => (one === other && !isShared(one)) || isOf(one, other) || isOf(other, one)),
  )
}

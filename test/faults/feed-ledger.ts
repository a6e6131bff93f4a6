/**
 * The lines of the processes of the feeds' fire, and those that can't be. All writers append to one file, each consumer,
 * however often it was started, to its own one. A stamp says which value it was, `-` that the entry was deleted.
 * - `ack <key> <version> <stamp>`: a write was acknowledged, after its commit
 * - `took <phase> <ms>`: how long a put took
 * - `start <cursor>`: a consumer's process begins at its stored cursor
 * - `seen <sync id> <key> <version> <stamp>`: a consumer was given this change
 * - `saved <cursor>`: its cursor is stored
 * - `fault <who> <code> <text>`
 *
 * Stamps that begin with `never` are those of transactions that were rolled back.
 */
import { linesOf } from './ledger-lines'

export interface Seen {
  syncId: bigint
  key: string
  version: number
  stamp: string
}

/** The content of the database at the end. */
export type Truth = Map<string, Seen>

export interface Writes {
  acks: Seen[]
  took: Map<string, number[]>
  faults: string[]
}

export function readWrites(file: string): Writes {
  const writes: Writes = { acks: [], took: new Map(), faults: [] }
  for (const [word, ...rest] of linesOf(file)) {
    const [first = '', second = '', third = ''] = rest
    if (word === 'ack') writes.acks.push({ syncId: 0n, key: first, version: Number(second), stamp: third })
    else if (word === 'fault') writes.faults.push(rest.join(' '))
    else {
      const samples = writes.took.get(first) ?? []
      samples.push(Number(second))
      writes.took.set(first, samples)
    }
  }
  return writes
}

export interface Consumed {
  seen: Seen[]
  starts: number
  faults: string[]
}

/** A consumer's file, and what in the order of its lines is wrong. */
export function readConsumed(file: string): Consumed {
  const consumed: Consumed = { seen: [], starts: 0, faults: [] }
  let saved = 0n
  let last = 0n
  let greatest = 0n
  for (const [word, first = '', key = '', version = '', stamp = ''] of linesOf(file)) {
    const say = (what: string) => consumed.faults.push(`${what}: ${word} ${first} ${key} after ${last}, saved ${saved}`)
    if (word === 'fault') {
      consumed.faults.push([first, key, version, stamp].join(' '))
      continue
    }
    const number = BigInt(first)
    if (word === 'start') {
      consumed.starts++
      if (number < saved) say('the stored cursor has gone back')
      if (number > greatest) say('the stored cursor is beyond what was seen')
      last = number
    } else if (word === 'saved') {
      if (number !== last) say('the saved cursor is not the last sync id')
      saved = number
    } else {
      if (number <= last) say('the sync ids do not grow')
      last = number
      if (number > greatest) greatest = number
      consumed.seen.push({ syncId: number, key, version: Number(version), stamp })
    }
  }
  return consumed
}

/** Whether a consumer that keeps the last change of each key has what the database has. */
export function lossesOf(seen: readonly Seen[], truth: Truth): string[] {
  const latest = new Map<string, Seen>()
  for (const change of seen) {
    if (change.syncId >= (latest.get(change.key)?.syncId ?? 0n)) latest.set(change.key, change)
  }
  const foreign = [...latest.keys()].filter((key) => !truth.has(key)).map((key) => `${key} is not in the database`)
  const wrong = [...truth].flatMap(([key, due]) => {
    const has = latest.get(key)
    const right = has && has.syncId === due.syncId && has.version === due.version && has.stamp === due.stamp
    return right ? [] : [`${key}: ${textOf(has)} in place of ${textOf(due)}`]
  })
  return [...foreign, ...wrong]
}

/** The changes that consumers saw, all together: of no sync id two things, of no key an older version under a greater sync id. */
export function contradictionsIn(all: readonly Seen[]): string[] {
  const faults: string[] = []
  const byId = new Map<bigint, Seen>()
  for (const one of all) {
    const other = byId.get(one.syncId)
    if (other === undefined) byId.set(one.syncId, one)
    else if (textOf(other) !== textOf(one)) faults.push(`two things: ${textOf(other)} and ${textOf(one)}`)
    if (one.stamp.startsWith('never')) faults.push(`was rolled back: ${textOf(one)}`)
  }
  const versions = new Map<string, Seen>()
  for (const one of [...byId.values()].sort((a, b) => (a.syncId < b.syncId ? -1 : 1))) {
    const before = versions.get(one.key)
    if (before && before.version > one.version) faults.push(`went back: ${textOf(before)}, ${textOf(one)}`)
    if (before?.version === one.version && before.stamp !== one.stamp) {
      faults.push(`one version, two values: ${textOf(before)}, ${textOf(one)}`)
    }
    versions.set(one.key, one)
  }
  return faults
}

/** No two writes have one version of a key, none of them is lost, and what was seen is what was written. */
export function lostWrites({ acks }: Writes, all: readonly Seen[], truth: Truth): string[] {
  const faults: string[] = []
  const written = new Map<string, Seen>()
  for (const ack of acks) {
    const name = `${ack.key} ${ack.version}`
    const other = written.get(name)
    if (other) faults.push(`two writes have one version: ${textOf(other)}, ${textOf(ack)}`)
    written.set(name, ack)
    const { version = 0 } = truth.get(ack.key) ?? {}
    if (version < ack.version) faults.push(`lost: ${textOf(ack)}, the database is at ${version}`)
  }
  for (const one of [...truth.values(), ...all]) {
    const ack = written.get(`${one.key} ${one.version}`)
    if (ack && ack.stamp !== one.stamp) faults.push(`written was ${textOf(ack)}, there is ${textOf(one)}`)
  }
  return faults
}

function textOf(one: Seen | undefined): string {
  return one === undefined ? 'nothing' : `${one.syncId} ${one.key} v${one.version} ${one.stamp}`
}

/** p50, p99 and the longest, in milliseconds. */
export function waitsOf(samples: readonly number[]): string {
  const sorted = [...samples].sort((a, b) => a - b)
  const at = (share: number) => (sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0).toFixed(1)
  return `p50 ${at(0.5)}, p99 ${at(0.99)}, max ${at(1)} ms of ${sorted.length} puts`
}

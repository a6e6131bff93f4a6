/** The mistakes of a load under faults, by its ledger and by the database at the end. */
import type { Store } from '../../src'
import { ALLOWED, type Handled, type LoadLedger } from './load-ledger'

/** Events that must not occur, with the first of each. */
export interface Verdict {
  lost: string[]
  twice: string[]
  gaps: string[]
  together: string[]
  missed: string[]
  raw: string[]
  unhandled: string[]
  /** Writes that were refused with a code that says that nothing was stored, and are there. */
  stored: string[]
}

/** The end state of the queues and the feed, which are at rest. */
export async function judge(ledger: LoadLedger, store: Store): Promise<Verdict> {
  const verdict: Verdict = {
    lost: [],
    twice: [],
    gaps: [],
    together: [],
    missed: [],
    raw: [],
    unhandled: ledger.unhandled,
    stored: [],
  }
  for (const { code, kind, text } of ledger.refused) {
    if (!ALLOWED.includes(code)) verdict.raw.push(`${kind}: ${code} ${text}`)
  }
  const places = await judgeItems(ledger, store, verdict)
  judgeMessages(ledger, verdict)
  await judgeEntries(ledger, store, verdict)
  for (const { kind, code, what, text } of ledger.refused) {
    if (code === 'outcome_unknown') continue
    const names = kind === 'append' ? [what] : kind === 'transaction' ? [`${what}-0`, `${what}-1`] : []
    for (const name of names) if (places.has(name)) verdict.stored.push(`${name} in spite of ${code} ${text}`)
  }
  judgeRefusals(ledger, verdict)
  return verdict
}

/** No send and no put that was refused is there, and a message whose delete was refused was received again. */
function judgeRefusals(ledger: LoadLedger, verdict: Verdict): void {
  const whats = {
    send: new Set(ledger.handled.map(({ what }) => what)),
    put: new Set([...ledger.seen.values()].flat().map(({ what }) => what)),
  }
  const receives = new Map<string, number>()
  for (const { message, receiveCount } of ledger.handled) {
    receives.set(message, Math.max(receiveCount, receives.get(message) ?? 0))
  }
  for (const { kind, code, what, text } of ledger.refused) {
    if (code === 'outcome_unknown') continue
    const isThere = (kind === 'send' || kind === 'put') && whats[kind].has(what)
    const [message = '', count] = what.split('#')
    const isGone = kind === 'settle' && Number(receives.get(message)) <= Number(count)
    if (isThere || isGone) verdict.stored.push(`the ${kind} of ${what} in spite of ${code} ${text}`)
  }
}

/** Every acknowledged item is where it was acknowledged; ids have no gap. Resolves to the place of each member. */
async function judgeItems(ledger: LoadLedger, store: Store, verdict: Verdict): Promise<Map<string, string>> {
  const places = new Map<string, string>()
  const { groups } = await store.groups.list({ prefix: 'load:', limit: 1000 })
  for (const { group, totalAppended } of groups) {
    const { items } = await store.groups.recent(group, { limit: 10_000 })
    if (BigInt(items.length) !== totalAppended) verdict.gaps.push(`${group}: ${items.length} of ${totalAppended}`)
    items.forEach(({ id, member }, at) => {
      if (id !== BigInt(items.length - 1 - at)) verdict.gaps.push(`${group}: ${id} at ${at} of ${items.length}`)
      const before = places.get(member as string)
      if (before !== undefined) verdict.twice.push(`${member} is at ${before} and at ${group}/${id}`)
      places.set(member as string, `${group}/${id}`)
    })
  }
  const ids = new Map<string, string>()
  for (const { kind, words } of ledger.good) {
    if (kind !== 'append') continue
    const [group, id, member = ''] = words
    const place = `${group}/${id}`
    if (places.get(member) !== place) verdict.lost.push(`item ${member}: not at ${place}, but ${places.get(member)}`)
    const other = ids.get(place)
    if (other !== undefined) verdict.twice.push(`${place} was acknowledged to ${other} and ${member}`)
    ids.set(place, member)
  }
  return places
}

/** Every acknowledged message was handled, by one at a time, and never again after it was settled. */
function judgeMessages(ledger: LoadLedger, verdict: Verdict): void {
  const byMessage = new Map<string, Handled[]>()
  const byWhat = new Map<string, string>()
  for (const one of ledger.handled) {
    byMessage.set(one.message, [...(byMessage.get(one.message) ?? []), one])
    const other = byWhat.get(one.what)
    if (other !== undefined && other !== one.message)
      verdict.twice.push(`${one.what} was sent as ${other} and ${one.message}`)
    byWhat.set(one.what, one.message)
  }
  const ids = new Set<string>()
  for (const { kind, words, answered } of ledger.good) {
    const [message = '', what = ''] = words
    if (kind === 'send') {
      if (ids.has(message)) verdict.twice.push(`the message id ${message}`)
      ids.add(message)
      if (byWhat.get(what) !== message)
        verdict.lost.push(`message ${what} (${message}): handled as ${byWhat.get(what)}`)
    } else if (kind === 'settle') {
      const again = byMessage.get(message)?.find(({ receiveCount }) => receiveCount > Number(what))
      if (again && again.start > answered) verdict.lost.push(`${message} came again after it was settled`)
    }
  }
  for (const [message, all] of byMessage) {
    all.sort((a, b) => a.start - b.start)
    all.forEach((one, at) => {
      const next = all[at + 1]
      if (next === undefined) return
      if (next.receiveCount === one.receiveCount) verdict.together.push(`${message} was given twice as one receive`)
      if (next.start < Math.min(one.end ?? Number.POSITIVE_INFINITY, one.until))
        verdict.together.push(`${message}: ${JSON.stringify([one, next])}`)
    })
  }
}

/** The feed has at least what was acknowledged, and each consumer that lived to the end has the last value of each key. */
async function judgeEntries(ledger: LoadLedger, store: Store, verdict: Verdict): Promise<void> {
  const truth = new Map<string, number>()
  let after = 0n
  for (;;) {
    const { changes, cursor } = await store.feeds.changes('load', { after, limit: 1000 })
    for (const { key, value } of changes) truth.set(key, (value as { n: number }).n)
    if (changes.length === 0) break
    after = cursor
  }
  const acknowledged = new Map<string, number>()
  for (const { kind, words } of ledger.good) {
    if (kind !== 'put') continue
    const [key = '', n] = words
    acknowledged.set(key, Math.max(acknowledged.get(key) ?? 0, Number(n)))
  }
  for (const [key, n] of acknowledged) {
    if ((truth.get(key) ?? 0) < n) verdict.lost.push(`${key}: ${n} was acknowledged, ${truth.get(key)} is there`)
  }
  const cursors = new Map<string, string>()
  for (const { kind, words } of ledger.good) if (kind === 'consume') cursors.set(words[0] ?? '', words[1] ?? '')
  for (const [life, all] of ledger.seen) {
    const final = new Map<string, number>()
    let last = 0n
    for (const { syncId, key, n } of all) {
      if (syncId <= last) verdict.missed.push(`${life}: sync id ${syncId} after ${last}`)
      last = syncId
      final.set(key, n)
    }
    // One that was killed has not come to the end.
    if (cursors.get(life) !== String(after)) continue
    for (const [key, n] of truth) {
      if (final.get(key) !== n) verdict.missed.push(`${life}: ${key} is ${n}, seen was ${final.get(key)}`)
    }
  }
}

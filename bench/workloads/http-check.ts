/**
 * Whether a server under load did what it answered. wrk is fast because it looks at no answer, so there are two parts:
 * what it left behind is counted and looked at, group by group; and right behind it the same server takes appends
 * from callers that keep every answer, and is held against those exactly.
 */
import { groupNames, itemOf, opOf, WINDOW } from '../items'
import { inParallel } from '../load/callers'
import { CONNECTIONS, GROUPS, groupOf } from '../load/http'
import { AppendLog, lastFault, type Verdict } from '../load/log'
import type { Contender, Ring, StoredItem } from '../types'

/**
 * Each group got every thousandth append. Appends whose answer wrk did not wait for at its end, one request for each
 * connection at most, may be there or not.
 */
export async function appendFaults(ring: Ring, acknowledged: number, each: number): Promise<Verdict> {
  const faults: string[] = []
  const most = acknowledged + CONNECTIONS * each
  let full = 0
  const names = Array.from({ length: GROUPS }, (_, op) => `article:${groupOf(op)}`)
  for (let at = 0; at < GROUPS; at += 100) {
    const answers = await ring.recentMany(names.slice(at, at + 100))
    answers.forEach((items, index) => {
      const first = at + index
      const ops = items.map(opOf)
      const foreign = ops.find((op) => op < 0 || op >= most || op % GROUPS !== first)
      const least = Math.min(WINDOW, Math.floor((acknowledged - CONNECTIONS * each) / GROUPS))
      if (foreign !== undefined || ops.length < least || ops.length > WINDOW || new Set(ops).size < ops.length) {
        faults.push(`${names[first]}: has ${ops.join(' ')}`)
      }
      if (ops.length === WINDOW) full++
    })
  }
  const taken = await ring.taken?.()
  if (taken !== undefined && (taken < acknowledged || taken > most)) {
    faults.push(`the totals say ${taken} appends, ${acknowledged} were answered`)
  }
  const total = taken === undefined ? '' : `, ${taken} appends by the totals (at most ${CONNECTIONS * each} unanswered)`
  return { faults, note: `${full} groups hold ${WINDOW} of their own items${total}` }
}

const TRIED_GROUPS = 20
const TRIED = 2000
const TRIED_BULK = 10

/** Appends from as many callers as wrk has connections, to groups of their own, every answer kept and checked. */
export async function tryOut(url: string, mode: 'post' | 'bulk', { gapless }: Contender): Promise<Verdict> {
  const log = new AppendLog(groupNames(TRIED_GROUPS).map((name) => name.replace('article', 'tried')))
  const faults: string[] = []
  const each = mode === 'bulk' ? TRIED_BULK : 1
  const calls = Array.from({ length: TRIED / each }, (_, call) => call)
  await inParallel(CONNECTIONS, calls, async (call) => {
    // Neighbours in one request go to different groups.
    const ops = Array.from({ length: each }, (_, at) => log.begin((call * each + at) % TRIED_GROUPS))
    const ids = await append(url, mode, log, ops)
    if (typeof ids === 'string') faults.push(ids)
    else for (const [at, op] of ops.entries()) log.end(op, gapless ? Number(ids[at]) : 0)
  })
  for (const [group, ops] of log.byGroup()) {
    const name = log.names[group] as string
    const response = await fetch(`${url}/v1/groups/${name}/items`)
    const { items } = (await response.json()) as { items: StoredItem[] }
    const gap = gapless ? ops.find((op, index) => log.orderOf(op) !== index) : undefined
    if (gap !== undefined) faults.push(`${name}: id ${log.orderOf(gap)} out of turn`)
    const last = ops.slice(-WINDOW).reverse()
    const fault = gapless && items.map(opOf).join() !== last.join() ? `has ${items.map(opOf)}, due is ${last}` : null
    const found = fault ?? lastFault(log, items, ops)
    if (found !== null) faults.push(`${name}: ${found}`)
  }
  const ids = gapless ? ', ids without gap' : ''
  return { faults, note: `${log.acknowledged} more appends checked one by one: the last ${WINDOW}${ids}` }
}

async function append(url: string, mode: 'post' | 'bulk', log: AppendLog, ops: number[]): Promise<string[] | string> {
  const items = ops.map((op) => ({ group: log.names[op % TRIED_GROUPS] as string, ...itemOf(op) }))
  const [{ group, ...item }] = items as [(typeof items)[0]]
  const [path, body] = mode === 'post' ? [`/v1/groups/${group}/items`, item] : ['/v1/items', { items }]
  const headers = { 'Content-Type': 'application/json' }
  const response = await fetch(url + path, { method: 'POST', headers, body: JSON.stringify(body) })
  const answer = (await response.json()) as { id?: string; items?: { id?: string }[] }
  if (response.status !== 201) return `a POST was answered ${response.status}`
  return (answer.items ?? [answer]).map(({ id }) => id ?? '')
}

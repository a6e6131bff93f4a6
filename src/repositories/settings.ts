/** Shared by the settings of groups, policies, queues and schedules: their tags, and the warning of `ensure`. */
import { createHash } from 'node:crypto'
import { faultsOf, optional, rulesOf } from '../fields/field'
import { text } from '../fields/rules'
import { type Fault, RecentnError } from '../shared/errors'
import type { IfTag } from '../shared/types'

/** The tag of settings: another one for each change of them, and the same whatever else happens. */
export function settingsTag(settings: readonly unknown[]): string {
  return createHash('sha256').update(JSON.stringify(settings)).digest('base64url').slice(0, 22)
}

export const ifTagOption = { ifTag: optional(text()) }
const IF_TAG_RULES = rulesOf(ifTagOption)

export const ifTagFaults = (options: IfTag): Fault[] => faultsOf(options, IF_TAG_RULES)

/** Throws `settings_changed` unless the settings have the tag that the caller expects. `tag` is null if there are none. */
export function checkTag({ ifTag }: IfTag, tag: string | null): void {
  if (ifTag === undefined || (tag !== null && (ifTag === '*' || ifTag === tag))) return
  throw new RecentnError('settings_changed')
}

/** Without what was left out. */
export function givenOf<T extends object>(settings: T): Partial<T> {
  return Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined)) as Partial<T>
}

const MAX_WARNED = 100
/** The warnings that the process has given. */
const warned = new Set<string>()

/** Fields in one order, however they were given. */
function ordered(_: string, value: unknown): unknown {
  const isPlain = typeof value === 'object' && value !== null && !Array.isArray(value)
  return isPlain ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))) : value
}

/** Warns, once a process, if what was ensured has other settings than those that were given. */
export function warnOfOthers(kind: string, name: string, there: object, given: object): void {
  const settings = there as Record<string, unknown>
  const others = Object.entries(given)
    .map(([setting, value]) => [setting, JSON.stringify(value, ordered), JSON.stringify(settings[setting], ordered)])
    .filter(([, wanted, has]) => wanted !== undefined && wanted !== has)
  const what = `The ${kind} ${JSON.stringify(name)}`
  if (others.length === 0 || warned.has(what) || warned.size >= MAX_WARNED) return
  warned.add(what)
  // A body may be long, or secret.
  const list = others.map(([setting, wanted, has = 'left out']) =>
    setting === 'body' ? 'another body' : `${setting} is ${has}, not ${wanted}`,
  )
  const sentence = `${what} that recentn ensured exists with other settings: ${list.join(', ')}. They stay; put replaces them`
  process.emitWarning(sentence, { code: 'RECENTN_SETTINGS' })
}

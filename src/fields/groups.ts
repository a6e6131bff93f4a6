/** The arguments of groups of recent items. */
import { type Field, nullable, optional, required, rulesOf, said, stated } from './field'
import {
  defaulted,
  FORM,
  flag,
  ID,
  MAX_CAPACITY,
  MAX_TTL_SECONDS,
  MODES,
  NAME,
  nameFault,
  oneOf,
  PAYLOAD,
  POSITION,
  PREFIX,
  page,
  SIGNAL,
  TIME,
  whole,
} from './rules'

/** The most groups of one read, and the most members that it leaves out. */
export const MAX_GROUPS = 100
export const MAX_EXCLUDED = 100

/** Stored exactly: JSON's numbers are doubles too. */
export const SCORE: Field<number> = {
  fault: (value) => (Number.isFinite(value) ? null : 'must be a finite number'),
  schema: { type: 'number', description: 'A double, which is exact for whole numbers up to 2^53.' },
}
export const KEEP = oneOf(['highest', 'latest'])
export const newItem = {
  member: nullable(NAME),
  payload: nullable(PAYLOAD),
  occurredAt: nullable(TIME),
  eventId: nullable(NAME),
  score: nullable(SCORE),
  keep: nullable(KEEP),
}
export const scoreChange = { member: required(NAME), by: required(SCORE) }
export const newGroupItem = { group: required(NAME), ...newItem }
export const NEW_ITEM_RULES = rulesOf(newItem)
export const NEW_GROUP_ITEM_RULES = rulesOf(newGroupItem)

export const CAPACITY = whole(1, MAX_CAPACITY)
export const MODE = oneOf(MODES)
export const TTL_SECONDS = whole(1, MAX_TTL_SECONDS)
export const FORGETTING = 'Seconds after which a group without items is forgotten'
export const FORGET_EMPTY_SECONDS = said(TTL_SECONDS, `${FORGETTING}; null: never. Made again, it begins at id 0.`)
const times = { ttlSeconds: nullable(TTL_SECONDS), forgetEmptySeconds: nullable(TTL_SECONDS) }
export const ownSettings = { capacity: optional(CAPACITY), mode: optional(MODE), ...times }
export const groupChanges = { capacity: nullable(CAPACITY), mode: nullable(MODE), ...times }
export const policySettings = { capacity: required(stated(CAPACITY)), mode: required(stated(MODE)), ...times }
export const OWN_SETTINGS_RULES = rulesOf(ownSettings)
export const POLICY_SETTINGS_RULES = rulesOf(policySettings)
export const GROUP_CHANGES_RULES = rulesOf(groupChanges)

const EXCLUDED: Field<readonly string[]> = {
  fault(value) {
    if (!Array.isArray(value) || value.length > MAX_EXCLUDED) return `must be a list of at most ${MAX_EXCLUDED} members`
    const fault = value.map(nameFault).find((found) => found !== null)
    return fault ? `has a member that ${fault}` : null
  },
  schema: {},
}

export const RECENT_LIMIT = defaulted(CAPACITY, 10)
const payloads = optional(oneOf(['value', 'text', 'none']))
const prefix = optional(PREFIX)
export const recentOptions = {
  limit: optional(RECENT_LIMIT),
  before: optional(ID),
  exclude: optional(EXCLUDED),
  payloads,
}
export const memberOptions = { limit: page.limit, before: page.after, payloads, prefix }
export const watchOptions = {
  after: optional(POSITION),
  resumes: optional(flag()),
  signal: optional(SIGNAL),
  payloads: optional(FORM),
}

export const SCORE_CHANGE_RULES = rulesOf(scoreChange)
export const ITEM_RULES = rulesOf({ payloads: optional(FORM) })
export const APPEND_RULES = rulesOf({ payloads })
export const RECENT_RULES = rulesOf(recentOptions)
export const MEMBER_RULES = rulesOf(memberOptions)
export const ERASE_RULES = rulesOf({ prefix })
export const WATCH_RULES = rulesOf(watchOptions)

/** The arguments of groups of recent items, and the bodies of their routes. */
import type { Mode, NewItem } from '../shared/group-types'
import type { JsonText } from '../shared/json'
import { Component, NotNull, Nullable, Optional, object, Required, rulesOfDto } from './dto'
import { type Field, Judged, list, optional, rulesOf, said, stated } from './field'
import {
  defaulted,
  FORM,
  flag,
  ID,
  MAX_BATCH,
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
export const CAPACITY = whole(1, MAX_CAPACITY)
export const MODE = oneOf(MODES)
export const TTL_SECONDS = whole(1, MAX_TTL_SECONDS)
const FORGETTING = 'Seconds after which a group without items is forgotten'
export const FORGET_EMPTY_SECONDS = said(TTL_SECONDS, `${FORGETTING}; null: never. Made again, it begins at id 0.`)

@Component('NewItem')
export class NewItemDto extends Judged {
  @Nullable(NAME) member?: string | null
  @Nullable(PAYLOAD) payload?: JsonText | null
  @Nullable(TIME) occurredAt?: Date | null
  @Nullable(NAME) eventId?: string | null
  @Nullable(SCORE) score?: number | null
  @Nullable(KEEP) keep?: NewItem['keep']
}
export const NEW_ITEM_RULES = rulesOfDto(NewItemDto)

@Component('NewGroupItem')
export class NewGroupItemDto extends NewItemDto {
  @Required(NAME) group!: string
}
export const NEW_GROUP_ITEM_RULES = rulesOfDto(NewGroupItemDto)

@Component('Batch')
export class BatchDto extends Judged {
  @Required(list(object(NewGroupItemDto), MAX_BATCH)) items!: readonly NewGroupItemDto[]
}

@Component('ScoreChange')
export class ScoreChangeDto extends Judged {
  @Required(NAME) member!: string
  @Required(SCORE) by!: number
}
export const SCORE_CHANGE_RULES = rulesOfDto(ScoreChangeDto)

@Component('GroupChanges', 'A setting that is left out stays as it is; with null it follows the policy again.')
export class GroupChangesDto extends Judged {
  @Nullable(CAPACITY) capacity?: number | null
  @Nullable(MODE) mode?: Mode | null
  @Nullable(TTL_SECONDS) ttlSeconds?: number | null
  @Nullable(TTL_SECONDS, `${FORGETTING}.`) forgetEmptySeconds?: number | null
}
export const GROUP_CHANGES_RULES = rulesOfDto(GroupChangesDto)

@Component('OwnSettings')
export class OwnSettingsDto extends GroupChangesDto {
  @Optional(CAPACITY) override capacity?: number
  @Optional(MODE) override mode?: Mode
  @Nullable(FORGET_EMPTY_SECONDS) override forgetEmptySeconds?: number | null
}
export const OWN_SETTINGS_RULES = rulesOfDto(OwnSettingsDto)

@Component('PolicySettings')
export class PolicySettingsDto extends OwnSettingsDto {
  @Required(stated(CAPACITY)) override capacity!: number
  @Required(stated(MODE)) override mode!: Mode
}
export const POLICY_SETTINGS_RULES = rulesOfDto(PolicySettingsDto)

@Component('PolicyChanges')
export class PolicyChangesDto extends OwnSettingsDto {
  @NotNull(CAPACITY) override capacity?: number
  @NotNull(MODE) override mode?: Mode
}

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

export const ITEM_RULES = rulesOf({ payloads: optional(FORM) })
export const APPEND_RULES = rulesOf({ payloads })
export const RECENT_RULES = rulesOf(recentOptions)
export const MEMBER_RULES = rulesOf(memberOptions)
export const ERASE_RULES = rulesOf({ prefix })
export const WATCH_RULES = rulesOf(watchOptions)

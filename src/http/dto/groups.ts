/** The bodies of the routes of groups, their items and policies. */
import { Judged, list } from '../../fields/field'
import { CAPACITY, FORGET_EMPTY_SECONDS, FORGETTING, KEEP, MODE, SCORE, TTL_SECONDS } from '../../fields/groups'
import { MAX_BATCH, NAME, PAYLOAD, TIME } from '../../fields/rules'
import type { Mode, NewItem } from '../../shared/group-types'
import type { JsonText } from '../../shared/json'
import { Component, NotNull, Nullable, Optional, object, Required } from './dto'

@Component('NewItem')
export class NewItemDto extends Judged {
  @Nullable(NAME) member?: string | null
  @Nullable(PAYLOAD) payload?: JsonText | null
  @Nullable(TIME) occurredAt?: Date | null
  @Nullable(NAME) eventId?: string | null
  @Nullable(SCORE) score?: number | null
  @Nullable(KEEP) keep?: NewItem['keep']
}

@Component('ScoreChange')
export class ScoreChangeDto extends Judged {
  @Required(NAME) member!: string
  @Required(SCORE) by!: number
}

@Component('NewGroupItem')
export class NewGroupItemDto extends NewItemDto {
  @Required(NAME) group!: string
}

@Component('Batch')
export class BatchDto extends Judged {
  @Required(list(object(NewGroupItemDto), MAX_BATCH)) items!: readonly NewGroupItemDto[]
}

@Component('GroupChanges', 'A setting that is left out stays as it is; with null it follows the policy again.')
export class GroupChangesDto extends Judged {
  @Nullable(CAPACITY) capacity?: number | null
  @Nullable(MODE) mode?: Mode | null
  @Nullable(TTL_SECONDS) ttlSeconds?: number | null
  @Nullable(TTL_SECONDS, `${FORGETTING}.`) forgetEmptySeconds?: number | null
}

@Component('OwnSettings')
export class OwnSettingsDto extends GroupChangesDto {
  @Optional(CAPACITY) override capacity?: number
  @Optional(MODE) override mode?: Mode
  @Nullable(FORGET_EMPTY_SECONDS) override forgetEmptySeconds?: number | null
}

@Component('PolicySettings')
export class PolicySettingsDto extends OwnSettingsDto {
  @Required(CAPACITY) override capacity!: number
  @Required(MODE) override mode!: Mode
}

@Component('PolicyChanges')
export class PolicyChangesDto extends OwnSettingsDto {
  @NotNull(CAPACITY) override capacity?: number
  @NotNull(MODE) override mode?: Mode
}

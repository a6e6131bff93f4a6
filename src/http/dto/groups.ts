/** The bodies of the routes of groups, their items and policies. */
import { Judged, list } from '../../fields/field'
import { CAPACITY, MODE, TTL_SECONDS } from '../../fields/groups'
import { MAX_BATCH, type Mode, NAME, PAYLOAD, TIME } from '../../fields/rules'
import type { JsonText } from '../../json'
import { Component, Nullable, Optional, object, Required } from './dto'

@Component('NewItem')
export class NewItemDto extends Judged {
  @Nullable(NAME) member?: string | null
  @Nullable(PAYLOAD) payload?: JsonText | null
  @Nullable(TIME) occurredAt?: Date | null
  @Nullable(NAME) eventId?: string | null
}

@Component('NewGroupItem')
export class NewGroupItemDto extends NewItemDto {
  @Required(NAME) group!: string
}

@Component('Batch')
export class BatchDto extends Judged {
  @Required(list(object(NewGroupItemDto), MAX_BATCH)) items!: readonly NewGroupItemDto[]
}

@Component('OwnSettings')
export class OwnSettingsDto extends Judged {
  @Optional(CAPACITY) capacity?: number
  @Optional(MODE) mode?: Mode
  @Nullable(TTL_SECONDS) ttlSeconds?: number | null

  @Nullable(
    TTL_SECONDS,
    'Seconds after which a group without items is forgotten; null: never. Made again, it begins at id 0.',
  )
  forgetEmptySeconds?: number | null
}

@Component('NewSettings')
export class NewSettingsDto extends OwnSettingsDto {
  @Nullable(
    object(OwnSettingsDto),
    "The group's own settings as the caller knows them; null: there is no such group. Where they are others by now, " +
      'nothing is changed, and the answer is 409 `settings_changed`. Without it they are replaced whatever they are.',
  )
  replaces?: OwnSettingsDto | null
}

@Component('PolicySettings')
export class PolicySettingsDto extends OwnSettingsDto {
  @Required(CAPACITY) override capacity!: number
  @Required(MODE) override mode!: Mode
}

@Component('NewPolicy')
export class NewPolicyDto extends PolicySettingsDto {
  @Nullable(
    object(PolicySettingsDto),
    'The policy as the caller knows it; null: there is none. Where it is another one by now, nothing is changed, and ' +
      'the answer is 409 `settings_changed`. Without it the policy is replaced whatever it is.',
  )
  replaces?: PolicySettingsDto | null
}

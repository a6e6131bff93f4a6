/** Bodies of the routes that set queues and what stands in them. */
import { ON_DELETE } from '../../../fields/queue-rules'
import type { OnDelete, QueueSettings } from '../../../repositories/queues/types'
import { IsFlag, IsMaxReceives, IsName, IsNoSetting, IsOneOf, IsTtl, IsVisibility, IsWhole } from './decorators'

/** Null counts as left out, but for `maxReceives`, where it is no limit. */
export class QueueSettingsDto {
  @IsVisibility()
  visibilityTimeoutSeconds?: number | null

  @IsMaxReceives()
  maxReceives?: number | null

  @IsName({ optional: true })
  deadLetterQueue?: string | null

  @IsOneOf(ON_DELETE, { optional: true })
  onDelete?: OnDelete | null

  @IsTtl()
  retentionSeconds?: number | null

  @IsNoSetting()
  paused?: never
}

/** What is left out stays as it is; null is a value, where a setting has it. */
export class QueueChangesDto {
  @IsVisibility({ optional: true, nullable: false })
  visibilityTimeoutSeconds?: number

  @IsMaxReceives()
  maxReceives?: number | null

  @IsName({ optional: true })
  deadLetterQueue?: string | null

  @IsOneOf(ON_DELETE, { optional: true, nullable: false })
  onDelete?: OnDelete

  @IsTtl()
  retentionSeconds?: number | null

  @IsNoSetting()
  paused?: never
}

export class RedriveDto {
  @IsWhole(1, Number.MAX_SAFE_INTEGER, { optional: true })
  max?: number | null

  @IsFlag()
  dryRun?: boolean | null
}

export class PurgeDto {
  @IsFlag()
  dryRun?: boolean | null
}

/** The settings that a valid DTO gives; what it leaves out takes its default. */
export function queueSettingsOf(dto: QueueSettingsDto): QueueSettings {
  return {
    visibilityTimeoutSeconds: dto.visibilityTimeoutSeconds ?? undefined,
    maxReceives: dto.maxReceives,
    deadLetterQueue: dto.deadLetterQueue ?? null,
    onDelete: dto.onDelete ?? undefined,
    retentionSeconds: dto.retentionSeconds ?? null,
  }
}

/** The settings that a valid DTO changes. */
export function queueChangesOf(dto: QueueChangesDto): QueueSettings {
  const { visibilityTimeoutSeconds, maxReceives, deadLetterQueue, onDelete, retentionSeconds } = dto
  return { visibilityTimeoutSeconds, maxReceives, deadLetterQueue, onDelete, retentionSeconds }
}

/** Bodies of the routes that set queues and what stands in them. */
import { ON_DELETE } from '../../../queue-rules'
import type { OnDelete, QueueSettings } from '../../../repositories/queues/types'
import { IsFlag, IsMaxReceives, IsName, IsOneOf, IsTtl, IsVisibility, IsWhole } from './decorators'

/** Null counts as left out, everywhere. */
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

  @IsFlag()
  paused?: boolean | null
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
    maxReceives: dto.maxReceives ?? undefined,
    deadLetterQueue: dto.deadLetterQueue ?? null,
    onDelete: dto.onDelete ?? undefined,
    retentionSeconds: dto.retentionSeconds ?? null,
    paused: dto.paused ?? undefined,
  }
}

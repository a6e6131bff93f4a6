/** Bodies that set what groups do. */
import type { OwnSettings, Settings } from '../../../repositories/recent/types'
import type { Mode } from '../../../rules'
import { IsCapacity, IsMode, IsTtl } from './decorators'

export class SettingsDto {
  @IsCapacity({ optional: true })
  capacity?: number | null

  @IsMode({ optional: true })
  mode?: Mode | null

  /** Null is not the same as left out here: it is never. */
  @IsTtl()
  ttlSeconds?: number | null
}

export class PolicyDto {
  @IsCapacity()
  capacity!: number

  @IsMode()
  mode!: Mode

  @IsTtl()
  ttlSeconds?: number | null
}

/** The settings that a valid DTO gives; what it leaves out is left out. */
export function ownSettingsOf(dto: SettingsDto): OwnSettings {
  const settings: OwnSettings = {}
  if (typeof dto.capacity === 'number') settings.capacity = dto.capacity
  if (typeof dto.mode === 'string') settings.mode = dto.mode
  if (dto.ttlSeconds !== undefined) settings.ttlSeconds = dto.ttlSeconds
  return settings
}

export function policyOf(dto: PolicyDto): Settings {
  return { capacity: dto.capacity, mode: dto.mode, ttlSeconds: dto.ttlSeconds ?? null }
}

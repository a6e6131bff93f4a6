/** Bodies that set what groups do. */
import type { FaultSink } from '../../../errors'
import type { Mode } from '../../../fields/rules'
import type { OwnSettings, Settings } from '../../../repositories/recent/types'
import type { JsonBody } from '../body'
import { isObject } from '../quick-items'
import { type Class, toDto } from '../validate'
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

/** A body that sets, with what it is to replace: null is nothing, undefined whatever there is. */
export interface Replacing<Dto> {
  settings: Dto
  replaces: Dto | null | undefined
}

/** Reads `replaces` beside the settings, each by the same rules. */
export function toReplacing<Dto extends object>(
  Dto: Class<Dto>,
  { value }: JsonBody,
  faults: FaultSink,
): Replacing<Dto> {
  if (!isObject(value) || !Object.hasOwn(value, 'replaces')) {
    return { settings: toDto(Dto, value, '', faults), replaces: undefined }
  }
  const { replaces, ...settings } = value
  return {
    settings: toDto(Dto, settings, '', faults),
    replaces: replaces === null ? null : toDto(Dto, replaces, '/replaces', faults),
  }
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

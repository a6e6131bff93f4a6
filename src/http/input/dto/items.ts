/** Bodies that append. */

import { timeFromText } from '../../../fields/rules'
import type { NewGroupItem, NewItem } from '../../../repositories/recent/types'
import { IsBatch, IsName, IsPayload, IsTime } from './decorators'

export class NewItemDto {
  @IsName({ optional: true })
  member?: string | null

  /** A `JsonText`, unless it is no valid payload. */
  @IsPayload()
  payload?: unknown

  @IsTime({ optional: true })
  occurredAt?: string | null

  @IsName({ optional: true })
  eventId?: string | null
}

export class NewGroupItemDto extends NewItemDto {
  @IsName()
  group!: string
}

export class BatchDto {
  @IsBatch()
  items!: unknown[]
}

/** What a valid DTO asks to append. */
export function newItemOf(dto: NewItemDto): NewItem {
  return {
    member: dto.member ?? null,
    payload: dto.payload ?? null,
    occurredAt: typeof dto.occurredAt === 'string' ? new Date(timeFromText(dto.occurredAt) ?? Number.NaN) : null,
    eventId: dto.eventId ?? null,
  }
}

export function newGroupItemOf(dto: NewGroupItemDto): NewGroupItem {
  return { group: dto.group, ...newItemOf(dto) }
}

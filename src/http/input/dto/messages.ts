/** Bodies that send, receive and settle messages. Null counts as left out, except as the body of a message and as its `maxReceives`. */
import { MAX_WAIT_SECONDS, ORDERS } from '../../../fields/queue-rules'
import { MAX_BATCH } from '../../../fields/rules'
import type { NewMessage, ReceiveOptions, ReceiveOrder, ReleaseOptions } from '../../../repositories/queues/types'
import {
  IsBatch,
  IsBody,
  IsDelay,
  IsFlag,
  IsMaxReceives,
  IsName,
  IsOneOf,
  IsPriority,
  IsText,
  IsVisibility,
  IsWhole,
} from './decorators'

export class NewMessageDto {
  /** A `JsonText`, unless it is no valid body. */
  @IsBody()
  body!: unknown

  @IsDelay()
  delaySeconds?: number | null

  @IsVisibility()
  visibilityTimeoutSeconds?: number | null

  @IsMaxReceives()
  maxReceives?: number | null

  @IsName({ optional: true })
  dedupId?: string | null

  @IsPriority()
  priority?: number | null

  @IsName({ optional: true })
  messageGroup?: string | null
}

export class MessagesDto {
  @IsBatch()
  messages!: unknown[]
}

export class ReceiveDto {
  @IsWhole(1, MAX_BATCH, { optional: true })
  max?: number | null

  @IsVisibility()
  visibilityTimeoutSeconds?: number | null

  @IsWhole(0, MAX_WAIT_SECONDS, { optional: true })
  waitSeconds?: number | null

  @IsOneOf(ORDERS, { optional: true })
  order?: ReceiveOrder | null

  @IsName({ optional: true })
  cursor?: string | null
}

export class ReceiptsDto {
  @IsBatch()
  receiptHandles!: string[]
}

export class ReleaseDto extends ReceiptsDto {
  @IsDelay()
  delaySeconds?: number | null

  @IsText()
  error?: string | null

  @IsFlag()
  dead?: boolean | null
}

export class ExtendDto extends ReceiptsDto {
  @IsVisibility({ optional: false })
  visibilityTimeoutSeconds!: number
}

/** What a valid DTO asks to send. */
export function newMessageOf(dto: NewMessageDto): NewMessage {
  return {
    body: dto.body,
    delaySeconds: dto.delaySeconds ?? undefined,
    visibilityTimeoutSeconds: dto.visibilityTimeoutSeconds ?? null,
    maxReceives: dto.maxReceives,
    dedupId: dto.dedupId ?? null,
    priority: dto.priority ?? undefined,
    messageGroup: dto.messageGroup ?? null,
  }
}

export function receiveOptionsOf(dto: ReceiveDto): ReceiveOptions {
  return {
    max: dto.max ?? undefined,
    visibilityTimeoutSeconds: dto.visibilityTimeoutSeconds ?? undefined,
    waitSeconds: dto.waitSeconds ?? undefined,
    order: dto.order ?? undefined,
    cursor: dto.cursor ?? undefined,
  }
}

export function releaseOptionsOf(dto: ReleaseDto): ReleaseOptions {
  return { delaySeconds: dto.delaySeconds ?? undefined, error: dto.error ?? null, dead: dto.dead ?? undefined }
}

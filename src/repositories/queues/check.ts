/** What callers give, checked: every fault at once, nothing reaches a statement before. */
import { type Fault, invalidInput } from '../../errors'
import {
  bodyFault,
  delayFault,
  MAX_ERROR_CHARACTERS,
  MESSAGE_STATES,
  maxReceivesFault,
  NO_PAUSED,
  ON_DELETE,
  ORDERS,
  oneOfFault,
  priorityFault,
  visibilityFault,
} from '../../fields/queue-rules'
import { formFault, idFault, integerFault, MAX_BATCH, MAX_TTL_SECONDS, nameFault } from '../../fields/rules'
import { jsonTextOf } from '../../json'
import { addFaults, faultsOf, named, nullable, optional, pageRules, prefixRule, refuse, rulesOf } from '../checking'
import { storedLimit } from './heads'
import type { MessageToSend, SendRequest } from './send'
import type { Release } from './settle'
import type {
  BodyForm,
  DryRun,
  NewMessage,
  PeekOptions,
  QueueSettings,
  ReceiveOptions,
  RedriveOptions,
  ReleaseOptions,
  SendOptions,
} from './types'

const isBoolean = (value: unknown) => (typeof value === 'boolean' ? null : 'must be true or false')

const SETTINGS_RULES = rulesOf({
  visibilityTimeoutSeconds: optional(visibilityFault),
  maxReceives: nullable(maxReceivesFault),
  deadLetterQueue: nullable(nameFault),
  onDelete: optional((value) => oneOfFault(value, ON_DELETE)),
  retentionSeconds: nullable((value) => integerFault(value, 1, MAX_TTL_SECONDS)),
  paused: (value) => (value === undefined ? null : NO_PAUSED),
})

const sendRules = {
  delaySeconds: optional(delayFault),
  visibilityTimeoutSeconds: nullable(visibilityFault),
  maxReceives: nullable(maxReceivesFault),
  dedupId: nullable(nameFault),
  priority: optional(priorityFault),
  messageGroup: nullable(nameFault),
}
const SEND_RULES = rulesOf(sendRules)
const MESSAGE_RULES = rulesOf({ body: bodyFault, ...sendRules })

const bodies = optional(formFault)
const BODY_RULES = rulesOf({ bodies })

const RECEIVE_RULES = rulesOf({
  max: optional((value) => integerFault(value, 1, MAX_BATCH)),
  visibilityTimeoutSeconds: optional(visibilityFault),
  waitSeconds: optional((value) => integerFault(value, 0, 20)),
  order: optional((value) => oneOfFault(value, ORDERS)),
  cursor: optional(nameFault),
  signal: optional((value) => (value instanceof AbortSignal ? null : 'must be an AbortSignal')),
  bodies,
})

const RELEASE_RULES = rulesOf({
  delaySeconds: optional(delayFault),
  error: nullable((value) => (typeof value === 'string' ? null : 'must be a string')),
  dead: optional(isBoolean),
})

const BODY_FORMS: readonly BodyForm[] = ['value', 'text', 'preview']

const PEEK_RULES = rulesOf({
  ...pageRules,
  bodies: optional((value) => oneOfFault(value, BODY_FORMS)),
  state: optional((value) => oneOfFault(value, MESSAGE_STATES)),
  maxBytes: optional((value) => integerFault(value, 1, Number.MAX_SAFE_INTEGER)),
})

export function checkQueue(queue: unknown): void {
  refuse(named('queue', queue))
}

export function checkSettings(queue: unknown, settings: QueueSettings): void {
  refuse([...named('queue', queue), ...faultsOf(settings, SETTINGS_RULES)])
}

export function checkedSend(queue: unknown, body: unknown, options: SendOptions): SendRequest {
  const faults: Fault[] = named('queue', queue)
  const fault = bodyFault(body)
  if (fault !== null) faults.push({ pointer: '/body', detail: fault })
  addFaults(faults, options, SEND_RULES, '')
  refuse(faults)
  return { queue: queue as string, rows: [rowOf({ ...options, body })] }
}

/** 1 to 1,000 of them; faults at `/3/body` and so on. */
export function checkedMessages(queue: unknown, messages: readonly NewMessage[]): SendRequest {
  const faults: Fault[] = named('queue', queue)
  if (!Array.isArray(messages) || messages.length < 1 || messages.length > MAX_BATCH) {
    throw invalidInput([...faults, { pointer: '', detail: `must be a list of 1 to ${MAX_BATCH} messages` }])
  }
  for (const [index, message] of messages.entries()) addFaults(faults, message, MESSAGE_RULES, `/${index}`)
  refuse(faults)
  return { queue: queue as string, rows: messages.map(rowOf) }
}

function rowOf(message: NewMessage): MessageToSend {
  return {
    body: jsonTextOf(message.body),
    delayMs: (message.delaySeconds ?? 0) * 1000,
    visibilityTimeoutSeconds: message.visibilityTimeoutSeconds ?? null,
    maxReceives: message.maxReceives === undefined ? null : storedLimit(message.maxReceives),
    dedupId: message.dedupId ?? null,
    priority: message.priority ?? 0,
    messageGroup: message.messageGroup ?? null,
  }
}

export function checkReceive(queue: unknown, options: ReceiveOptions): void {
  refuse([...named('queue', queue), ...faultsOf(options, RECEIVE_RULES)])
}

/** 1 to 1,000 handles; what is no handle at all is an outcome of its own, not a fault. */
export function checkedHandles(queue: unknown, handles: string | readonly string[]): readonly string[] {
  const faults = named('queue', queue)
  const list = typeof handles === 'string' ? [handles] : handles
  if (!Array.isArray(list) || list.length < 1 || list.length > MAX_BATCH) {
    faults.push({ pointer: '/receiptHandles', detail: `must be a list of 1 to ${MAX_BATCH} receipt handles` })
  } else {
    for (const [index, handle] of list.entries()) {
      if (typeof handle !== 'string') faults.push({ pointer: `/receiptHandles/${index}`, detail: 'must be a string' })
    }
  }
  refuse(faults)
  return list
}

export function checkedRelease(options: ReleaseOptions): Release {
  refuse(faultsOf(options, RELEASE_RULES))
  const { delaySeconds = 0, error, dead = false } = options
  const said = error ? Array.from(error.toWellFormed()).slice(0, MAX_ERROR_CHARACTERS).join('') : null
  return { delayMs: delaySeconds * 1000, error: said, dead }
}

const EXTEND_RULES = rulesOf({ visibilityTimeoutSeconds: visibilityFault })

/** The visibility in milliseconds. */
export function checkedExtend(options: { visibilityTimeoutSeconds: number }): number {
  refuse(faultsOf(options, EXTEND_RULES))
  return options.visibilityTimeoutSeconds * 1000
}

export function checkedPeek(queue: unknown, options: PeekOptions): PeekOptions & { limit: number } {
  refuse([...named('queue', queue), ...faultsOf(options, PEEK_RULES)])
  return { ...options, limit: options.limit ?? 100 }
}

export function checkMessage(queue: unknown, id: unknown, options: unknown = {}): void {
  const detail = idFault(id)
  const fault = detail === null ? [] : [{ parameter: 'id', detail }]
  refuse([...named('queue', queue), ...fault, ...faultsOf(options, BODY_RULES)])
}

const DRY_RUN_RULES = rulesOf({ dryRun: optional(isBoolean) })
const REDRIVE_RULES = rulesOf({
  max: optional((value) => integerFault(value, 1, Number.MAX_SAFE_INTEGER)),
  prefix: prefixRule,
  dryRun: optional(isBoolean),
})

export function checkPurge(queue: unknown, options: DryRun): void {
  refuse([...named('queue', queue), ...faultsOf(options, DRY_RUN_RULES)])
}

export function checkedRedrive(queue: unknown, options: RedriveOptions): { max: number; prefix: string } {
  refuse([...named('queue', queue), ...faultsOf(options, REDRIVE_RULES)])
  return { max: options.max ?? Number.POSITIVE_INFINITY, prefix: options.prefix ?? '' }
}

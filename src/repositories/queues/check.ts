/** Checks of callers' arguments: every fault at once, before anything reaches a statement. */

import {
  addFaults,
  addListFaults,
  argumentFaults,
  faultsOf,
  Judged,
  type Rules,
  refuse,
  sureList,
} from '../../fields/field'
import * as fields from '../../fields/messages'
import * as queues from '../../fields/queues'
import { checkedPage, ID, MAX_BATCH, MAX_VALUE_BYTES, nameFaults, PAGE_LIMIT, VALUE } from '../../fields/rules'
import type { Fault } from '../../shared/errors'
import { jsonTextOf } from '../../shared/json'
import { sureText } from '../../shared/json-faults'
import type {
  ExtendOptions,
  MessageRef,
  NackOptions,
  NewMessage,
  PeekOptions,
  PurgeOptions,
  QueueListOptions,
  QueueSettings,
  RedriveOptions,
  SendOptions,
} from '../../shared/queue-types'
import type { IfTag } from '../../shared/types'
import { ifTagFaults } from '../settings'
import { type DeadChoice, errorKind } from './dead/dead-choice'
import { storedLimit } from './heads'
import type { MessageToSend, SendRequest } from './rows'
import type { Nack } from './settle/settle'

export const checkedList = (options: QueueListOptions) => checkedPage(options, queues.QUEUE_LIST_RULES)

export function checkQueue(queue: unknown, options: unknown = {}, rules: Rules = NO_RULES): void {
  refuse([...nameFaults('queue', queue), ...faultsOf(options, rules)])
}

const NO_RULES: Rules = new Map()

export function checkSettings(queue: unknown, settings: QueueSettings, options: IfTag = {}): void {
  refuse([...nameFaults('queue', queue), ...faultsOf(settings, queues.QUEUE_SETTINGS_RULES), ...ifTagFaults(options)])
}

export function checkedSend(queue: unknown, body: unknown, options: SendOptions): SendRequest {
  const faults: Fault[] = nameFaults('queue', queue)
  const text = hasSureOptions(options) ? sureText(body, MAX_VALUE_BYTES) : null
  if (text === null) {
    const fault = VALUE.fault(body)
    if (fault !== null) faults.push({ pointer: '/body', detail: fault })
    addFaults(faults, options, fields.SEND_RULES, '')
    if (faults.length === 0) for (const fault of fields.keyFaults(options)) faults.push(fault)
  }
  refuse(faults)
  return { queue: queue as string, rows: [rowWith(text ?? jsonTextOf(body), options)] }
}

/** 1 to 1,000 of them; faults at `/3/body` and so on. */
export function checkedMessages(queue: unknown, messages: readonly NewMessage[]): SendRequest {
  const faults: Fault[] = nameFaults('queue', queue)
  const texts = sureList(messages, MAX_BATCH, (message) => {
    if (message instanceof Judged) return jsonTextOf(message.body)
    return hasSureOptions(message, 'body') ? sureText(message.body, MAX_VALUE_BYTES) : null
  })
  if (texts === null) {
    addListFaults(faults, messages, 'messages', fields.NEW_MESSAGE_RULES, MAX_BATCH)
    if (faults.length === 0) {
      for (const [index, message] of messages.entries()) {
        for (const { pointer, detail } of fields.keyFaults(message))
          faults.push({ pointer: `/${index}${pointer}`, detail })
      }
    }
  }
  refuse(faults)
  const rows = messages.map((message, index) => rowWith(texts?.[index] ?? jsonTextOf(message.body), message))
  return { queue: queue as string, rows }
}

/** Whether what is given beside the body is surely valid. */
function hasSureOptions(given: SendOptions, body?: 'body'): boolean {
  if (typeof given !== 'object' || given === null) return false
  for (const key in given) {
    if (key !== body && fields.SEND_RULES.get(key)?.(given[key as keyof SendOptions]) !== null) return false
  }
  return given.onKey === undefined && given.maxDelaySeconds === undefined
}

export function rowOf(message: NewMessage): MessageToSend {
  return rowWith(jsonTextOf(message.body), message)
}

function rowWith(body: string, options: SendOptions): MessageToSend {
  return {
    body,
    delayMs: (options.delaySeconds ?? 0) * 1000,
    visibilityTimeoutSeconds: options.visibilityTimeoutSeconds ?? null,
    maxReceives: options.maxReceives === undefined ? null : storedLimit(options.maxReceives),
    dedupId: options.dedupId ?? null,
    priority: options.priority ?? 0,
    messageGroup: options.messageGroup ?? null,
    key: options.key ?? null,
    onKey: options.onKey ?? 'keep',
    maxDelayMs: options.maxDelaySeconds === undefined ? null : options.maxDelaySeconds * 1000,
    attributes: Object.keys(options.attributes ?? {}).length > 0 ? JSON.stringify({ ...options.attributes }) : null,
  }
}

/** The handles of 1 to 1,000 messages; a text that is not a handle is an outcome, not a fault. */
export function checkedHandles(queue: unknown, messages: readonly MessageRef[]): readonly string[] {
  const faults = nameFaults('queue', queue)
  const isList = Array.isArray(messages) && messages.length >= 1 && messages.length <= MAX_BATCH
  const handles = isList ? messages.map(receiptHandleOf) : []
  if (!isList) {
    faults.push({
      pointer: '/receiptHandles',
      detail: `must be a list of 1 to ${MAX_BATCH} messages or receipt handles`,
    })
  }
  for (const [index, handle] of handles.entries()) {
    if (typeof handle !== 'string') faults.push({ pointer: `/receiptHandles/${index}`, detail: NO_HANDLE })
  }
  refuse(faults)
  return handles
}

const NO_HANDLE = 'must be a message or its receipt handle'

export function checkedHandle(queue: unknown, message: MessageRef): string {
  const handle = receiptHandleOf(message)
  const isText = typeof handle === 'string'
  refuse([...nameFaults('queue', queue), ...(isText ? [] : [{ pointer: '/receiptHandle', detail: NO_HANDLE }])])
  return handle
}

function receiptHandleOf(message: MessageRef): string {
  return typeof message === 'string' ? message : message?.receiptHandle
}

export function checkedNack(options: NackOptions): Nack {
  refuse(faultsOf(options, fields.NACK_RULES))
  const { delaySeconds = 0, error, dead = false } = options
  return { delayMs: delaySeconds * 1000, error: error ? queues.keptError(error) : null, dead }
}

/** The visibility in milliseconds. */
export function checkedExtend(options: ExtendOptions): number {
  refuse(faultsOf(options, fields.EXTEND_RULES))
  return options.visibilityTimeoutSeconds * 1000
}

export function checkedPeek(queue: unknown, options: PeekOptions): PeekOptions & { limit: number } {
  checkQueue(queue, options, fields.PEEK_RULES)
  return { ...options, limit: options.limit ?? PAGE_LIMIT.default }
}

export function checkMessage(queue: unknown, id: unknown, options: unknown = {}): void {
  refuse([...nameFaults('queue', queue), ...argumentFaults('id', id, ID), ...faultsOf(options, fields.BODY_RULES)])
}

/** `isDead`: dead messages are to be dropped, and not those that wait. */
export function checkedPurge(queue: unknown, options: PurgeOptions): DeadChoice & { isDead: boolean } {
  checkQueue(queue, options, fields.PURGE_RULES)
  const { dead = false, error, from, ids } = options
  return { ...choiceOf(options), isDead: dead || (error ?? from ?? ids) !== undefined }
}

export function checkCancel(queue: unknown, key: unknown): void {
  refuse([...nameFaults('queue', queue), ...nameFaults('key', key)])
}

export function checkPromote(queue: unknown, ids: unknown, options: unknown): void {
  const faults = [...faultsOf({ ids }, fields.IDS_RULES), ...faultsOf(options, fields.PROMOTE_RULES)]
  if (faults.length === 0)
    for (const fault of fields.promoteFaults(options as object as Readonly<Record<string, unknown>>)) faults.push(fault)
  refuse([...nameFaults('queue', queue), ...faults])
}

export function checkedRedrive(queue: unknown, options: RedriveOptions): DeadChoice {
  checkQueue(queue, options, fields.REDRIVE_RULES)
  return choiceOf(options)
}

function choiceOf({ limit, prefix, ids, error, from, dryRun }: RedriveOptions): DeadChoice {
  return {
    limit: limit ?? Number.POSITIVE_INFINITY,
    prefix: prefix ?? '',
    ids: ids ?? null,
    error: error === undefined ? null : errorKind(error),
    from: from ?? null,
    dryRun: dryRun ?? false,
  }
}

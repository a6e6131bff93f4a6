/**
 * The two doors for plain SQL: what a row of each table asks for, judged as a call's arguments are, and what does it. A row's
 * text comes from other programs: nothing in it is trusted.
 */
import type { Engine, Reader, Row, Tx } from '../../database/engine'
import { type Tables, tablesOf } from '../../database/tables'
import type { Field } from '../../fields/field'
import { ATTRIBUTES } from '../../fields/messages'
import { PAYLOAD, VALUE } from '../../fields/rules'
import { invalidInput, type RecentnError } from '../../shared/errors'
import { JsonText } from '../../shared/json'
import { jsonFault } from '../../shared/json-faults'
import { checkedSend } from '../queues/check'
import type { QueueMemory } from '../queues/memory'
import { SENDS, sendAll } from '../queues/send/send'
import { APPENDS } from '../recent/append'
import { checkedItem } from '../recent/check'
import type { GroupMemory } from '../recent/memory'

export interface Door<Request = unknown> {
  table: 'sends' | 'appends'
  index: 'sendsWaiting' | 'appendsWaiting'
  /** The column of the queue or the group: the rows of one are moved in their order. */
  key: 'queue' | 'group_key'
  texts: readonly string[]
  /** The columns that a row is read by, besides its id and its key. */
  columns(engine: Engine): string
  /** Throws `invalid_input`. */
  requestOf(row: Row): Request
  /** Does what the requests ask for; for each what came of it, or why it was refused. */
  run(tx: Tx, requests: readonly Request[]): Promise<readonly (unknown | RecentnError)[]>
  /** For each request the name of a lock that it needs and another transaction holds, or null. */
  heldLocks(reader: Reader, requests: readonly Request[]): Promise<readonly (string | null)[]>
  /** SQL: which of the rows that are stuck for now may be tried again. */
  again: (tables: Tables) => string
}

export function sendsDoor(memory: QueueMemory) {
  const door: Door<ReturnType<typeof sendOf>> = {
    table: 'sends',
    index: 'sendsWaiting',
    key: 'queue',
    texts: ['body', 'attributes'],
    columns: () => 'body, delay_seconds, priority, message_group, dedup_id, attributes',
    requestOf: sendOf,
    run: (tx, requests) => sendAll(tx, memory, requests, true),
    heldLocks: SENDS.heldLocks,
    again: ({ queues }) => `queue IN (SELECT queue FROM ${queues})`,
  }
  return door as Door
}

export function appendsDoor(memory: GroupMemory) {
  const door: Door<ReturnType<typeof appendOf>> = {
    table: 'appends',
    index: 'appendsWaiting',
    key: 'group_key',
    texts: ['payload'],
    columns: ({ bigint }) => `member, payload, ${bigint('occurred_at_ms')} AS occurred_at_ms, event_id, score`,
    requestOf: appendOf,
    run: (tx, requests) => APPENDS.run(tx, memory, requests),
    heldLocks: APPENDS.heldLocks,
    again: () => '1 = 1',
  }
  return door as Door
}

function sendOf(row: Row) {
  return checkedSend(row.queue, jsonOf('body', row.body, VALUE), {
    delaySeconds: Number(row.delay_seconds),
    priority: Number(row.priority),
    messageGroup: row.message_group as string | null,
    dedupId: row.dedup_id as string | null,
    attributes: row.attributes === null ? null : attributesOf(row.attributes),
  })
}

function appendOf(row: Row) {
  const item = {
    member: row.member as string | null,
    payload: row.payload === null ? null : jsonOf('payload', row.payload, PAYLOAD),
    occurredAt: row.occurred_at_ms === null ? null : new Date(Number(row.occurred_at_ms)),
    eventId: row.event_id as string | null,
    score: row.score === null ? null : Number(row.score),
  }
  return [checkedItem(row.group_key, item)]
}

function jsonOf(column: string, text: unknown, field: Field): JsonText {
  if (typeof text !== 'string') throw wrong(column, 'must be text')
  const json = new JsonText(text)
  // Its size first: a text without end is not to be parsed.
  const fault = field.fault(json) ?? jsonFault(parsed(column, json), true)
  if (fault !== null) throw wrong(column, fault)
  return json
}

function attributesOf(text: unknown): Record<string, string> {
  const attributes = typeof text === 'string' ? parsed('attributes', new JsonText(text)) : text
  const fault = ATTRIBUTES.fault(attributes)
  if (fault !== null) throw wrong('attributes', fault)
  return attributes as Record<string, string>
}

function parsed(column: string, json: JsonText): unknown {
  try {
    return json.parse()
  } catch {
    throw wrong(column, 'must be JSON')
  }
}

const wrong = (column: string, detail: string): RecentnError => invalidInput([{ pointer: `/${column}`, detail }])

/** Each body is one statement, so that a client needs no other delimiter. Texts have the character set of the tables. */
export function proceduresSql(tablePrefix?: string): string {
  const { prefix, sends, appends } = tablesOf(tablePrefix)
  const name = 'VARCHAR(191) CHARACTER SET utf8mb4'
  const json = 'MEDIUMTEXT CHARACTER SET utf8mb4'
  return `DROP PROCEDURE IF EXISTS ${prefix}send;
CREATE PROCEDURE ${prefix}send(IN to_queue ${name}, IN json_body ${json})
  MODIFIES SQL DATA
  INSERT INTO ${sends} (queue, body) VALUES (to_queue, json_body);
DROP PROCEDURE IF EXISTS ${prefix}append;
CREATE PROCEDURE ${prefix}append(IN to_group ${name}, IN of_member ${name}, IN json_payload ${json})
  MODIFIES SQL DATA
  INSERT INTO ${appends} (group_key, member, payload) VALUES (to_group, of_member, json_payload);
`
}

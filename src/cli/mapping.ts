/** The item of a log entry: which field names the group, which the member, and what the payload has. */
import { createHash } from 'node:crypto'
import path from 'node:path'
import { nameFault, PAYLOAD } from '../fields/rules'
import type { NewGroupItem } from '../repositories/recent/types'
import { type AccessLogEntry, hostless, pathOf } from './access-log'

export const GROUP_FIELDS = ['path', 'target', 'status', 'agent', 'referrer', 'method', 'user'] as const
export const MEMBER_FIELDS = ['address', 'user', 'agent', 'none'] as const
export const PAYLOAD_FIELDS = ['method', 'status', 'userAgent', 'referrer', 'bytes', 'target', 'protocol'] as const

export type PayloadField = (typeof PAYLOAD_FIELDS)[number]

export interface Mapping {
  group: (typeof GROUP_FIELDS)[number]
  groupPrefix: string
  member: (typeof MEMBER_FIELDS)[number]
  /** If empty, items have no payload. */
  payload: readonly PayloadField[]
  /** Refuses a line without a member, as mode `distinct` does. */
  memberRequired: boolean
}

export type MappedEntry = { item: NewGroupItem; reason?: undefined } | { item?: undefined; reason: string }

const GROUP_OF: Record<Mapping['group'], (entry: AccessLogEntry) => string | null> = {
  path: (entry) => entry.target && pathOf(entry.target),
  target: (entry) => entry.target && hostless(entry.target),
  status: (entry) => (entry.status === null ? null : String(entry.status)),
  agent: (entry) => entry.userAgent,
  referrer: (entry) => entry.referrer,
  method: (entry) => entry.method,
  user: (entry) => entry.user,
}

const MEMBER_OF: Record<Mapping['member'], (entry: AccessLogEntry) => string | null> = {
  address: (entry) => entry.address,
  user: (entry) => entry.user,
  agent: (entry) => entry.userAgent,
  none: () => null,
}

/** The item of an entry, or the reason why it has none. */
export function mapEntry(entry: AccessLogEntry, mapping: Mapping): MappedEntry {
  const name = GROUP_OF[mapping.group](entry)
  if (!name) return { reason: `has no ${mapping.group} to name the group by` }
  const group = mapping.groupPrefix + name
  const groupIs = nameFault(group)
  if (groupIs !== null) return { reason: `has a ${mapping.group} that can't name a group: it ${groupIs}` }

  const member = MEMBER_OF[mapping.member](entry) || null
  if (member === null && mapping.memberRequired) return { reason: `has no ${mapping.member} to be the member` }
  const memberIs = member === null ? null : nameFault(member)
  if (memberIs !== null) return { reason: `has a member (${mapping.member}) that is no name: it ${memberIs}` }

  const item: NewGroupItem = { group, member, occurredAt: entry.time }
  if (mapping.payload.length > 0) {
    item.payload = Object.fromEntries(mapping.payload.map((field) => [field, entry[field]]))
    const payloadIs = PAYLOAD.fault(item.payload)
    if (payloadIs !== null) return { reason: `makes a payload that ${payloadIs}` }
  }
  return { item }
}

/** The part of an event id for the file: its name, or a digest of a name that recentn does not accept. */
export function eventIdBase(fileName: string): string {
  const base = path.basename(fileName)
  return base.length <= 128 && nameFault(base) === null ? base : digest(Buffer.from(base))
}

/**
 * The event id of a line, which is the same each time the file is replayed. It depends on the bytes of the line, because
 * a rotated log has other lines under the same name and number.
 */
export function eventIdOf(base: string, lineNumber: number, line: Buffer): string {
  return `${base}:${lineNumber}:${digest(line)}`
}

function digest(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('base64url').slice(0, 16)
}

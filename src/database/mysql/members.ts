/** The members of a MySQL group as one of them sees them: whether it takes part in the group, and which member migrates. */

/** Fails where the account may not read the table. A server that is in no group has no rows. */
export const MEMBERS =
  "SELECT MEMBER_ID = @@server_uuid AS isOwn, MEMBER_STATE AS state, MEMBER_ROLE AS role, CONCAT(MEMBER_HOST, ':', MEMBER_PORT) AS address " +
  'FROM performance_schema.replication_group_members ORDER BY MEMBER_ID'

export interface GroupMember {
  /** 1 for the member that was asked. */
  isOwn: unknown
  state: string
  role: string
  address: string
}

const isOwn = (member: GroupMember): boolean => Number(member.isOwn) === 1

/** Why the member that was asked can't take part in its group's decisions; null if it can, or if the server is in no group. */
export function outOfGroup(members: readonly GroupMember[]): string | null {
  const own = members.find(isOwn)
  if (own && own.state !== 'ONLINE') return `is not a member that is ONLINE, but ${own.state}`
  const gone = members.filter(({ state }) => state === 'UNREACHABLE').length
  if (!own || gone * 2 < members.length) return null
  return `has no majority of its group: ${gone} of ${members.length} members are UNREACHABLE`
}

/**
 * Why migrations must not run on the member that was asked; null if they may. Members apply each other's CREATE TABLE, and
 * leave the group if their own came first: with several primaries migrations run on the member with the smallest id alone.
 * An UNREACHABLE member keeps its turn until the group has removed it: the others may still have to apply its statements.
 */
export function mustNotMigrate(members: readonly GroupMember[]): string | null {
  const own = members.find(isOwn)
  if (own?.state !== 'ONLINE') return null
  const outside = outOfGroup(members)
  if (outside !== null) return `Migrations run on a member with a majority only, and ${own.address} ${outside}`
  // With a single primary the others take no writes anyway.
  if (members.some(({ state, role }) => state === 'ONLINE' && role === 'SECONDARY')) return null
  const first = members.find(({ state }) => state === 'ONLINE' || state === 'UNREACHABLE')
  if (first === own) return null
  return `Migrations of this group run on its member ${first?.address} only, because it has several primaries`
}

/** The groups, by name, each with its newest item, and the way to a member. */
import * as operations from '../client/operations'
import type { Group, Item } from '../shared/group-types'
import { link } from './address'
import { ask, type pageQuery } from './api'
import { type Listed, ListPage } from './list-page'
import { Badge, Cell, Name, NameLink } from './parts'
import { exactDuration, Time } from './time'

interface GroupWithNewest extends Group {
  newest: Item | null
}

async function load(query: ReturnType<typeof pageQuery>, signal: AbortSignal) {
  const { groups, nextAfter } = await ask(operations.listGroups, { query }, signal)
  const newest = { group: groups.map(({ group }) => group), limit: 1, payloads: 'none' } as const
  const pages = groups.length === 0 ? [] : (await ask(operations.recentItemsOfMany, { query: newest }, signal)).groups
  const rows: GroupWithNewest[] = groups.map((group, i) => ({ ...group, newest: pages[i]?.items[0] ?? null }))
  return { groups: rows, nextAfter }
}

export function GroupsPage(listed: Listed) {
  return (
    <ListPage
      {...listed}
      title="Groups"
      part="groups"
      label="Group or member"
      more={listed.contains !== '' && <MemberLink name={listed.contains} />}
      load={load}
      empty="There are no groups yet. The first append makes one."
      unmatched="No group has this in its name."
      columns={COLUMNS}
      row={(row) => <GroupRow key={row.group} row={row} />}
    />
  )
}

const COLUMNS = {
  ...{ Group: '', 'Newest item': '', Appended: 'number' },
  ...{ Capacity: 'number wide', Mode: 'wide', Expiry: 'wide' },
}

function GroupRow({ row }: { row: GroupWithNewest }) {
  return (
    <tr>
      <th scope="row">
        <NameLink to={['groups', row.group]}>{row.group}</NameLink>
      </th>
      <td class="newest">{row.newest === null ? <span class="muted">none</span> : <Newest item={row.newest} />}</td>
      <Cell kind="number">{row.totalAppended}</Cell>
      <Cell kind="number wide">{row.capacity}</Cell>
      <td class="wide">{row.mode === 'history' ? row.mode : <Badge>{row.mode}</Badge>}</td>
      <td class="wide muted">{row.ttlSeconds === null ? 'never' : exactDuration(row.ttlSeconds)}</td>
    </tr>
  )
}

function Newest({ item }: { item: Item }) {
  return (
    <>
      {item.member !== null && (
        <>
          <Name>{item.member}</Name>{' '}
        </>
      )}
      <span class="muted">
        <Time at={item.createdAt} />
      </span>
    </>
  )
}

/** A member's name is not looked for: it is opened. */
function MemberLink({ name }: { name: string }) {
  return (
    <p>
      <a href={link(['members', name])}>
        Items of the member <Name>{name}</Name>
      </a>
    </p>
  )
}

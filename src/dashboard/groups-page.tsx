/** The groups, by name, each with its newest item; and the form that opens the page of a member. */

import { useState } from 'preact/hooks'
import * as operations from '../client/operations'
import type { Group, Item } from '../shared/group-types'
import { goTo } from './address'
import { ask, type pageQuery } from './api'
import { submitting, textInput } from './form'
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
      more={<MemberForm />}
      load={load}
      empty="There are no groups yet. The first append makes one."
      unmatched="No group begins with this."
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
      <td class="wide">{row.mode === 'distinct' ? <Badge>distinct</Badge> : 'history'}</td>
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

const LABEL = 'A member, by the whole name'

export function MemberForm() {
  const [member, setMember] = useState('')
  return (
    <form class="member" onSubmit={submitting(() => goTo(['members', member]))}>
      <label>
        <span class="hidden">{LABEL}</span>
        <input required placeholder={LABEL} {...textInput(member, setMember)} />
      </label>
      <button type="submit">Open</button>
    </form>
  )
}

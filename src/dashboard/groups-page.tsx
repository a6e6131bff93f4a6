/** The groups, by name, each with its newest item; and the form that opens the page of a member. */

import { useState } from 'preact/hooks'
import type { Group, Item } from '../client/wire'
import { goTo, link } from './address'
import { ask, pageQuery } from './api'
import { type Listed, ListPage } from './list-page'
import { Badge, Head, Name, Num } from './parts'
import { exactDuration, Time } from './time'

interface GroupWithNewest extends Group {
  newest: Item | null
}

async function load({ prefix, after, signal }: Listed & { signal: AbortSignal }) {
  const { groups, nextAfter } = await ask('listGroups', { query: pageQuery(after, prefix) }, signal)
  const query = { group: groups.map(({ group }) => group), limit: 1, payloads: 'none' } as const
  const pages = groups.length === 0 ? [] : (await ask('recentItemsOfMany', { query }, signal)).groups
  const rows: GroupWithNewest[] = groups.map((group, i) => ({ ...group, newest: pages[i]?.items[0] ?? null }))
  return { rows, nextAfter }
}

export function GroupsPage(listed: Listed) {
  return (
    <ListPage
      {...listed}
      title="Groups"
      part="groups"
      beside={<a href={link(['policies'])}>Policies</a>}
      more={<MemberForm />}
      load={load}
      empty="There are no groups yet. The first append makes one."
      unmatched="No group begins with this."
      columns={COLUMNS}
      row={(row) => <GroupRow key={row.group} row={row} />}
    />
  )
}

const COLUMNS = (
  <>
    <Head>Group</Head>
    <Head>Newest item</Head>
    <Head kind="number">Appended</Head>
    <Head kind="number wide">Capacity</Head>
    <Head kind="wide">Mode</Head>
    <Head kind="wide">Expiry</Head>
  </>
)

function GroupRow({ row }: { row: GroupWithNewest }) {
  return (
    <tr>
      <th scope="row">
        <a href={link(['groups', row.group])}>
          <Name>{row.group}</Name>
        </a>
      </th>
      <td class="newest">{row.newest === null ? <span class="muted">none</span> : <Newest item={row.newest} />}</td>
      <td class="number">
        <Num value={row.totalAppended} />
      </td>
      <td class="number wide">
        <Num value={row.capacity} />
      </td>
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
  const open = (event: Event) => {
    event.preventDefault()
    goTo(['members', member])
  }
  return (
    <form class="member" onSubmit={open}>
      <label>
        <span class="hidden">{LABEL}</span>
        <input
          required
          placeholder={LABEL}
          value={member}
          autocomplete="off"
          spellcheck={false}
          onInput={(event) => setMember(event.currentTarget.value)}
        />
      </label>
      <button type="submit">Open</button>
    </form>
  )
}

/** The groups, by name, each with its newest item, and the way to a member. */
import * as operations from '../client/operations'
import type { Group, Item } from '../shared/group-types'
import { link, type PageQuery } from './address'
import { ask, type pageQuery } from './api'
import { NewGroup } from './group-settings'
import { ListPage } from './list-page'
import { Name, NameLink } from './parts'
import { SETTING_COLUMNS } from './settings'
import type { Column } from './table'
import { Time } from './time'

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

export function GroupsPage({ listed }: { listed: PageQuery }) {
  return (
    <ListPage
      listed={listed}
      part="groups"
      name="group"
      make={<NewGroup />}
      label="Group or member"
      more={listed.contains !== null && <MemberLink name={listed.contains} />}
      load={load}
      empty="There are no groups yet. The first append makes one."
      columns={COLUMNS}
    />
  )
}

const COLUMNS: readonly Column<GroupWithNewest>[] = [
  { title: 'Group', isName: true, cell: ({ group }) => <NameLink to={['groups', group]}>{group}</NameLink> },
  { title: 'Newest item', kind: 'newest', cell: ({ newest }) => newest && <Newest item={newest} /> },
  { title: 'Appended', kind: 'number', cell: ({ totalAppended }) => totalAppended },
  ...SETTING_COLUMNS.map((column) => ({ ...column, kind: `${column.kind ?? ''} wide` })),
]

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

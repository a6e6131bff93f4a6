/** The groups, by name, each with its newest item, and the way to a member. */
import * as operations from '../client/operations'
import type { Group, Item } from '../shared/group-types'
import { link, type PageQuery } from './address'
import { ask, type pageQuery } from './api'
import { ListPage } from './list-page'
import { Name, NameLink, sentence } from './parts'
import { GROUP_FIELDS, SETTING_COLUMNS } from './settings'
import type { Column } from './table'
import { NewButton } from './thing'
import { Time } from './time'

type GroupWithNewest = Group & { newest: Item | null }

async function load(query: ReturnType<typeof pageQuery>, signal: AbortSignal) {
  const { groups, nextAfter } = await ask(operations.listGroups, { query }, signal)
  const newest = { group: groups.map(({ group }) => group), limit: 1, payloads: 'none' } as const
  const pages = groups.length === 0 ? [] : (await ask(operations.recentItemsOfMany, { query: newest }, signal)).groups
  const rows: GroupWithNewest[] = groups.map((group, i) => ({ ...group, newest: pages[i]?.items[0] ?? null }))
  return { groups: rows, nextAfter }
}

export function GroupsPage({ listed }: { listed: PageQuery }) {
  const make = (
    <NewButton
      part="groups"
      fields={GROUP_FIELDS}
      save={(group, body, headers) => ask(operations.putGroup, { path: { group }, body, headers })}
      said="The group is made."
    />
  )
  const member = listed.contains
  return (
    <ListPage
      listed={listed}
      part="groups"
      make={make}
      label="Group or member"
      more={
        // A member's name is not looked for: it is opened.
        member !== null && (
          <p>
            <a href={link(['members', member])}>{sentence`Items of the member ${<Name>{member}</Name>}`}</a>
          </p>
        )
      }
      load={load}
      empty="There are no groups yet. The first append makes one."
      columns={COLUMNS}
    />
  )
}

const COLUMNS: readonly Column<GroupWithNewest>[] = [
  { title: 'Group', isName: true, cell: ({ group }) => <NameLink to={['groups', group]}>{group}</NameLink> },
  {
    ...{ title: 'Newest item', kind: 'newest' },
    cell: ({ newest }) =>
      newest && (
        <>
          {newest.member !== null && <Name>{newest.member}</Name>}{' '}
          <span class="muted">
            <Time at={newest.createdAt} />
          </span>
        </>
      ),
  },
  { title: 'Appended', kind: 'number', cell: ({ totalAppended }) => totalAppended },
  ...SETTING_COLUMNS.map((column) => ({ ...column, kind: `${column.kind ?? ''} wide` })),
]

/** A table of items of one group, or of one member. */
import * as operations from '../client/operations'
import type { Item } from '../shared/group-types'
import { Act } from './action'
import { ask } from './api'
import { counted, Name, NameLink, Num, sentence } from './parts'
import { type Column, Table } from './table'
import { Time } from './time'
import { Value } from './value'

interface ItemsProps {
  items: readonly Item[]
  /** The property that all of the items share, and the table leaves out. */
  of: 'group' | 'member'
  arrived?: ReadonlySet<bigint>
  /** In place of a table without items. */
  empty: string
}

export function Items({ items, of, arrived, empty }: ItemsProps) {
  return (
    <Table
      class="items"
      columns={of === 'group' ? GROUP_COLUMNS : MEMBER_COLUMNS}
      rows={items}
      empty={empty}
      keyOf={({ group, id }) => `${group}/${id}`}
      attributes={({ id }) => ({ class: arrived?.has(id) ? 'fresh' : undefined, 'data-id': String(id) })}
    />
  )
}

/** In place of changes under a reader: how many items wait, and the button that shows them. */
export function Held({ newer, gone = 0, onShow }: { newer: number; gone?: number; onShow(): void }) {
  return (
    <div class="held">
      <button type="button" onClick={onShow}>
        {newer > 0 ? sentence`${newer} new` : 'Show the items of now'}
      </button>
      {gone > 0 && <span class="muted">{counted(gone, 'item')} below left the group.</span>}
    </div>
  )
}

const NONE = <span class="muted">none</span>
const ID: Column<Item> = { title: 'Id', kind: 'number muted wide', cell: ({ id }) => <Num value={id} /> }
const REST: readonly Column<Item>[] = [
  { title: 'Payload', kind: 'what', cell: (item) => <Content item={item} /> },
  { title: 'When', kind: 'number', cell: ({ createdAt }) => createdAt },
]
const GROUP_COLUMNS: readonly Column<Item>[] = [
  ID,
  {
    title: 'Member',
    kind: 'who',
    cell: ({ member }) => (member === null ? NONE : <NameLink to={['members', member]}>{member}</NameLink>),
  },
  ...REST,
  { title: 'Actions', isSilent: true, kind: 'act', cell: (item) => <Remove item={item} /> },
]
const MEMBER_COLUMNS: readonly Column<Item>[] = [
  ID,
  { title: 'Group', kind: 'who', cell: ({ group }) => <NameLink to={['groups', group]}>{group}</NameLink> },
  ...REST,
]

function Content({ item: { payload, score, occurredAt, eventId } }: { item: Item }) {
  return (
    <>
      {payload === null ? NONE : <Value value={payload} />}
      {score !== null && <div class="muted small">score {score}</div>}
      {occurredAt !== null && (
        <div class="muted small">
          occurred <Time at={occurredAt} both />
        </div>
      )}
      {eventId !== null && (
        <div class="muted small">
          event id <Name>{eventId}</Name>
        </div>
      )}
    </>
  )
}

function Remove({ item: { group, id, member } }: { item: Item }) {
  return (
    <Act
      {...({ label: 'Remove', name: `Remove item ${id}`, class: 'plain', scope: 'append' } as const)}
      title={`Remove item ${id}?`}
      action="Remove"
      isDanger
      work={() => ask(operations.removeItem, { path: { group, id } })}
      said={`Item ${id} is removed.`}
    >
      <p>
        The item {member !== null && 'of '}
        {member !== null && <Name>{member}</Name>} is removed from <Name>{group}</Name> for good.
      </p>
    </Act>
  )
}

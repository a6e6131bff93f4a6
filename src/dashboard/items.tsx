/** A table of items of one group, or of one member. */
import type { Item } from '../shared/group-types'
import { RemoveItem } from './group-actions'
import { Cell, Name, NameLink, Table } from './parts'
import { Time } from './time'
import { Value } from './value'

interface ItemsProps {
  items: readonly Item[]
  /** The property that all of the items share, and the table leaves out. */
  of: 'group' | 'member'
  arrived?: ReadonlySet<bigint>
}

export function Items({ items, of, arrived }: ItemsProps) {
  return (
    <Table
      class="items"
      columns={{ Id: 'number wide', [of === 'group' ? 'Member' : 'Group']: '', Payload: '', When: 'when' }}
      beside={of === 'group' && <td />}
    >
      {items.map((item) => (
        <Row key={`${item.group}/${item.id}`} item={item} of={of} isFresh={arrived?.has(item.id) ?? false} />
      ))}
    </Table>
  )
}

function Row({ item, of, isFresh }: { item: Item; of: 'group' | 'member'; isFresh: boolean }) {
  const { member, group } = item
  return (
    <tr class={isFresh ? 'fresh' : undefined} data-id={String(item.id)}>
      <Cell kind="number muted wide">{item.id}</Cell>
      <td class="who">
        {of === 'member' && <NameLink to={['groups', group]}>{group}</NameLink>}
        {of === 'group' && member === null && <span class="muted">none</span>}
        {of === 'group' && member !== null && <NameLink to={['members', member]}>{member}</NameLink>}
      </td>
      <td class="what">
        {item.payload === null ? <span class="muted">none</span> : <Value value={item.payload} />}
        {item.score !== null && <div class="muted small">score {item.score}</div>}
        {item.occurredAt !== null && (
          <div class="muted small">
            occurred <Time at={item.occurredAt} both />
          </div>
        )}
        {item.eventId !== null && (
          <div class="muted small">
            event id <Name>{item.eventId}</Name>
          </div>
        )}
      </td>
      <td class="when">
        <Time at={item.createdAt} />
      </td>
      {of === 'group' && (
        <td class="act">
          <RemoveItem item={item} />
        </td>
      )}
    </tr>
  )
}

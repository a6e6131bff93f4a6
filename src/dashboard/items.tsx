/** A table of items of one group, or of one member. */
import type { Item } from '../client/wire'
import { link } from './address'
import { Head, Name, Num } from './parts'
import { Time } from './time'
import { Value } from './value'

interface ItemsProps {
  items: readonly Item[]
  /** What all of the items have in common, and the table leaves out. */
  of: 'group' | 'member'
  arrived?: ReadonlySet<bigint>
}

export function Items({ items, of, arrived }: ItemsProps) {
  return (
    <div class="panel">
      <table class="items">
        <thead>
          <tr>
            <Head kind="number wide">Id</Head>
            <Head>{of === 'group' ? 'Member' : 'Group'}</Head>
            <Head>Payload</Head>
            <Head kind="when">When</Head>
          </tr>
        </thead>
        <tbody>
          {items.map((item) => (
            <Row key={`${item.group}/${item.id}`} item={item} of={of} isFresh={arrived?.has(item.id) ?? false} />
          ))}
        </tbody>
      </table>
    </div>
  )
}

function Row({ item, of, isFresh }: { item: Item; of: 'group' | 'member'; isFresh: boolean }) {
  const { member, group } = item
  return (
    <tr class={isFresh ? 'fresh' : undefined} data-id={String(item.id)}>
      <td class="number muted wide">
        <Num value={item.id} />
      </td>
      <td class="who">
        {of === 'member' && (
          <a href={link(['groups', group])}>
            <Name>{group}</Name>
          </a>
        )}
        {of === 'group' && member === null && <span class="muted">none</span>}
        {of === 'group' && member !== null && (
          <a href={link(['members', member])}>
            <Name>{member}</Name>
          </a>
        )}
      </td>
      <td class="what">
        {item.payload === null ? <span class="muted">none</span> : <Value value={item.payload} />}
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
        <Time at={item.createdAt} both />
      </td>
    </tr>
  )
}

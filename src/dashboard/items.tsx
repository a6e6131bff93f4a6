/** Items as a list: of a group, or of a member. */
import { Num } from './numbers'
import { Head, Name } from './parts'
import { link } from './place'
import { Time } from './time'
import type { Item } from './types'
import { Value } from './value'

interface ItemsProps {
  items: readonly Item[]
  /** What the list is of already. */
  of: 'group' | 'member'
  arrived?: ReadonlySet<string>
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
            <Row
              key={of === 'group' ? item.id : `${item.group}/${item.id}`}
              item={item}
              of={of}
              isFresh={arrived?.has(item.id) ?? false}
            />
          ))}
        </tbody>
      </table>
    </div>
  )
}

function Row({ item, of, isFresh }: { item: Item; of: 'group' | 'member'; isFresh: boolean }) {
  const { member, group } = item
  return (
    <tr class={isFresh ? 'fresh' : undefined} data-id={item.id}>
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

/** The buttons that remove an item, clear a group, delete it, and erase what a member has in all groups. */
import * as operations from '../client/operations'
import type { Item } from '../shared/group-types'
import { Act } from './action'
import { ask } from './api'
import { counted, Name } from './parts'
import { DeleteButton } from './thing'

export function ClearGroup({ group }: { group: string }) {
  return (
    <Act
      label="Clear …"
      scope="append"
      title="Clear the group?"
      action="Remove all items"
      isDanger
      mustType={group}
      work={() => ask(operations.clearGroup, { path: { group } })}
      said={({ deleted }) => `${counted(deleted, 'item')} removed.`}
    >
      <p>
        All items of <Name>{group}</Name> are removed for good. The group stays, and its ids go on.
      </p>
    </Act>
  )
}

export function DeleteGroup({ group }: { group: string }) {
  return (
    <DeleteButton part="groups" mustType={group} work={() => ask(operations.deleteGroup, { path: { group } })}>
      <p>
        <Name>{group}</Name> is deleted with its items and its own settings. The next append makes a new group, whose
        ids begin at 0.
      </p>
    </DeleteButton>
  )
}

export function RemoveItem({ item: { group, id, member } }: { item: Item }) {
  const about = { label: 'Remove', name: `Remove item ${id}`, class: 'plain', scope: 'append' } as const
  return (
    <Act
      {...about}
      title={`Remove item ${id}?`}
      action="Remove"
      isDanger
      work={() => ask(operations.removeItem, { path: { group, id } })}
      said={`Item ${id} is removed.`}
    >
      <p>
        The item{' '}
        {member !== null && (
          <>
            of <Name>{member}</Name>{' '}
          </>
        )}
        is removed from <Name>{group}</Name> for good.
      </p>
    </Act>
  )
}

const COUNTED_AT_ONCE = 1000
const MAX_COUNTED = 10_000

/** How many items and groups a member has; `isMore`: at least. */
async function countItems(member: string, signal: AbortSignal) {
  const groups = new Set<string>()
  let items = 0
  for (let before: string | undefined; ; ) {
    const query = { limit: COUNTED_AT_ONCE, payloads: 'none', before } as const
    const page = await ask(operations.memberItems, { path: { member }, query }, signal)
    for (const { group } of page.items) groups.add(group)
    items += page.items.length
    if (page.nextBefore === null || items >= MAX_COUNTED) {
      return { items, groups: groups.size, isMore: page.nextBefore !== null }
    }
    before = page.nextBefore
  }
}

type Counted = Awaited<ReturnType<typeof countItems>>

const amountOf = ({ items, isMore }: Counted) => `${isMore ? 'more than ' : ''}${counted(items, 'item')}`

export function EraseMember({ member, onDone }: { member: string; onDone(): void }) {
  return (
    <Act
      label="Erase …"
      look={(signal) => countItems(member, signal)}
      title="Erase the member?"
      action={(has) => (has === null || has.items === 0 ? 'Erase' : `Erase ${amountOf(has)}`)}
      isDanger
      mustType={member}
      work={() => ask(operations.eraseMember, { path: { member }, query: {} })}
      said={({ deleted }) => `${counted(deleted, 'item')} erased.`}
      onDone={onDone}
    >
      {(has) => (
        <p>
          <Name>{member}</Name>{' '}
          {has.items === 0
            ? 'has no items in any window.'
            : `has ${amountOf(has)} in ${has.isMore ? 'at least ' : ''}${counted(has.groups, 'group')}. They are erased for good.`}
        </p>
      )}
    </Act>
  )
}

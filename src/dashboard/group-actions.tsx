/** The buttons that remove an item, clear a group, delete it, and erase what a member has in all groups. */
import * as operations from '../client/operations'
import type { Item } from '../shared/group-types'
import { Act } from './action'
import { goTo } from './address'
import { ask } from './api'
import { Ask, counted, Loaded, Name } from './parts'
import { usePolled } from './polled'

export function ClearGroup({ group }: { group: string }) {
  const clear = async () => {
    const { deleted } = await ask(operations.clearGroup, { path: { group } })
    return `${counted(deleted, 'item')} removed.`
  }
  return (
    <Act label="Clear …" scope="append" work={clear}>
      {(asking) => (
        <Ask title="Clear the group?" action="Remove all items" isDanger mustType={group} {...asking}>
          <p>
            All items of <Name>{group}</Name> are removed for good. The group stays, and its ids go on.
          </p>
        </Ask>
      )}
    </Act>
  )
}

export function DeleteGroup({ group }: { group: string }) {
  const drop = async () => {
    await ask(operations.deleteGroup, { path: { group } })
    return 'The group is deleted.'
  }
  return (
    <Act label="Delete …" work={drop} onDone={() => goTo(['groups'])}>
      {(asking) => (
        <Ask title="Delete the group?" action="Delete" isDanger mustType={group} {...asking}>
          <p>
            <Name>{group}</Name> is deleted with its items and its own settings. The next append makes a new group,
            whose ids begin at 0.
          </p>
        </Ask>
      )}
    </Act>
  )
}

export function RemoveItem({ item: { group, id, member } }: { item: Item }) {
  const remove = async () => {
    await ask(operations.removeItem, { path: { group, id } })
    return `Item ${id} is removed.`
  }
  return (
    <Act label="Remove" name={`Remove item ${id}`} class="plain" scope="append" work={remove}>
      {(asking) => (
        <Ask title={`Remove item ${id}?`} action="Remove" isDanger {...asking}>
          <p>
            The item{' '}
            {member !== null && (
              <>
                of <Name>{member}</Name>{' '}
              </>
            )}
            is removed from <Name>{group}</Name> for good.
          </p>
        </Ask>
      )}
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

function EraseQuestion({ member, ...asking }: { member: string; onYes(): void; onClose(): void }) {
  const counting = usePolled((signal) => countItems(member, signal), member, null)
  const { items, groups, isMore } = counting.data ?? { items: 0, groups: 0, isMore: false }
  const what = `${isMore ? 'more than ' : ''}${counted(items, 'item')}`
  return (
    <Ask
      title="Erase the member?"
      action={items === 0 ? 'Erase' : `Erase ${what}`}
      isDanger
      isReady={counting.data !== null}
      mustType={member}
      {...asking}
    >
      <Loaded of={counting}>
        {items === 0 ? (
          <p>
            <Name>{member}</Name> has no items in any window.
          </p>
        ) : (
          <p>
            <Name>{member}</Name> has {what} in {isMore && 'at least '}
            {counted(groups, 'group')}. They are erased for good.
          </p>
        )}
      </Loaded>
    </Ask>
  )
}

export function EraseMember({ member, onDone }: { member: string; onDone(): void }) {
  const erase = async () => {
    const { deleted } = await ask(operations.eraseMember, { path: { member }, query: {} })
    return `${counted(deleted, 'item')} erased.`
  }
  return (
    <Act label="Erase …" work={erase} onDone={onDone}>
      {(asking) => <EraseQuestion member={member} {...asking} />}
    </Act>
  )
}

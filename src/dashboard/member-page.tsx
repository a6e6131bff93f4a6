/** The items of one member in all groups, and the button that erases them. */

import { useRef } from 'preact/hooks'
import * as operations from '../client/operations'
import { everyOf } from '../client/transport'
import type { MemberItems } from '../shared/group-types'
import { Act } from './action'
import { ask, PAGE_LENGTH } from './api'
import { Held, Items } from './items'
import { Actions } from './may'
import { counted, LoadState, Name, PageHead, Pager, sentence } from './parts'
import { SELDOM_MS, usePolled } from './polled'

interface Loaded {
  before: string | null
  page: MemberItems
  /** The member has other items now; so many of the first ones are new. */
  newer: number | null
}

/** A page that is being read stays as it is, and says that there are others. Payloads are fetched once. */
async function load(member: string, before: string | null, last: Loaded | null, signal: AbortSignal): Promise<Loaded> {
  const [path, query] = [{ member }, { limit: PAGE_LENGTH, before: before ?? undefined }]
  if (last?.before !== before) {
    return { before, page: await ask(operations.memberItems, { path, query }, signal), newer: null }
  }
  const bare = await ask(operations.memberItems, { path, query: { ...query, payloads: 'none' } }, signal)
  const [now, known] = [keysOf(bare), keysOf(last.page)]
  return { ...last, newer: String(now) === String(known) ? null : now.filter((key) => !known.includes(key)).length }
}

/** With the time, because a group that was deleted and appended to again has other items under the same ids. */
const keysOf = ({ items }: MemberItems) =>
  items.map(({ group, id, createdAt }) => `${createdAt.getTime()} ${id} ${group}`)

export function MemberPage({ member, before }: { member: string; before: string | null }) {
  const last = useRef<Loaded | null>(null)
  const loadAgain = async (signal: AbortSignal) => {
    last.current = await load(member, before, last.current, signal)
    return last.current
  }
  const { data, error, refresh } = usePolled(loadAgain, String(before), SELDOM_MS)
  const renew = () => {
    last.current = null
    refresh()
  }
  return (
    <>
      <PageHead over="Member" title={<Name>{member}</Name>}>
        <Actions>
          <Erase member={member} onDone={renew} />
        </Actions>
      </PageHead>
      <LoadState data={data} error={error} />
      {data !== null && data.newer !== null && <Held newer={data.newer} onShow={renew} />}
      {data && <Items items={data.page.items} of="member" empty="This member has no items in any window." />}
      {data && <Pager parts={['members', member]} query={{ before }} by="before" next={data.page.nextBefore} />}
    </>
  )
}

const MAX_COUNTED = 10_000

/** How many items and groups a member has; `least` is `at least ` where there may be more. */
async function countItems(member: string, signal: AbortSignal) {
  const read = (query: object) => ask(operations.memberItems, { path: { member }, query }, signal)
  const all = everyOf(read, 'items', { limit: 1000, payloads: 'none' }, ['before', 'nextBefore'])
  const groups = new Set<string>()
  let items = 0
  for await (const { group } of all) {
    groups.add(group)
    if (++items === MAX_COUNTED) break
  }
  return { items, groups: groups.size, least: items === MAX_COUNTED ? 'at least ' : '' }
}

function Erase({ member, onDone }: { member: string; onDone(): void }) {
  return (
    <Act
      label="Erase …"
      look={(signal) => countItems(member, signal)}
      title="Erase the member?"
      action={(has) => (has?.items ? sentence`Erase ${has.least}${counted(has.items, 'item')}` : 'Erase')}
      isDanger
      mustType={member}
      work={() => ask(operations.eraseMember, { path: { member }, query: {} })}
      said={({ deleted }) => sentence`${counted(deleted, 'item')} erased.`}
      onDone={onDone}
    >
      {({ items, groups, least }) => (
        <p>
          <Name>{member}</Name>{' '}
          {items === 0
            ? 'has no items in any window.'
            : sentence`has ${least}${counted(items, 'item')} in ${least}${counted(groups, 'group')}. They are erased for good.`}
        </p>
      )}
    </Act>
  )
}

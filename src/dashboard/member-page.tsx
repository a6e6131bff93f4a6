/** The items of one member in all groups. */

import { useRef } from 'preact/hooks'
import * as operations from '../client/operations'
import type { MemberItems } from '../shared/group-types'
import { ask, PAGE_LENGTH } from './api'
import { EraseMember } from './group-actions'
import { Items } from './items'
import { Actions } from './may'
import { LoadState, Name, PageHead, Pager } from './parts'
import { usePolled } from './polled'

const EVERY_MS = 5000

interface LoadedPage {
  before: string | null
  page: MemberItems
}

/** Items do not change: payloads are fetched again only if the page has other items than before. */
async function load(
  member: string,
  before: string | null,
  last: LoadedPage | null,
  signal: AbortSignal,
): Promise<LoadedPage> {
  const [path, query] = [{ member }, { limit: PAGE_LENGTH, before: before ?? undefined }]
  if (last !== null && last.before === before) {
    const limit = Math.max(1, last.page.items.length)
    const bare = await ask(operations.memberItems, { path, query: { ...query, limit, payloads: 'none' } }, signal)
    if (keysOf(bare) === keysOf(last.page)) return last
  }
  return { before, page: await ask(operations.memberItems, { path, query }, signal) }
}

/** With the time, because a group that was deleted and appended to again has other items under the same ids. */
function keysOf({ items, nextBefore }: MemberItems): string {
  return JSON.stringify([nextBefore === null, items.map(({ group, id, createdAt }) => [group, String(id), createdAt])])
}

export function MemberPage({ member, before }: { member: string; before: string | null }) {
  const last = useRef<LoadedPage | null>(null)
  const loadAgain = async (signal: AbortSignal) => {
    last.current = await load(member, before, last.current, signal)
    return last.current.page
  }
  const { data, error, refresh } = usePolled(loadAgain, String(before), EVERY_MS)
  return (
    <>
      <PageHead over="Member" title={<Name>{member}</Name>}>
        <Actions>
          <EraseMember member={member} onDone={refresh} />
        </Actions>
      </PageHead>
      <LoadState data={data} error={error} />
      {data && <Items items={data.items} of="member" empty="This member has no items in any window." />}
      {data !== null && <Pager parts={['members', member]} query={{ before }} by="before" next={data.nextBefore} />}
    </>
  )
}

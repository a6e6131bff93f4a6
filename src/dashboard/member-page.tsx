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
import { session } from './session'

const EVERY_MS = 5000

interface Loaded {
  /** The place, and the API key that saw it. */
  seen: string
  page: MemberItems
  /** The member has other items now; so many of the first ones are new. */
  newer: number | null
}

/** A page that is being read stays as it is, and says that there are others. Payloads are fetched once. */
async function load(member: string, before: string | null, last: Loaded | null, signal: AbortSignal): Promise<Loaded> {
  const [path, query] = [{ member }, { limit: PAGE_LENGTH, before: before ?? undefined }]
  const seen = JSON.stringify([before, session.key])
  if (last?.seen !== seen) {
    return { seen, page: await ask(operations.memberItems, { path, query }, signal), newer: null }
  }
  const limit = Math.max(1, last.page.items.length)
  const bare = await ask(operations.memberItems, { path, query: { ...query, limit, payloads: 'none' } }, signal)
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
  const { data, error, refresh } = usePolled(loadAgain, String(before), EVERY_MS)
  const renew = () => {
    last.current = null
    refresh()
  }
  return (
    <>
      <PageHead over="Member" title={<Name>{member}</Name>}>
        <Actions>
          <EraseMember member={member} onDone={renew} />
        </Actions>
      </PageHead>
      <LoadState data={data} error={error} />
      {data !== null && data.newer !== null && (
        <div class="held">
          <button type="button" onClick={renew}>
            {data.newer > 0 ? `${data.newer} new` : 'Show the items of now'}
          </button>
        </div>
      )}
      {data && <Items items={data.page.items} of="member" empty="This member has no items in any window." />}
      {data && <Pager parts={['members', member]} query={{ before }} by="before" next={data.page.nextBefore} />}
    </>
  )
}

/** What one member did in all groups. */
import { useRef } from 'preact/hooks'
import { api } from './api'
import { Items } from './items'
import { Loading, Name, Pager, Problem, Stale } from './parts'
import { usePolled } from './polled'
import type { MemberItems } from './types'

const EVERY_MS = 5000

interface Last {
  after: string | null
  page: MemberItems
}

/** Items do not change: payloads are fetched again only when the page has other items than before. */
async function itemsAfter(member: string, after: string | null, last: Last | null, signal: AbortSignal): Promise<Last> {
  if (last !== null && last.after === after) {
    const limit = Math.max(1, last.page.items.length)
    const bare = await api.memberItems(member, { after, limit, payloads: 'none', signal })
    if (keysOf(bare) === keysOf(last.page)) return last
  }
  return { after, page: await api.memberItems(member, { after, signal }) }
}

/** A group that was made anew has other items under the same ids. */
function keysOf({ items, nextAfter }: MemberItems): string {
  return JSON.stringify([nextAfter === null, items.map(({ group, id, createdAt }) => [group, id, createdAt])])
}

export function MemberPage({ member, after }: { member: string; after: string | null }) {
  const last = useRef<Last | null>(null)
  const load = async (signal: AbortSignal) => {
    last.current = await itemsAfter(member, after, last.current, signal)
    return last.current.page
  }
  const { data, error } = usePolled(load, String(after), EVERY_MS)
  return (
    <>
      <p class="over">Member</p>
      <h1 tabIndex={-1}>
        <Name>{member}</Name>
      </h1>
      {data === null && (error === null ? <Loading /> : <Problem error={error} />)}
      {data !== null && <Stale error={error} />}
      {data?.items.length === 0 && <p class="empty panel">This member has no items in any window.</p>}
      {data !== null && data.items.length > 0 && <Items items={data.items} of="member" />}
      {data !== null && <Pager parts={['members', member]} query={{ after }} nextAfter={data.nextAfter} />}
    </>
  )
}

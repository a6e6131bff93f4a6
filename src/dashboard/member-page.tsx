/** What one member did in all groups. */
import { api } from './api'
import { Items } from './items'
import { Loading, Name, Pager, Problem, Stale } from './parts'
import { usePolled } from './polled'

const EVERY_MS = 5000

export function MemberPage({ member, after }: { member: string; after: string | null }) {
  const { data, error } = usePolled((signal) => api.memberItems(member, { after, signal }), String(after), EVERY_MS)
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

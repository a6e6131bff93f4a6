/** The groups, by name, each with its newest item. */
import { api, toApiError } from './api'
import { grouped } from './numbers'
import { Badge, Loading, Name, Pager, Problem, Search, Stale } from './parts'
import { link } from './place'
import { usePolled } from './polled'
import { duration, Time } from './time'
import type { Group, Item } from './types'

const EVERY_MS = 3000
const PARTS = ['groups']

interface Row extends Group {
  newest: Item | null
}

async function load(prefix: string, after: string | null, signal: AbortSignal) {
  const { groups, nextAfter } = await api.groups({ prefix, after, signal })
  const names = groups.map(({ group }) => group)
  const pages = names.length === 0 ? [] : (await api.newest(names, signal)).groups
  const rows: Row[] = groups.map((group, i) => ({ ...group, newest: pages[i]?.items[0] ?? null }))
  return { rows, nextAfter }
}

export function GroupsPage({ prefix, after }: { prefix: string; after: string | null }) {
  const key = JSON.stringify([prefix, after])
  const { data, error } = usePolled((signal) => load(prefix, after, signal), key, EVERY_MS)
  return (
    <>
      <div class="head">
        <h1 tabIndex={-1}>Groups</h1>
        <Search parts={PARTS} value={prefix} label="Names that begin with …" />
      </div>
      {data === null && (error === null ? <Loading /> : <Problem error={toApiError(error)} />)}
      {data !== null && <Stale error={error} />}
      {data !== null && <Groups rows={data.rows} prefix={prefix} />}
      {data !== null && <Pager parts={PARTS} query={{ prefix, after }} nextAfter={data.nextAfter} />}
    </>
  )
}

function Groups({ rows, prefix }: { rows: readonly Row[]; prefix: string }) {
  if (rows.length === 0) {
    return (
      <p class="empty panel">
        {prefix === '' ? 'There are no groups yet. The first append makes one.' : 'No group begins with this.'}
      </p>
    )
  }
  return (
    <div class="panel">
      <table>
        <thead>
          <tr>
            <th scope="col">Group</th>
            <th scope="col">Newest item</th>
            <th scope="col" class="number">
              Total
            </th>
            <th scope="col" class="number wide">
              Capacity
            </th>
            <th scope="col" class="wide">
              Mode
            </th>
            <th scope="col" class="wide">
              Expiry
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={row.group}>
              <th scope="row">
                <a href={link(['groups', row.group])}>
                  <Name>{row.group}</Name>
                </a>
              </th>
              <td class="newest">
                {row.newest === null ? <span class="muted">none</span> : <Newest item={row.newest} />}
              </td>
              <td class="number">{grouped(row.total)}</td>
              <td class="number wide">{grouped(row.capacity)}</td>
              <td class="wide">{row.mode === 'distinct' ? <Badge>distinct</Badge> : 'history'}</td>
              <td class="wide muted">{row.ttlSeconds === null ? 'never' : duration(row.ttlSeconds)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

function Newest({ item }: { item: Item }) {
  return (
    <>
      {item.member !== null && (
        <>
          <Name>{item.member}</Name>{' '}
        </>
      )}
      <span class="muted">
        <Time at={item.createdAt} />
      </span>
    </>
  )
}

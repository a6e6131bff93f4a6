/** The common part of the lists of groups, policies, queues and feeds: a search by the beginning of a name, and pages. */
import type { ComponentChildren } from 'preact'
import { LoadState, Pager, Search } from './parts'
import { usePolled } from './polled'

const EVERY_MS = 3000

export interface Listed {
  prefix: string
  after: string | null
}

interface ListRows<T> {
  rows: readonly T[]
  nextAfter: string | null
}

interface ListPageProps<T> extends Listed {
  title: string
  /** The first part of the address of this page. */
  part: string
  load: (options: Listed & { signal: AbortSignal }) => Promise<ListRows<T>>
  /** The text if there are none at all, and if none begins with what was typed. */
  empty: string
  unmatched?: string
  /** Above the heading. */
  over?: ComponentChildren
  /** Beside the heading. */
  beside?: ComponentChildren
  /** Below the heading, even before the list is loaded. */
  more?: ComponentChildren
  /** Above the list. */
  above?: ComponentChildren
  isSearched?: boolean
  columns: ComponentChildren
  row: (row: T) => ComponentChildren
}

export function ListPage<T>(props: ListPageProps<T>) {
  const { prefix, after, title, part, load, empty, unmatched, columns, row } = props
  const key = JSON.stringify([prefix, after])
  const { data, error } = usePolled((signal) => load({ prefix, after, signal }), key, EVERY_MS)
  const none = data?.rows.length === 0
  return (
    <>
      {props.over && <p class="over">{props.over}</p>}
      <div class="head">
        <h1 tabIndex={-1}>{title}</h1>
        {props.beside}
        {props.isSearched !== false && <Search parts={[part]} value={prefix} label="Names that begin with …" />}
      </div>
      {props.more}
      <LoadState data={data} error={error} />
      {data !== null && props.above}
      {none && <p class="empty panel">{prefix === '' ? empty : unmatched}</p>}
      {data !== null && !none && (
        <div class="panel">
          <table>
            <thead>
              <tr>{columns}</tr>
            </thead>
            <tbody>{data.rows.map(row)}</tbody>
          </table>
        </div>
      )}
      {data !== null && <Pager parts={[part]} query={{ prefix, after }} next={data.nextAfter} />}
    </>
  )
}

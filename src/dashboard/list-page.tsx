/** The common part of the lists of groups, policies, queues and feeds: a search by the beginning of a name, and pages. */
import type { ComponentChildren } from 'preact'
import { pageQuery } from './api'
import { LoadState, PageHead, Pager, Search, Table } from './parts'
import { usePolled } from './polled'

const EVERY_MS = 3000

export interface Listed {
  prefix: string
  after: string | null
}

interface ListPageProps<Part extends string, T> extends Listed {
  title: string
  /** The first part of the address of this page, and the field of its data that has the rows. */
  part: Part
  load: (query: ReturnType<typeof pageQuery>, signal: AbortSignal) => Promise<Rows<Part, T>>
  /** The text if there are none at all, and if none begins with what was typed. */
  empty: string
  unmatched?: string
  over?: ComponentChildren
  beside?: ComponentChildren
  /** Below the heading, even before the list is loaded. */
  more?: ComponentChildren
  above?: ComponentChildren
  isSearched?: boolean
  columns: Readonly<Record<string, string>>
  row: (row: T) => ComponentChildren
}

type Rows<Part extends string, T> = { nextAfter: string | null } & Readonly<Record<Part, readonly T[]>>

export function ListPage<Part extends string, T>(props: ListPageProps<Part, T>) {
  const { prefix, after, title, part, load, empty, unmatched, columns, row } = props
  const key = JSON.stringify([prefix, after])
  const { data, error } = usePolled((signal) => load(pageQuery(after, prefix), signal), key, EVERY_MS)
  const rows = data?.[part] ?? []
  return (
    <>
      <PageHead over={props.over} title={title}>
        {props.beside}
        {props.isSearched !== false && <Search parts={[part]} value={prefix} label="Names that begin with …" />}
      </PageHead>
      {props.more}
      <LoadState data={data} error={error} />
      {data !== null && props.above}
      {data !== null && rows.length === 0 && <p class="empty panel">{prefix === '' ? empty : unmatched}</p>}
      {rows.length > 0 && <Table columns={columns}>{rows.map(row)}</Table>}
      {data !== null && <Pager parts={[part]} query={{ prefix, after }} next={data.nextAfter} />}
    </>
  )
}

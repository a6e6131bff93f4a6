/** The common part of the lists of groups, policies, queues and feeds: a search by any part of a name, and pages. */
import type { ComponentChildren } from 'preact'
import { link } from './address'
import { pageQuery } from './api'
import { useAccess } from './may'
import { LoadState, Name, PageHead, Pager, Search, Table } from './parts'
import { usePolled } from './polled'

const EVERY_MS = 3000

export interface Listed {
  prefix: string
  /** The text that the names contain. */
  contains: string
  after: string | null
}

interface ListPageProps<Part extends string, T> extends Listed {
  title: string
  /** The first part of the address of this page, and the field of its data that has the rows. */
  part: Part
  load: (query: ReturnType<typeof pageQuery>, signal: AbortSignal) => Promise<Rows<Part, T>>
  /** The text if there are none at all, and if none has what was typed. */
  empty: string
  unmatched?: string
  beside?: ComponentChildren
  /** Below the heading, even before the list is loaded. */
  more?: ComponentChildren
  above?: ComponentChildren
  /** Of the search. */
  label?: string
  columns: Readonly<Record<string, string>>
  row: (row: T) => ComponentChildren
}

type Rows<Part extends string, T> = { nextAfter: string | null } & Readonly<Record<Part, readonly T[]>>

export function ListPage<Part extends string, T>(props: ListPageProps<Part, T>) {
  const { prefix, contains, after, title, part, load, empty, unmatched, columns, row } = props
  const query = { prefix, contains, after }
  const key = JSON.stringify(query)
  const address = `${part}${key}`
  const ask = (signal: AbortSignal) => load(pageQuery(after, prefix, contains), signal)
  const { data, error } = usePolled(ask, key, EVERY_MS, address)
  const rows = data?.[part] ?? []
  return (
    <>
      <PageHead title={title}>
        {props.beside}
        <Search parts={[part]} value={contains} prefix={prefix} label={props.label ?? 'Any part of a name'} />
      </PageHead>
      <Narrowed part={part} prefix={prefix} />
      {props.more}
      <LoadState data={data} error={error} />
      {data !== null && props.above}
      {data !== null && rows.length === 0 && (
        <p class="empty panel">{prefix === '' && contains === '' ? empty : unmatched}</p>
      )}
      {rows.length > 0 && <Table columns={columns}>{rows.map(row)}</Table>}
      {data !== null && <Pager parts={[part]} query={query} next={data.nextAfter} />}
    </>
  )
}

/** Says that the list is not the whole list. */
function Narrowed({ part, prefix }: { part: string; prefix: string }) {
  const within = useAccess()?.prefix ?? ''
  if (prefix === '' && within === '') return null
  return (
    <p class="muted">
      {within !== '' && (
        <>
          This key sees only names that begin with <Name>{within}</Name>.{' '}
        </>
      )}
      {prefix !== '' && (
        <>
          Names that begin with <Name>{prefix}</Name>. <a href={link([part])}>Show all</a>
        </>
      )}
    </p>
  )
}

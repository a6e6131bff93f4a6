/** The common part of the lists of groups, policies, queues, schedules and feeds: a search by any part of a name, and pages. */
import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { link, replaceQuery } from './address'
import { pageQuery } from './api'
import { textInput } from './form'
import { ReadOnlyNote, type Scope, useAccess } from './may'
import { LoadState, Name, PageHead, Pager } from './parts'
import { usePolled } from './polled'
import { type Column, Table } from './table'

const EVERY_MS = 3000

/** The query in the address of a list; null is left out. */
export interface Listed {
  prefix: string | null
  /** The text that the names contain. */
  contains: string | null
  after: string | null
  state: string | null
  sort: string | null
}

interface ListPageProps<Part extends string, Key extends string, Data extends Rows<Part, Key>> {
  listed: Listed
  title: string
  /** The first part of the address of this page, and the field of its data that has the rows. */
  part: Part
  /** The field that names a row. */
  name: Key
  load: (query: ReturnType<typeof pageQuery>, signal: AbortSignal) => Promise<Data>
  /** The text if there are none at all, and if none has what was typed. */
  empty: string
  unmatched?: string
  /** The button that makes one, and the scope that it needs. */
  make?: ComponentChildren
  scope?: Scope
  /** Below the heading, even before the list is loaded. */
  more?: ComponentChildren
  above?: (data: Data) => ComponentChildren
  /** Of the search. */
  label?: string
  columns: readonly Column<Data[Part][number]>[]
}

type Rows<Part extends string, Key extends string> = { nextAfter: string | null } & Readonly<
  Record<Part, readonly Readonly<Record<Key, string>>[]>
>

export function ListPage<Part extends string, Key extends string, Data extends Rows<Part, Key>>(
  props: ListPageProps<Part, Key, Data>,
) {
  const { listed, title, part, name, load, empty, unmatched, make, columns } = props
  const { prefix, contains, after } = listed
  const key = JSON.stringify(listed)
  const address = `${part}${key}`
  const ask = (signal: AbortSignal) => load(pageQuery(after, prefix ?? '', contains ?? ''), signal)
  const { data, error } = usePolled(ask, key, EVERY_MS, address)
  const rows: readonly Data[Part][number][] = data?.[part] ?? []
  const isWhole = Object.values(listed).every((each) => each === null)
  return (
    <>
      <PageHead title={title}>
        {make !== undefined && (
          <div class="actions">
            <div class="buttons">{make}</div>
            <ReadOnlyNote scope={props.scope} />
          </div>
        )}
        <Search parts={[part]} query={{ ...listed }} label={props.label ?? 'Any part of a name'} />
      </PageHead>
      <Narrowed part={part} prefix={prefix ?? ''} />
      {props.more}
      <LoadState data={data} error={error} />
      {data !== null && props.above?.(data)}
      {data !== null && rows.length === 0 && <p class="empty panel">{isWhole ? empty : unmatched}</p>}
      {rows.length > 0 && (
        <Table
          columns={columns}
          rows={rows}
          keyOf={(row) => row[name]}
          sorting={{ by: listed.sort, link: (sort) => link([part], { ...listed, after: null, sort }) }}
        />
      )}
      {data !== null && <Pager parts={[part]} query={{ ...listed }} next={data.nextAfter} />}
    </>
  )
}

const TYPING_MS = 200

interface SearchProps {
  parts: readonly string[]
  /** The query of the address, of which `contains` is what is typed. */
  query: Record<string, string | null>
  label: string
}

/** Narrows the list while one types. */
function Search({ parts, query, label }: SearchProps) {
  const value = query.contains ?? ''
  const [text, setText] = useState(value)
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  useEffect(() => setText(value), [value])
  const type = (typed: string) => {
    setText(typed)
    clearTimeout(timer.current)
    timer.current = setTimeout(() => replaceQuery(parts, { ...query, after: null, contains: typed }), TYPING_MS)
  }
  return (
    <search class="search">
      <label>
        <span class="hidden">{label}</span>
        <input type="search" placeholder={label} {...textInput(text, type)} />
      </label>
    </search>
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

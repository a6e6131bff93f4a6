/** The common part of the lists of groups, policies, queues, schedules and feeds: a search by any part of a name, and pages. */
import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { link, PARTS, type PageQuery, type Part, replaceQuery } from './address'
import { pageQuery } from './api'
import { textInput } from './form'
import { Actions, type Scope, useAccess } from './may'
import { LoadState, Name, PageHead, Pager, sentence } from './parts'
import { EVERY_MS, usePolled } from './polled'
import { type Column, Table } from './table'

interface ListPageProps<Of extends Part, Data extends Rows<Of>> {
  listed: PageQuery
  /** The field of the data that has the rows, too. */
  part: Of
  load: (query: ReturnType<typeof pageQuery>, signal: AbortSignal) => Promise<Data>
  /** The text if there are none at all. */
  empty: string
  /** Default: that no name has what was typed. */
  unmatched?: string | undefined
  /** The button that makes one, and the scope that it needs. */
  make: ComponentChildren
  scope?: Scope
  /** Below the heading, even before the list is loaded. */
  more?: ComponentChildren
  above?: (data: Data) => ComponentChildren
  /** Of the search. */
  label?: string
  columns: readonly Column<Data[Of][number]>[]
}

type Rows<Of extends Part> = { nextAfter: string | null } & Readonly<Record<Of, readonly Named<Of>[]>>
type Named<Of extends Part> = Readonly<Record<(typeof PARTS)[Of]['name'], string>>

export function ListPage<Of extends Part, Data extends Rows<Of>>(props: ListPageProps<Of, Data>) {
  const { listed, part, load, make, columns } = props
  const { title, one } = PARTS[part]
  const name: (typeof PARTS)[Of]['name'] = PARTS[part].name
  const key = JSON.stringify(listed)
  const address = `${part}${key}`
  const ask = (signal: AbortSignal) => load(pageQuery(listed), signal)
  const { data, error } = usePolled(ask, key, EVERY_MS, address)
  const rows: readonly Data[Of][number][] = data?.[part] ?? []
  const isWhole = Object.values(listed).every((each) => each === null)
  return (
    <>
      <PageHead title={title}>
        <Actions scope={props.scope}>{make}</Actions>
        <Search part={part} query={listed} label={props.label ?? 'Any part of a name'} />
      </PageHead>
      <Narrowed part={part} prefix={listed.prefix ?? ''} />
      {props.more}
      <LoadState data={data} error={error} />
      {data !== null && props.above?.(data)}
      {data !== null && (
        <Table
          columns={columns}
          rows={rows}
          empty={isWhole ? props.empty : (props.unmatched ?? `No ${one} has this in its name.`)}
          keyOf={(row) => row[name]}
          sorting={{ by: listed.sort, link: (sort) => link([part], { ...listed, after: null, sort }) }}
        />
      )}
      {data !== null && <Pager parts={[part]} query={listed} next={data.nextAfter} />}
    </>
  )
}

const TYPING_MS = 200

/** Narrows the list while one types. The text follows the address at once: later it would replace what is typed on. */
function Search({ part, query, label }: { part: Part; query: PageQuery; label: string }) {
  const value = query.contains ?? ''
  const [text, setText] = useState(value)
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  useLayoutEffect(() => setText(value), [value])
  const type = (typed: string) => {
    setText(typed)
    clearTimeout(timer.current)
    timer.current = setTimeout(() => replaceQuery([part], { ...query, after: null, contains: typed }), TYPING_MS)
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
      {within !== '' && sentence`This key sees only names that begin with ${<Name>{within}</Name>}. `}
      {prefix !== '' &&
        sentence`Names that begin with ${<Name>{prefix}</Name>}. ${<a href={link([part])}>Show all</a>}`}
    </p>
  )
}

/** Parts of several pages: numbers, names, facts, badges, problems, tabs, and pages of lists. */
import type { ComponentChildren } from 'preact'
import { useId } from 'preact/hooks'
import type { RecentnError } from '../shared/recentn-error'
import { link, PARTS, type PageQuery, type Part } from './address'
import { isAccessError, sentenceOf } from './api'
import { KeyForm } from './form'
import { ReadOnlyNote } from './may'
import { hasKeys } from './session'
import { Time } from './time'

/** A name that users chose: it keeps its own direction and spaces. */
export function Name({ children }: { children: string }) {
  return (
    <bdi class="name" title={children}>
      {children}
    </bdi>
  )
}

export function Badge({ kind = '', children }: { kind?: 'warn' | 'bad' | 'good' | ''; children: ComponentChildren }) {
  return <span class={`badge ${kind}`}>{children}</span>
}

/** Numbers have their digits in groups; a text stays as it is. */
export function shown(value: ComponentChildren | Date): ComponentChildren {
  if (value instanceof Date) return <Time at={value} />
  return typeof value === 'number' || typeof value === 'bigint' ? <Num value={value} /> : value
}

interface FactProps {
  term: string
  note?: ComponentChildren
  isBad?: boolean
  children: ComponentChildren
}

export function Fact({ term, note = null, isBad, children }: FactProps) {
  return (
    <div class={isBad ? 'bad' : undefined}>
      <dt>{term}</dt>
      <dd class={children === 0 ? 'zero' : undefined}>
        {shown(children)}
        {note !== null && <span class="muted small"> {note}</span>}
      </dd>
    </div>
  )
}

interface FactsProps {
  /** For a screen reader, where no heading is near. */
  label?: string
  /** By their terms. Those that are null or undefined are left out; of a time the exact one is shown too. */
  of: Readonly<Record<string, ComponentChildren | Date>>
  /** Buttons at the end. */
  children?: ComponentChildren
}

export function Facts({ label, of, children }: FactsProps) {
  const facts = Object.entries(of).filter(([, fact]) => fact != null)
  return (
    <section class="panel" aria-label={label}>
      <dl class="facts">
        {facts.map(([term, fact]) => (
          <Fact key={term} term={term}>
            {fact instanceof Date ? <Time at={fact} both /> : fact}
          </Fact>
        ))}
        {children && <div class="buttons">{children}</div>}
      </dl>
      {children && <ReadOnlyNote />}
    </section>
  )
}

interface LinkProps {
  to: readonly string[]
  query?: Partial<PageQuery>
}

export function NameLink({ to, query, class: kind, children }: LinkProps & { class?: string; children: string }) {
  return (
    <a class={kind} href={link(to, query)}>
      <Name>{children}</Name>
    </a>
  )
}

/** The links to the list, and to the thing in it that has the one of the page, with the `state` of its messages. */
export function WayUp({ to: [part, thing], state = null }: { to: readonly [Part, string?]; state?: string | null }) {
  return (
    <>
      <a href={link([part])}>{PARTS[part].title}</a> {thing !== undefined && <span aria-hidden="true">/ </span>}
      {thing !== undefined && (
        <NameLink to={[part, thing]} query={{ state }}>
          {thing}
        </NameLink>
      )}
    </>
  )
}

/** A part of a page, with its heading. */
export function Section({ title, children }: { title: string; children: ComponentChildren }) {
  const id = useId()
  return (
    <section aria-labelledby={id}>
      <h2 id={id}>{title}</h2>
      {children}
    </section>
  )
}

interface PageHeadProps {
  /** The way up. */
  over?: ComponentChildren
  title: ComponentChildren
  /** Beside the title. */
  children?: ComponentChildren
}

export function PageHead({ over, title, children }: PageHeadProps) {
  return (
    <>
      {over && <p class="over">{over}</p>}
      <div class="head">
        <h1 tabIndex={-1}>{title}</h1>
        {children}
      </div>
    </>
  )
}

/** The error in words, with the form for a key if a key would help. */
export function Problem({ error }: { error: RecentnError }) {
  const isAccess = isAccessError(error)
  return (
    <div class={`problem ${isAccess ? 'panel' : ''}`} role="alert">
      <p>{sentenceOf(error)}</p>
      {isAccess && hasKeys && <KeyForm />}
    </div>
  )
}

/** In place of data that is not there. Data that could not be refreshed stays, below the bar of the outage. */
export function LoadState({ data, error }: { data: unknown; error: RecentnError | null }) {
  if (data !== null) return null
  return error === null ? <p class="muted late">Loading …</p> : <Problem error={error} />
}

interface PagerProps {
  parts: readonly string[]
  query: Partial<PageQuery>
  /** The parameter of the query that says where a page begins. */
  by?: 'after' | 'before'
  next: string | null
}

/** There is no link back, because each page of a list has its own address in the browser's history. */
export function Pager({ parts, query, by = 'after', next }: PagerProps) {
  if (next === null && !query[by]) return null
  return (
    <nav class="pager" aria-label="Pages">
      {query[by] && <a href={link(parts, { ...query, [by]: null })}>First page</a>}
      {next !== null && (
        <a href={link(parts, { ...query, [by]: next })} rel="next">
          Next page
        </a>
      )}
    </nav>
  )
}

/** Digits in groups of three, which are set apart by style alone. */
export function Num({ value }: { value: number | bigint }) {
  const text = String(value)
  if (text.length < 4) return text
  const groups = text.split(/(?=(?:\d{3})+$)/)
  return <span class="digits">{groups.map((three, i) => (i === 0 ? three : <span key={i}>{three}</span>))}</span>
}

/** A sentence with names or numbers in it: each number is shown as a figure is. */
export const sentence = (texts: TemplateStringsArray, ...parts: ComponentChildren[]) =>
  texts.map((text, at) => [text, shown(parts[at])])

export const counted = (value: number, one: string, many = `${one}s`) => sentence`${value} ${value === 1 ? one : many}`

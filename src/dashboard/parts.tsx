/** Parts of several pages: numbers, names, badges, problems, pages of lists, and dialogs. */
import type { ComponentChildren } from 'preact'
import { useEffect, useId, useRef } from 'preact/hooks'
import type { RecentnError } from '../shared/recentn-error'
import { link, PARTS, type PageQuery, type Part } from './address'
import { isAccessError, sentenceOf } from './api'
import { KeyForm, submitting } from './form'
import { ReadOnlyNote } from './may'
import type { Polled } from './polled'
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

export function Badge({ kind, children }: { kind?: 'warn' | 'bad' | 'good'; children: ComponentChildren }) {
  return <span class={`badge ${kind ?? ''}`}>{children}</span>
}

/** Numbers have their digits in groups; a text stays as it is. */
export function shown(value: ComponentChildren | Date): ComponentChildren {
  if (value instanceof Date) return <Time at={value} />
  return typeof value === 'number' || typeof value === 'bigint' ? <Num value={value} /> : value
}

export function Fact({ term, children }: { term: string; children: ComponentChildren }) {
  return (
    <div>
      <dt>{term}</dt>
      <dd>{shown(children)}</dd>
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
  return (
    <section class="panel" aria-label={label}>
      <dl class="facts">
        {Object.entries(of).map(
          ([term, fact]) =>
            fact != null && (
              <Fact key={term} term={term}>
                {fact instanceof Date ? <Time at={fact} both /> : fact}
              </Fact>
            ),
        )}
        {children !== undefined && <div class="buttons">{children}</div>}
      </dl>
      {children !== undefined && <ReadOnlyNote />}
    </section>
  )
}

export function NameLink({ to, children }: { to: readonly string[]; children: string }) {
  return (
    <a href={link(to)}>
      <Name>{children}</Name>
    </a>
  )
}

interface WayUpProps {
  to: readonly [Part, string?]
  /** Of the thing's page: the messages that it shows. */
  state?: string | null | undefined
}

/** The links to the list, and to the thing in it that has the one of the page. */
export function WayUp({ to: [part, thing], state = null }: WayUpProps) {
  return (
    <>
      <a href={link([part])}>{PARTS[part].title}</a>
      {thing !== undefined && (
        <>
          {' '}
          <span aria-hidden="true">/</span>{' '}
          <a href={link([part, thing], { state })}>
            <Name>{thing}</Name>
          </a>
        </>
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
  over?: ComponentChildren
  title: ComponentChildren
  /** Beside the title. */
  children?: ComponentChildren
}

/** The beginning of a page: the way up, and its title. */
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

export function Loading() {
  return <p class="muted late">Loading …</p>
}

/** In place of data that is not there. Data that could not be refreshed stays, below the bar of the outage. */
export function LoadState({ data, error }: { data: unknown; error: RecentnError | null }) {
  if (data !== null) return null
  return error === null ? <Loading /> : <Problem error={error} />
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

interface DialogProps {
  title: string
  children: ComponentChildren
  /** The text of the button that confirms. */
  action: string
  isDanger?: boolean | undefined
  /** False while there is nothing to do, or it is not known yet. */
  isReady: boolean
  class?: string
  /** In a second step: leads to the first, and Escape does so too. */
  onBack?: (() => void) | undefined
  onSubmit(close: () => void): void
  onClose(): void
}

/** Escape and Cancel close it. */
export function Dialog({ title, children, action, isDanger, isReady, class: kind, onBack, ...on }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null)
  const id = useId()
  const close = () => dialog.current?.close()
  useEffect(() => {
    if (!dialog.current?.open) return dialog.current?.showModal()
    // The second Enter of two does not confirm.
    const button = onBack === undefined ? 'submit' : 'button'
    dialog.current.querySelector<HTMLElement>(`.buttons > [type=${button}]`)?.focus()
  }, [onBack === undefined])
  // A browser lets a page refuse only some of the closings that it asks for: the key can always be taken.
  const press = (event: KeyboardEvent) => {
    if (event.key !== 'Escape' || onBack === undefined) return
    event.preventDefault()
    onBack()
  }
  return (
    <dialog ref={dialog} class={kind} onKeyDown={press} onClose={on.onClose} aria-labelledby={id}>
      <form onSubmit={submitting(() => on.onSubmit(close))}>
        <h2 id={id}>{title}</h2>
        {children}
        <div class="buttons">
          <button type="button" onClick={onBack ?? close}>
            {onBack === undefined ? 'Cancel' : 'Back'}
          </button>
          <button type="submit" class={isDanger ? 'danger' : 'primary'} disabled={!isReady}>
            {action}
          </button>
        </div>
      </form>
    </dialog>
  )
}

export function Loaded({ of: { data, error }, children }: { of: Polled<unknown>; children: ComponentChildren }) {
  return data === null ? <LoadState data={data} error={error} /> : children
}

/** Digits in groups of three, which are set apart by style alone. */
export function Num({ value }: { value: number | bigint }) {
  const text = String(value)
  if (text.length < 4) return text
  const [first, ...rest] = text.split(/(?=(?:\d{3})+$)/)
  return (
    <span class="digits">
      {first}
      {rest.map((three, i) => (
        <span key={i}>{three}</span>
      ))}
    </span>
  )
}

export function counted(value: number, one: string, many = `${one}s`): string {
  return `${value} ${value === 1 ? one : many}`
}

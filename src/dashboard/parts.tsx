/** Parts of several pages: numbers, names, badges, problems, pages of lists, the search, and confirmation dialogs. */
import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { RecentnError } from '../errors'
import { link, replaceQuery } from './address'
import { isAccessError, sentenceOf } from './api'
import { KeyForm } from './key-form'
import type { Polled } from './polled'
import { hasKeys } from './session'

/** A name that users chose: it keeps its own direction and spaces. */
export function Name({ children }: { children: string }) {
  return <bdi class="name">{children}</bdi>
}

export function Badge({ kind, children }: { kind?: 'warn' | 'bad' | 'good'; children: ComponentChildren }) {
  return <span class={`badge ${kind ?? ''}`}>{children}</span>
}

/** A term and its value, in a list of facts. */
export function Fact({ term, children }: { term: string; children: ComponentChildren }) {
  return (
    <div>
      <dt>{term}</dt>
      <dd>{children}</dd>
    </div>
  )
}

/** What went wrong, with the form for a key if a key would help. */
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

/** What is shown in place of data that is not there, and above data that could not be refreshed. */
export function LoadState({ data, error }: { data: unknown; error: RecentnError | null }) {
  if (error === null) return data === null ? <Loading /> : null
  if (data === null) return <Problem error={error} />
  return (
    <p class="problem" role="alert">
      {sentenceOf(error)} The data below is older; trying again.
    </p>
  )
}

interface PagerProps {
  parts: readonly string[]
  query: Record<string, string | null>
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

const TYPING_MS = 200

/** Searches by the beginning of names, because the server has an index for that. */
export function Search({ parts, value, label }: { parts: readonly string[]; value: string; label: string }) {
  const [text, setText] = useState(value)
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  useEffect(() => setText(value), [value])
  const type = (typed: string) => {
    setText(typed)
    clearTimeout(timer.current)
    timer.current = setTimeout(() => replaceQuery(parts, { prefix: typed }), TYPING_MS)
  }
  return (
    <search class="search">
      <label>
        <span class="hidden">{label}</span>
        <input
          type="search"
          placeholder={label}
          value={text}
          spellcheck={false}
          autocomplete="off"
          onInput={(event) => type(event.currentTarget.value)}
        />
      </label>
    </search>
  )
}

interface AskProps {
  title: string
  children: ComponentChildren
  /** The text of the button that confirms. */
  action: string
  isDanger?: boolean
  /** False while there is nothing to do, or it is not known yet. */
  isReady?: boolean
  /** The user must type this first. */
  typed?: string
  onYes(): void
  onClose(): void
}

/** A confirmation dialog. Escape and Cancel close it. */
export function Ask({ title, children, action, isDanger, isReady = true, typed, onYes, onClose }: AskProps) {
  const dialog = useRef<HTMLDialogElement>(null)
  const [text, setText] = useState('')
  useEffect(() => dialog.current?.showModal(), [])
  const yes = () => {
    dialog.current?.close()
    onYes()
  }
  return (
    <dialog ref={dialog} onClose={onClose} aria-labelledby="ask">
      <h2 id="ask">{title}</h2>
      {children}
      {typed !== undefined && (
        <label class="field">
          <span>
            Type <Name>{typed}</Name> to go on
          </span>
          <input
            value={text}
            autocomplete="off"
            spellcheck={false}
            onInput={(event) => setText(event.currentTarget.value)}
          />
        </label>
      )}
      <div class="buttons">
        <button type="button" onClick={() => dialog.current?.close()}>
          Cancel
        </button>
        <button
          type="button"
          class={isDanger ? 'danger' : 'primary'}
          disabled={!isReady || (typed !== undefined && text !== typed)}
          onClick={yes}
        >
          {action}
        </button>
      </div>
    </dialog>
  )
}

/** Its children, once the data is there. */
export function Loaded({ of: { data, error }, children }: { of: Polled<unknown>; children: ComponentChildren }) {
  return data === null ? <LoadState data={data} error={error} /> : children
}

/** The head of a column. Columns of the kind `wide` are hidden on a phone. */
export function Head({ children, kind }: { children: ComponentChildren; kind?: string }) {
  return (
    <th scope="col" class={kind}>
      {children}
    </th>
  )
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

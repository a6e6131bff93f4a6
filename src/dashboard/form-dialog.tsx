/**
 * The dialog of each form: a table of fields says what is asked for. A change sends only the fields that were touched, and is
 * refused if another user has changed the settings since the dialog was opened: it then says what is different now.
 */
import type { ComponentChildren } from 'preact'
import { useEffect, useId, useRef, useState } from 'preact/hooks'
import { RecentnError } from '../shared/recentn-error'
import { toError } from './api'
import { submitting, textInput } from './form'
import { Problem } from './parts'
import { say } from './toast'
import { parseExactly, pretty } from './value'

export interface FormField {
  name: string
  label: string
  hint?: string
  /** Default: a text. `json` is any JSON value; `lines` a list of texts. */
  kind?: 'number' | 'json' | 'lines' | 'choice'
  choices?: readonly string[]
  least?: number
  most?: number
  isRequired?: boolean
  /** The first text of the field, in a form for something new. */
  initial?: string
  /** An empty field is left out, in place of null. */
  isOmitted?: boolean
  /** The field is only in forms for something new. */
  isFixed?: boolean
}

type Values = Record<string, unknown>
type Typed = Readonly<Record<string, string>>

function typedOf(fields: readonly FormField[], settings: object | null): Typed {
  const textOf = ({ name, kind, isRequired, initial = '' }: FormField): string => {
    if (settings === null) return initial
    const value = (settings as Values)[name]
    if (kind === 'json') return value === undefined || (!isRequired && isEmpty(value)) ? '' : pretty(value)
    return value === null || value === undefined ? '' : String(value)
  }
  return Object.fromEntries(fields.map((field) => [field.name, textOf(field)]))
}

const isEmpty = (value: unknown) => typeof value === 'object' && Object.keys(value ?? {}).length === 0

function parsedField({ kind, label }: FormField, typed: string): unknown {
  if (kind === 'number') return Number(typed)
  if (kind === 'lines') return typed.split('\n').filter((line) => line !== '')
  if (kind !== 'json') return typed
  try {
    return parseExactly(typed)
  } catch (error) {
    const detail = `${label} is not JSON: ${(error as Error).message}. A text has double quotes.`
    throw new RecentnError('invalid_input', detail, { status: 400 })
  }
}

function valuesOf(fields: readonly FormField[], typed: Typed, was: Typed | null): Values {
  const values: Values = {}
  for (const field of fields) {
    const text = typed[field.name] ?? ''
    if (was !== null && text === was[field.name]) continue
    if (text !== '') values[field.name] = parsedField(field, text)
    else if (!field.isOmitted) values[field.name] = null
  }
  return values
}

/** Such as `Receives is 4 now (it was 5)`. */
function differences(fields: readonly FormField[], was: Typed, now: Typed): string {
  const shown = (text: string | undefined) => (text === '' ? 'empty' : text)
  return fields
    .filter(({ name }) => was[name] !== now[name])
    .map(({ name, label }) => `${label} is ${shown(now[name])} now (it was ${shown(was[name])})`)
    .join(', ')
}

interface FormDialogProps<T extends { tag: string }> {
  title: string
  /** The text of the button that saves. */
  action: string
  fields: readonly FormField[]
  /** The settings when the dialog opens; null for something new. */
  settings: T | null
  /** Reads them again, after a refusal. */
  look?(): Promise<T>
  /** Resolves to the sentence for a toast. Throws `settings_changed` if the settings no longer have the tag. */
  save(values: Values, tag: string): Promise<string>
  onSaved?(values: Values): void
  onClose(): void
  children?: ComponentChildren
}

export function FormDialog<T extends { tag: string }>(props: FormDialogProps<T>) {
  const { title, action, settings, look, save, onSaved, onClose, children } = props
  const fields = props.fields.filter(({ isFixed }) => settings === null || !isFixed)
  const dialog = useRef<HTMLDialogElement>(null)
  const [base, setBase] = useState(settings)
  const [typed, setTyped] = useState(() => typedOf(fields, settings))
  const [error, setError] = useState<RecentnError | null>(null)
  const [isSaving, setSaving] = useState(false)
  useEffect(() => dialog.current?.showModal(), [])
  const rebase = async (was: Typed) => {
    if (look === undefined) return
    const there = await look()
    const now = typedOf(fields, there)
    setBase(there)
    // Fields that were not touched follow.
    setTyped(
      Object.fromEntries(
        fields.map(({ name }) => [name, typed[name] === was[name] ? now[name] : typed[name]]),
      ) as Typed,
    )
    const detail = `Another user has changed these settings: ${differences(fields, was, now)}. Nothing was saved.`
    throw new RecentnError('settings_changed', detail, { status: 412 })
  }
  const submit = async () => {
    setSaving(true)
    setError(null)
    const was = base === null ? null : typedOf(fields, base)
    try {
      const values = valuesOf(fields, typed, was)
      try {
        say(await save(values, base?.tag ?? ''))
      } catch (thrown) {
        if (was !== null && thrown instanceof RecentnError && thrown.code === 'settings_changed') await rebase(was)
        throw thrown
      }
      dialog.current?.close()
      onSaved?.(values)
    } catch (thrown) {
      setError(toError(thrown))
      setSaving(false)
    }
  }
  return (
    <dialog ref={dialog} class="form" onClose={onClose} aria-labelledby="form">
      <form onSubmit={submitting(submit)}>
        <h2 id="form">{title}</h2>
        <div class="fields">
          {fields.map((field) => (
            <Input
              key={field.name}
              field={field}
              value={typed[field.name] ?? ''}
              onText={(text) => setTyped({ ...typed, [field.name]: text })}
            />
          ))}
        </div>
        {children}
        {error !== null && <Problem error={error} />}
        <div class="buttons">
          <button type="button" onClick={() => dialog.current?.close()}>
            Cancel
          </button>
          <button type="submit" class="primary" disabled={isSaving}>
            {action}
          </button>
        </div>
      </form>
    </dialog>
  )
}

interface InputProps {
  field: FormField
  value: string
  onText(text: string): void
}

function Input({ field: { label, hint, kind, choices = [], least, most, isRequired }, value, onText }: InputProps) {
  const isLong = kind === 'json' || kind === 'lines'
  const id = useId()
  const text = { id, ...textInput(value, onText), required: isRequired }
  return (
    <div class={`field ${isLong ? 'long' : ''}`}>
      <label for={id}>
        <span>
          {label} {hint && <span class="muted">{hint}</span>}
        </span>
      </label>
      {kind === 'choice' && (
        <select id={id} value={value} onInput={(event) => onText(event.currentTarget.value)}>
          {choices.map((choice) => (
            <option key={choice}>{choice}</option>
          ))}
        </select>
      )}
      {isLong && <textarea rows={4} {...text} />}
      {kind === 'number' && <input type="number" step={1} min={least} max={most} {...text} />}
      {kind === undefined && <input {...text} />}
    </div>
  )
}

/**
 * The dialog of each form, and the button that opens it: a table of fields says what is asked for. A change sends only the
 * fields that were touched, and is refused if another user has changed the settings since the dialog was opened. It then says
 * what is different now.
 */
import type { ComponentChildren } from 'preact'
import { useId, useState } from 'preact/hooks'
import { RecentnError } from '../shared/recentn-error'
import { toError } from './api'
import { Dialog } from './dialog'
import { textInput } from './form'
import { differences, type FieldValues, type FormField, isLeft, textOf, typedOf, valuesOf } from './form-fields'
import { AdminButton, type Scope } from './may'
import { Problem } from './parts'
import { say } from './toast'

const changed = (what: string) => new RecentnError('settings_changed', `${what} Nothing was saved.`, { status: 412 })

export interface FormDialogProps<T extends object, Saved> {
  /** The text of the button that opens it. Default: `Change settings`. */
  label?: string
  scope?: Scope
  title: string
  /** The text of the button that saves. Default: `Save`. */
  action?: string
  fields: readonly FormField[]
  /** The settings when the dialog opens; null for something new. */
  settings: T | null
  /** Every field is sent that is not left to the policy, touched or not. */
  isWhole?: boolean
  /** Reads them again, after a refusal. */
  look?(): Promise<T>
  /** Throws `settings_changed` if the settings no longer have the tag. */
  save(values: FieldValues, headers: Record<string, string>): Promise<Saved>
  /** The sentence for a toast, or what makes it of the outcome. Default: that the settings are saved. */
  said?: string | ((saved: Saved) => ComponentChildren)
  /** A second step before the save: what it does, in words. */
  question?(values: FieldValues): ComponentChildren
  /** The dialog stays until it has ended: the page has the new settings when the form can be opened again. */
  onSaved?(values: FieldValues): unknown
  children?: ComponentChildren
}

export function FormButton<T extends object, Saved>(props: FormDialogProps<T, Saved>) {
  const { label = 'Change settings', scope } = props
  const [isOpen, setOpen] = useState(false)
  return (
    <>
      <AdminButton scope={scope} onClick={() => setOpen(true)}>
        {label}
      </AdminButton>
      {isOpen && <FormDialog {...props} onClose={() => setOpen(false)} />}
    </>
  )
}

function FormDialog<T extends object, Saved>(props: FormDialogProps<T, Saved> & { onClose(): void }) {
  const { title, action = 'Save', fields, question, onClose, children } = props
  const { base, typed, type, asked, back, error, isSaving, submit } = useForm(props)
  const isSecond = question !== undefined && asked !== null
  return (
    <Dialog
      class="form"
      title={title}
      action={question === undefined || isSecond ? action : `${action} …`}
      isReady={!isSaving}
      onBack={isSecond ? back : undefined}
      onSubmit={submit}
      onClose={onClose}
    >
      {isSecond && question(asked)}
      <div class="fields" hidden={isSecond}>
        {fields.map((field) => (
          <Input
            key={field.name}
            field={field}
            value={typed[field.name] ?? null}
            inForce={base === null || !isLeft(field, base) ? (field.initial ?? '') : textOf(field, base)}
            onValue={(value) => type(field.name, value)}
          />
        ))}
      </div>
      {!isSecond && children}
      {error !== null && <Problem error={error} />}
    </Dialog>
  )
}

/** Headers by which a change is only made to the settings that were shown, and something new replaces nothing. */
function conditionOf(base: object | null): Record<string, string> {
  return base === null ? { 'If-None-Match': '*' } : { 'If-Match': `"${(base as { tag: string }).tag}"` }
}

function useForm<T extends object, Saved>(props: FormDialogProps<T, Saved>) {
  const { fields, settings, isWhole = false, look, save, said = 'The settings are saved.', question, onSaved } = props
  const [base, setBase] = useState(settings)
  const [typed, setTyped] = useState(() => typedOf(fields, settings))
  const [asked, setAsked] = useState<FieldValues | null>(null)
  const [error, setError] = useState<RecentnError | null>(null)
  const [isSaving, setSaving] = useState(false)
  const was = base === null ? null : typedOf(fields, base)
  /** Shows what is there now, and says what has changed. Fields that were not touched follow. */
  const rebase = async (refusal: RecentnError) => {
    if (was === null || look === undefined) throw refusal
    const there = await look().catch((thrown) => {
      throw thrown instanceof RecentnError && thrown.status === 404 ? changed('Another user has deleted it.') : thrown
    })
    const now = typedOf(fields, there)
    const follow = Object.entries(now).filter(([name]) => typed[name] === was[name])
    setBase(there)
    setTyped({ ...typed, ...Object.fromEntries(follow) })
    throw changed(`Another user has changed these settings: ${differences(fields, was, now)}.`)
  }
  const submit = async (close: () => void) => {
    setSaving(true)
    setError(null)
    try {
      const values = valuesOf(fields, typed, isWhole ? null : was)
      if (question !== undefined && asked === null) return setAsked(values)
      const saved = await save(values, conditionOf(base)).catch((thrown) => {
        if (thrown instanceof RecentnError && thrown.code === 'settings_changed') return rebase(thrown)
        throw thrown
      })
      say(typeof said === 'string' ? said : said(saved))
      await onSaved?.(values)
      close()
    } catch (thrown) {
      setAsked(null)
      setError(toError(thrown))
    } finally {
      setSaving(false)
    }
  }
  const type = (name: string, value: string | null) => setTyped({ ...typed, [name]: value })
  return { base, typed, type, asked, back: () => setAsked(null), error, isSaving, submit }
}

interface InputProps {
  field: FormField
  /** Null is left to the policy. */
  value: string | null
  /** Is shown while the field is left. */
  inForce: string
  onValue(value: string | null): void
}

function Input({ field, value, inForce, onValue }: InputProps) {
  const { label, kind, empty, choices = [], least, most, isRequired, left } = field
  const hint = field.hint ?? (empty && `empty: ${empty}`)
  const isLong = kind === 'json' || kind === 'lines'
  const isNumber = kind === 'number' || kind === 'seconds'
  const id = useId()
  const text = { id, ...textInput(value ?? inForce, onValue), required: isRequired, disabled: value === null }
  return (
    <div class={`field ${isLong ? 'long' : ''}`}>
      <label for={id}>
        <span>
          {label}
          {kind === 'seconds' && ' in seconds'} {hint && <span class="muted">{hint}</span>}
        </span>
      </label>
      {kind === 'choice' && (
        <select id={id} value={value ?? ''} onInput={({ currentTarget }) => onValue(currentTarget.value || null)}>
          {choices.map((choice) => (
            <option key={choice}>{choice}</option>
          ))}
          {left !== undefined && <option value="">{left}</option>}
        </select>
      )}
      {isLong && <textarea rows={4} {...text} />}
      {isNumber && <input type="number" step={1} min={least} max={most} {...text} />}
      {kind === undefined && <input {...text} />}
      {left !== undefined && kind !== 'choice' && (
        <label class="check">
          <input
            type="checkbox"
            checked={value === null}
            onInput={({ currentTarget }) => onValue(currentTarget.checked ? null : inForce)}
          />
          {left}
        </label>
      )}
    </div>
  )
}

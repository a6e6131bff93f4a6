/** The common parts of the pages of queues, groups, policies, schedules and feeds: one of them, a new one, and its deletion. */
import type { ComponentChildren } from 'preact'
import { Act, type ActProps } from './action'
import { goTo, PARTS, type Part } from './address'
import { FormButton, type FormDialogProps } from './form-dialog'
import type { FieldValues, FormField } from './form-fields'
import { type Scope, useAccess } from './may'
import { LoadState, Name, PageHead, WayUp } from './parts'
import { EVERY_MS, usePolled } from './polled'

interface ThingPageProps<T> {
  /** The list, and where the thing has one above it, the name of that. */
  up: readonly [Part, string?]
  name: string
  load(signal: AbortSignal): Promise<T>
  /** Beside the name; null until it is loaded. */
  beside?(thing: T | null, refresh: () => void): ComponentChildren
  children(thing: T, refresh: () => void): ComponentChildren
}

export function ThingPage<T>({ up, name, load, beside, children }: ThingPageProps<T>) {
  const { data, error, refresh } = usePolled(load, name, EVERY_MS)
  return (
    <>
      <PageHead over={<WayUp to={up} />} title={<Name>{name}</Name>}>
        {beside?.(data, refresh)}
      </PageHead>
      <LoadState data={data} error={error} />
      {data !== null && children(data, refresh)}
    </>
  )
}

interface NewButtonProps<Saved> extends Pick<FormDialogProps<object, Saved>, 'fields' | 'said' | 'question'> {
  part: Part
  /** The word for it in the button. */
  word?: string
  action?: string
  scope?: Scope
  /** The field of its name, where it is not called a name. */
  name?: Partial<FormField>
  save(name: string, body: FieldValues, headers: Record<string, string>): Promise<Saved>
}

/** The button and the form for a new one, whose page is opened then. */
export function NewButton<Saved>({ part, fields, name, save, ...form }: NewButtonProps<Saved>) {
  const { word = PARTS[part].one, action = 'Create', ...rest } = form
  const initial = useAccess()?.prefix ?? ''
  const called = { name: PARTS[part].name, label: 'Name', isRequired: true, isPrefixed: true, ...name }
  return (
    <FormButton
      {...rest}
      label={`New ${word}`}
      title={`New ${word}`}
      action={action}
      fields={[called, ...fields].map((field) => (field.isPrefixed ? { ...field, initial } : field))}
      settings={null}
      save={({ [called.name]: name, ...body }, headers) => save(name as string, body, headers)}
      onSaved={(values) => goTo([part, values[called.name] as string])}
    />
  )
}

/** The button that deletes it, and opens the list. */
export function DeleteButton<T = null>({ part, ...act }: DeleteProps<T>) {
  const { one } = PARTS[part]
  return (
    <Act
      label="Delete …"
      title={`Delete the ${one}?`}
      isDanger
      said={`The ${one} is deleted.`}
      onDone={() => goTo([part])}
      {...act}
    />
  )
}

type DeleteProps<T> = Partial<ActProps<T, unknown>> & Pick<ActProps<T, unknown>, 'work'> & { part: Part }

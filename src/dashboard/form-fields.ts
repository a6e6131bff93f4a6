/** Fields of forms: the texts that are typed in them, and the values that these mean. */
import { RecentnError } from '../shared/recentn-error'
import { parseExactly } from './api'
import { exactDuration } from './time'
import { pretty } from './value'

export interface FormField {
  name: string
  label: string
  hint?: string
  /** Default: a text. `json` is any JSON value; `lines` a list of texts; `seconds` a number of them. */
  kind?: 'number' | 'seconds' | 'json' | 'lines' | 'choice'
  choices?: readonly string[]
  least?: number
  most?: number
  isRequired?: boolean
  /** The first text of the field, in a form for something new. */
  initial?: string
  /** The first text is the prefix of the key. */
  isPrefixed?: boolean
  /** The meaning of an empty field, such as `no limit`. */
  empty?: string
  /** An empty field is left out, in place of null. */
  isOmitted?: boolean
  /** Such as `as the policy says`: the field may be left to that. The settings have those that are not in `own`. */
  left?: string
}

export type FieldValues = Record<string, unknown>
/** Null is left to the policy. */
export type Typed = Readonly<Record<string, string | null>>

const isEmpty = (value: unknown) => typeof value === 'object' && Object.keys(value ?? {}).length === 0

export function textOf({ name, kind, isRequired }: FormField, settings: object): string {
  const value = (settings as FieldValues)[name]
  if (kind === 'json') return value === undefined || (!isRequired && isEmpty(value)) ? '' : pretty(value)
  return value === null || value === undefined ? '' : String(value)
}

export const isLeft = ({ name, left }: FormField, settings: object) =>
  left !== undefined && (settings as { own: FieldValues }).own[name] === undefined

export function typedOf(fields: readonly FormField[], settings: object | null): Typed {
  const first = (field: FormField) => {
    if (settings === null) return field.left === undefined ? (field.initial ?? '') : null
    return isLeft(field, settings) ? null : textOf(field, settings)
  }
  return Object.fromEntries(fields.map((field) => [field.name, first(field)]))
}

function parsedField({ kind, label }: FormField, typed: string): unknown {
  if (kind === 'number' || kind === 'seconds') return Number(typed)
  if (kind === 'lines') return typed.split('\n').filter((line) => line !== '')
  if (kind !== 'json') return typed
  try {
    return parseExactly(typed)
  } catch (error) {
    const detail = `${label} is not JSON: ${(error as Error).message}. A text has double quotes.`
    throw new RecentnError('invalid_input', detail, { status: 400 })
  }
}

export function valuesOf(fields: readonly FormField[], typed: Typed, was: Typed | null): FieldValues {
  const values: FieldValues = {}
  for (const field of fields) {
    const text = typed[field.name] ?? null
    if (text === null || (was !== null && text === was[field.name])) continue
    if (text !== '') values[field.name] = parsedField(field, text)
    else if (!field.isOmitted) values[field.name] = null
  }
  return values
}

function shownText({ name, kind, empty = 'empty' }: FormField, typed: Typed): string {
  const text = typed[name]
  if (text === null || text === undefined) return 'left to the policy'
  if (text === '') return empty
  return kind === 'seconds' ? exactDuration(Number(text)) : text
}

/** Such as `receives is 4 now (it was 5)`. */
export function differences(fields: readonly FormField[], was: Typed, now: Typed): string {
  return fields
    .filter(({ name }) => was[name] !== now[name])
    .map((field) => `${field.label.toLowerCase()} is ${shownText(field, now)} now (it was ${shownText(field, was)})`)
    .join(', ')
}

/** The settings in words, such as `capacity 50, expiry 1 h`. */
export function described(fields: readonly FormField[], settings: object): string {
  const typed = typedOf(fields, settings)
  return fields.map((field) => `${field.label.toLowerCase()} ${shownText(field, typed)}`).join(', ')
}

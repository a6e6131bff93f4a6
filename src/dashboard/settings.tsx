/** The settings of groups and policies: the fields of their forms, and a save that overwrites no other user's change. */
import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import type { Group, Policy } from '../shared/group-types'
import { RecentnError } from '../shared/recentn-error'
import type { Column } from './list-page'
import { Badge } from './parts'
import { exactDuration } from './time'

export type WholeSettings = Omit<Policy, 'prefix' | 'tag'>

/** The limits of the server. */
const MAX_CAPACITY = 10_000
const MAX_TTL_SECONDS = 315_360_000_000

export const typedTtl = (ttlSeconds: number | null) => (ttlSeconds === null ? '' : String(ttlSeconds))
export const ttlOf = (typed: string) => (typed === '' ? null : Number(typed))

export const orNever = (seconds: number | null) => (seconds === null ? 'never' : exactDuration(seconds))

/** The columns of lists of groups and policies. */
export const SETTING_COLUMNS: readonly Column<WholeSettings>[] = [
  { title: 'Capacity', kind: 'number', cell: ({ capacity }) => capacity },
  { title: 'Mode', cell: ({ mode }) => (mode === 'history' ? mode : <Badge>{mode}</Badge>) },
  { title: 'Expiry', cell: ({ ttlSeconds }) => ttlSeconds && exactDuration(ttlSeconds) },
]

/** The differences, such as `capacity is 20 now (it was 10)`. */
export function differences(was: Group['own'], now: Group['own']): string {
  const wordsOf = ({ capacity, mode, ttlSeconds, forgetEmptySeconds }: Group['own']) =>
    [
      ['capacity', capacity],
      ['mode', mode],
      ['expiry', ttlSeconds === undefined ? undefined : orNever(ttlSeconds)],
      ['forgetting when empty', forgetEmptySeconds === undefined ? undefined : orNever(forgetEmptySeconds)],
    ] as const
  const before = wordsOf(was)
  return wordsOf(now)
    .map(([name, value], i) => ({
      name,
      value: value ?? 'left to the policy',
      old: before[i]?.[1] ?? 'left to the policy',
    }))
    .filter(({ value, old }) => value !== old)
    .map(({ name, value, old }) => `${name} is ${value} now (it was ${old})`)
    .join(', ')
}

/** The settings that are about to be saved, as text. */
export function described({ capacity, mode, ttlSeconds, forgetEmptySeconds }: Group['own']): string {
  const timeOf = (seconds: number | null | undefined) => (seconds === undefined ? 'by the policy' : orNever(seconds))
  const times = `expiry ${timeOf(ttlSeconds)}, forgetting when empty ${timeOf(forgetEmptySeconds)}`
  return `capacity ${capacity ?? 'by the policy'}, mode ${mode ?? 'by the policy'}, ${times}`
}

/** Calls `onOther` when the base of a form changes, so that the fields that were not touched follow. */
export function useRebase<T>(base: T, onOther: (was: T, now: T) => void): void {
  const last = useRef(base)
  useEffect(() => {
    const was = last.current
    last.current = base
    if (was !== base) onOther(was, base)
  }, [base])
}

export interface FieldProps {
  value: string
  onInput(value: string): void
  /** The field is disabled, because the policy gives the value. */
  isLeft?: boolean
  /** Below the field. */
  children?: ComponentChildren
}

export function CapacityField({ isLeft = false, ...field }: FieldProps) {
  return (
    <NumberField
      label="Capacity"
      hint="1 to 10000"
      max={MAX_CAPACITY}
      isRequired={!isLeft}
      isLeft={isLeft}
      {...field}
    />
  )
}

export function ExpiryField(field: FieldProps) {
  return <NumberField label="Expiry in seconds" hint="empty: never" max={MAX_TTL_SECONDS} {...field} />
}

export function ForgetField(field: FieldProps) {
  return <NumberField label="Forget when empty, in seconds" hint="empty: never" max={MAX_TTL_SECONDS} {...field} />
}

export function ModeField({ value, onInput, children }: FieldProps) {
  return (
    <div class="field">
      <label>
        <span>Mode</span>
        <select value={value} onInput={(event) => onInput(event.currentTarget.value)}>
          {(['history', 'distinct', 'top'] satisfies Group['mode'][]).map((mode) => (
            <option key={mode} value={mode}>
              {mode}
            </option>
          ))}
          {children}
        </select>
      </label>
    </div>
  )
}

interface NumberFieldProps extends FieldProps {
  label: string
  hint: string
  max: number
  isRequired?: boolean
}

function NumberField({ label, hint, max, isRequired, value, onInput, isLeft, children }: NumberFieldProps) {
  return (
    <div class="field">
      <label>
        <span>
          {label} <span class="muted">{hint}</span>
        </span>
        <input
          type="number"
          min={1}
          max={max}
          step={1}
          required={isRequired}
          disabled={isLeft}
          value={value}
          onInput={(event) => onInput(event.currentTarget.value)}
        />
      </label>
      {children}
    </div>
  )
}

/**
 * Runs `save`. If the settings were no longer `was`, passes the current ones to `onNow` and throws an error that says what
 * has changed.
 */
export async function saving<T>(
  save: () => Promise<unknown>,
  was: Group['own'],
  { look, settingsOf, onNow }: { look(): Promise<T>; settingsOf(now: T): Group['own']; onNow(now: T): void },
): Promise<void> {
  try {
    await save()
  } catch (thrown) {
    if (!(thrown instanceof RecentnError) || thrown.code !== 'settings_changed') throw thrown
    const now = await look().catch((error) => {
      if (error instanceof RecentnError && error.status === 404) throw changed('Another user has deleted it.')
      throw error
    })
    onNow(now)
    throw changed(`Another user has changed these settings: ${differences(was, settingsOf(now))}.`)
  }
}

const changed = (what: string) => new RecentnError('settings_changed', `${what} Nothing was saved.`, { status: 412 })

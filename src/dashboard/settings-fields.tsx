/** The fields of what groups do: of a group's own settings, and of a policy's. */
import type { ComponentChildren } from 'preact'
import { grouped } from './numbers'
import { exactDuration } from './time'
import type { Group, Mode } from './types'

/** What the server takes. */
const MAX_CAPACITY = 10_000
const MAX_TTL_SECONDS = 315_360_000_000

export const typedTtl = (ttlSeconds: number | null) => (ttlSeconds === null ? '' : String(ttlSeconds))
export const ttlOf = (typed: string) => (typed === '' ? null : Number(typed))

/** What is about to be saved. */
export function described({ capacity, mode, ttlSeconds }: Group['own']): string {
  const expiry = ttlSeconds === undefined ? 'by the policy' : ttlSeconds === null ? 'never' : exactDuration(ttlSeconds)
  return `capacity ${capacity === undefined ? 'by the policy' : grouped(capacity)}, mode ${mode ?? 'by the policy'}, expiry ${expiry}`
}

export interface FieldProps {
  value: string
  onInput(value: string): void
  /** Nothing is typed: it is somebody else's to say. */
  isLeft?: boolean
  /** Below the field. */
  children?: ComponentChildren
}

export function CapacityField({ isLeft = false, ...field }: FieldProps) {
  return (
    <NumberField
      label="Capacity"
      hint="1 to 10 000"
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

export function ModeField({ value, onInput, children }: FieldProps) {
  return (
    <div class="field">
      <label>
        <span>Mode</span>
        <select value={value} onInput={(event) => onInput(event.currentTarget.value)}>
          {(['history', 'distinct'] satisfies Mode[]).map((mode) => (
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

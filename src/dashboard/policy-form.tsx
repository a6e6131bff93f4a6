/** The form that makes or changes a policy. */
import { useState } from 'preact/hooks'
import { Ask, Name } from './parts'
import { CapacityField, described, ExpiryField, ModeField, ttlOf, typedTtl } from './settings-fields'
import type { Mode, Policy, PolicySettings } from './types'

interface PolicyFormProps {
  /** The one that is changed; null makes one. */
  policy: Policy | null
  isSaving: boolean
  onSave(prefix: string, settings: PolicySettings): void
}

export function PolicyForm({ policy, isSaving, onSave }: PolicyFormProps) {
  const [prefix, setPrefix] = useState(policy?.prefix ?? '')
  const [capacity, setCapacity] = useState(policy === null ? '' : String(policy.capacity))
  const [mode, setMode] = useState<Mode>(policy?.mode ?? 'history')
  const [expiry, setExpiry] = useState(typedTtl(policy?.ttlSeconds ?? null))
  const [isAsking, setAsking] = useState(false)
  const settings = { capacity: Number(capacity), mode, ttlSeconds: ttlOf(expiry) }
  const submit = (event: Event) => {
    event.preventDefault()
    setAsking(true)
  }
  return (
    <form class="settings" onSubmit={submit}>
      {policy === null && <PrefixField value={prefix} onInput={setPrefix} />}
      <CapacityField value={capacity} onInput={setCapacity} />
      <ModeField value={mode} onInput={(chosen) => setMode(chosen as Mode)} />
      <ExpiryField value={expiry} onInput={setExpiry} />
      <div class="buttons">
        <button type="submit" class="primary" disabled={isSaving}>
          Save …
        </button>
      </div>
      {isAsking && (
        <Ask
          title={policy === null ? 'Make the policy?' : 'Change the policy?'}
          action="Save"
          onYes={() => onSave(prefix, settings)}
          onClose={() => setAsking(false)}
        >
          <p>
            <Name>{prefix}</Name>: {described(settings)}.
          </p>
          <p class="muted">
            {policy === null && 'One of this prefix that is there already is replaced. '}
            Groups whose names begin with it, and with no longer prefix of another one, follow it in what is not set for
            themselves. Their items outside of the new window are gone for good.
          </p>
        </Ask>
      )}
    </form>
  )
}

function PrefixField({ value, onInput }: { value: string; onInput(value: string): void }) {
  return (
    <div class="field">
      <label>
        <span>
          Prefix <span class="muted">beginning of names</span>
        </span>
        <input
          required
          value={value}
          autocomplete="off"
          spellcheck={false}
          onInput={(event) => onInput(event.currentTarget.value)}
        />
      </label>
    </div>
  )
}

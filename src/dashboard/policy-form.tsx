/** The form that makes or changes a policy. */
import { useState } from 'preact/hooks'
import type { Policy } from '../shared/group-types'
import { submitting, textInput } from './form'
import { PolicyLossText } from './losses'
import { useAccess } from './may'
import { Ask, Name } from './parts'
import {
  CapacityField,
  described,
  ExpiryField,
  ForgetField,
  ModeField,
  ttlOf,
  typedTtl,
  useRebase,
  type WholeSettings,
} from './settings'

interface PolicyFormProps {
  policy: Policy | null
  isSaving: boolean
  onSave(prefix: string, settings: WholeSettings): void
}

export function PolicyForm({ policy, isSaving, onSave }: PolicyFormProps) {
  const access = useAccess()
  const [prefix, setPrefix] = useState(policy?.prefix ?? access?.prefix ?? '')
  const [typed, setTyped] = useState(() => typedOf(policy))
  const [isAsking, setAsking] = useState(false)
  useRebase(policy, (was, now) => {
    const before = typedOf(was)
    const fresh = Object.entries(typedOf(now)).filter(
      ([name]) => typed[name as keyof TypedPolicy] === before[name as keyof TypedPolicy],
    )
    setTyped({ ...typed, ...Object.fromEntries(fresh) })
  })
  const settings = {
    capacity: Number(typed.capacity),
    mode: typed.mode,
    ttlSeconds: ttlOf(typed.expiry),
    forgetEmptySeconds: ttlOf(typed.forget),
  }
  return (
    <form class="settings" onSubmit={submitting(() => setAsking(true))}>
      {policy === null && <PrefixField value={prefix} onInput={setPrefix} />}
      <CapacityField value={typed.capacity} onInput={(capacity) => setTyped({ ...typed, capacity })} />
      <ModeField value={typed.mode} onInput={(mode) => setTyped({ ...typed, mode: mode as Policy['mode'] })} />
      <ExpiryField value={typed.expiry} onInput={(expiry) => setTyped({ ...typed, expiry })} />
      <ForgetField value={typed.forget} onInput={(forget) => setTyped({ ...typed, forget })} />
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
          <PolicyLossText prefix={prefix} policy={settings} />
          <p class="muted">
            It applies to groups whose names begin with it and with no longer prefix, for the settings that they have
            not set themselves.
          </p>
        </Ask>
      )}
    </form>
  )
}

const typedOf = (policy: Policy | null) => ({
  capacity: policy === null ? '' : String(policy.capacity),
  mode: policy?.mode ?? ('history' as Policy['mode']),
  expiry: typedTtl(policy?.ttlSeconds ?? null),
  forget: typedTtl(policy?.forgetEmptySeconds ?? null),
})
type TypedPolicy = ReturnType<typeof typedOf>

function PrefixField({ value, onInput }: { value: string; onInput(value: string): void }) {
  return (
    <div class="field">
      <label>
        <span>
          Prefix <span class="muted">beginning of names</span>
        </span>
        <input required {...textInput(value, onInput)} />
      </label>
    </div>
  )
}

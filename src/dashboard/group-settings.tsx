/** The settings of a group, and the form that changes them. */
import { useState } from 'preact/hooks'
import { Outcome, useAction } from './action'
import { api } from './api'
import { grouped } from './numbers'
import { Ask, Fact, Name } from './parts'
import { duration, Time } from './time'
import type { Group, Mode } from './types'

interface SettingsProps {
  group: Group
  /** The one that is up to date. */
  total: string
  onSaved(): void
}

export function GroupSettings({ group, total, onSaved }: SettingsProps) {
  const [isEditing, setEditing] = useState(false)
  const action = useAction()
  const save = async (own: OwnSettings) => {
    const isSaved = await action.run(async () => {
      await api.putGroup(group.group, own)
      return 'The settings are saved.'
    })
    if (!isSaved) return
    setEditing(false)
    onSaved()
  }
  return (
    <section aria-label="Settings" class="panel">
      <dl class="facts">
        <Fact term="Total">{grouped(total)}</Fact>
        <Fact term="Capacity">{grouped(group.capacity)}</Fact>
        <Fact term="Mode">{group.mode}</Fact>
        <Fact term="Expiry">{group.ttlSeconds === null ? 'never' : duration(group.ttlSeconds)}</Fact>
        <Fact term="Created">
          <Time at={group.createdAt} both />
        </Fact>
        <button type="button" aria-expanded={isEditing} onClick={() => setEditing(!isEditing)}>
          Change settings
        </button>
      </dl>
      {isEditing && <SettingsForm group={group} isSaving={action.isRunning} onSave={save} />}
      <Outcome action={action} />
    </section>
  )
}

type OwnSettings = { capacity?: number; mode?: Mode; ttlSeconds?: number | null }
type FormProps = { group: Group; isSaving: boolean; onSave(own: OwnSettings): void }

const FOLLOW = 'policy'

function SettingsForm({ group, isSaving, onSave }: FormProps) {
  const [capacity, setCapacity] = useState(String(group.capacity))
  const [mode, setMode] = useState<string>(group.mode)
  const [expiry, setExpiry] = useState(group.ttlSeconds === null ? '' : String(group.ttlSeconds))
  const [follows, setFollows] = useState({ capacity: false, expiry: false })
  const [isAsking, setAsking] = useState(false)
  const own: OwnSettings = {
    ...(!follows.capacity && { capacity: Number(capacity) }),
    ...(mode !== FOLLOW && { mode: mode as Mode }),
    ...(!follows.expiry && { ttlSeconds: expiry === '' ? null : Number(expiry) }),
  }
  const submit = (event: Event) => {
    event.preventDefault()
    setAsking(true)
  }
  return (
    <form class="settings" onSubmit={submit}>
      <NumberField
        label="Capacity"
        hint="1 to 10 000"
        max={10_000}
        isRequired
        value={capacity}
        onInput={setCapacity}
        follows={follows.capacity}
        onFollow={(capacityFollows) => setFollows({ ...follows, capacity: capacityFollows })}
      />
      <div class="field">
        <label>
          <span>Mode</span>
          <select value={mode} onInput={(event) => setMode(event.currentTarget.value)}>
            <option value="history">history</option>
            <option value="distinct">distinct</option>
            <option value={FOLLOW}>as the policy says</option>
          </select>
        </label>
      </div>
      <NumberField
        label="Expiry in seconds"
        hint="empty: never"
        max={315_360_000_000}
        value={expiry}
        onInput={setExpiry}
        follows={follows.expiry}
        onFollow={(expiryFollows) => setFollows({ ...follows, expiry: expiryFollows })}
      />
      <div class="buttons">
        <button type="submit" class="primary" disabled={isSaving}>
          Save …
        </button>
      </div>
      {isAsking && (
        <Ask title="Change the settings?" action="Save" onYes={() => onSave(own)} onClose={() => setAsking(false)}>
          <p>
            <Name>{group.group}</Name>: {describe(own)}.
          </p>
          <p class="muted">Items outside of the new window are gone for good.</p>
        </Ask>
      )}
    </form>
  )
}

function describe({ capacity, mode, ttlSeconds }: OwnSettings): string {
  const expiry = ttlSeconds === undefined ? 'by the policy' : ttlSeconds === null ? 'never' : duration(ttlSeconds)
  return `capacity ${capacity === undefined ? 'by the policy' : grouped(capacity)}, mode ${mode ?? 'by the policy'}, expiry ${expiry}`
}

interface NumberFieldProps {
  label: string
  hint: string
  max: number
  isRequired?: boolean
  value: string
  onInput(value: string): void
  follows: boolean
  onFollow(follows: boolean): void
}

function NumberField({ label, hint, max, isRequired, value, onInput, follows, onFollow }: NumberFieldProps) {
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
          required={isRequired && !follows}
          disabled={follows}
          value={value}
          onInput={(event) => onInput(event.currentTarget.value)}
        />
      </label>
      <label class="check">
        <input type="checkbox" checked={follows} onInput={(event) => onFollow(event.currentTarget.checked)} />
        as the policy says
      </label>
    </div>
  )
}

/** The settings of a group, and changing them. */
import { useState } from 'preact/hooks'
import { Outcome, useAction } from './action'
import { api } from './api'
import { type OwnSettings, SettingsForm } from './group-settings-form'
import { grouped } from './numbers'
import { Fact } from './parts'
import { exactDuration, Time } from './time'
import type { Group } from './types'

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
        <Fact term="Expiry">{group.ttlSeconds === null ? 'never' : exactDuration(group.ttlSeconds)}</Fact>
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

/** The settings of a group, and changing them. */
import { useState } from 'preact/hooks'
import { Outcome, useAction } from './action'
import { api } from './api'
import { saving } from './conflict'
import { type OwnSettings, SettingsForm } from './group-settings-form'
import { AdminButton, LookOnly } from './may'
import { Num } from './numbers'
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
  /** The group as it was when the form was opened, or refused; null: there is no form. */
  const [base, setBase] = useState<Group | null>(null)
  const action = useAction()
  const save = async (own: OwnSettings, { own: was }: Group) => {
    const isSaved = await action.run(async () => {
      await saving(() => api.putGroup(group.group, own, was), was, {
        look: () => api.group(group.group),
        settingsOf: (now) => now.own,
        onNow: (now) => setBase(now),
      })
      return 'The settings are saved.'
    })
    if (isSaved) setBase(null)
    onSaved()
  }
  return (
    <section aria-label="Settings" class="panel">
      <dl class="facts">
        <Fact term="Total">
          <Num value={total} />
        </Fact>
        <Fact term="Capacity">
          <Num value={group.capacity} />
        </Fact>
        <Fact term="Mode">{group.mode}</Fact>
        <Fact term="Expiry">{group.ttlSeconds === null ? 'never' : exactDuration(group.ttlSeconds)}</Fact>
        <Fact term="Created">
          <Time at={group.createdAt} both />
        </Fact>
        <AdminButton isExpanded={base !== null} onClick={() => setBase(base === null ? group : null)}>
          Change settings
        </AdminButton>
      </dl>
      <LookOnly />
      {base !== null && <SettingsForm group={base} isSaving={action.isRunning} onSave={(own) => save(own, base)} />}
      <Outcome action={action} />
    </section>
  )
}

/** The settings of a group, with the form that changes them. */
import { useState } from 'preact/hooks'
import type { Group } from '../client/wire'
import { ActionResult, useAction } from './action'
import { ask } from './api'
import { saving } from './conflict'
import { SettingsForm } from './group-settings-form'
import { AdminButton, ReadOnlyNote } from './may'
import { Num } from './numbers'
import { Fact } from './parts'
import { exactDuration, Time } from './time'

interface SettingsProps {
  group: Group
  /** More recent than the group's. */
  total: bigint
  onSaved(): void
}

export function GroupSettings({ group, total, onSaved }: SettingsProps) {
  /** The group when the form was opened, or its save refused; null while there is no form. */
  const [base, setBase] = useState<Group | null>(null)
  const action = useAction()
  const path = { group: group.group }
  const save = async (own: Group['own'], { own: was }: Group) => {
    const isSaved = await action.run(async () => {
      await saving(() => ask('putGroup', { path, body: { ...own, replaces: was } }), was, {
        look: () => ask('getGroup', { path }),
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
      <ReadOnlyNote />
      {base !== null && <SettingsForm group={base} isSaving={action.isRunning} onSave={(own) => save(own, base)} />}
      <ActionResult action={action} />
    </section>
  )
}

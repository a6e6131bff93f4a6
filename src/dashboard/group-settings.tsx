/**
 * The settings of a group, and the forms that make one and change them. `own` says which settings are the group's own. The
 * others stay left to the policy, because a PUT makes every setting that it has the group's own.
 */
import * as operations from '../client/operations'
import type { Group } from '../shared/group-types'
import { link } from './address'
import { ask } from './api'
import { FormButton } from './form-dialog'
import { described } from './form-fields'
import { ClearGroup, DeleteGroup } from './group-actions'
import { Facts, Name, NameLink } from './parts'
import { GROUP_FIELDS, LossText, lossText, settingFacts } from './settings'
import { NewButton } from './thing'

interface SettingsProps {
  group: Group
  /** More recent than the group's. */
  totalAppended: bigint
  onSaved(): void
}

export function GroupSettings({ group, totalAppended, onSaved }: SettingsProps) {
  const path = { group: group.group }
  return (
    <Facts label="Settings" of={{ 'Appended in all': totalAppended, ...settingFacts(group), Created: group.createdAt }}>
      <FormButton
        label="Change settings"
        title="Settings of the group"
        action="Save"
        fields={GROUP_FIELDS}
        settings={group}
        isWhole
        look={() => ask(operations.getGroup, { path })}
        question={(own) => (
          <>
            <p>
              <Name>{group.group}</Name>: {described(GROUP_FIELDS, { ...own, own })}.
            </p>
            <LossText says={lossText} count={(signal) => ask(operations.groupLosses, { path, body: own }, signal)} />
          </>
        )}
        save={(body, headers) => ask(operations.putGroup, { path, body, headers })}
        said="The settings are saved."
        onSaved={onSaved}
      >
        <WhichPolicy prefix={group.policy} />
      </FormButton>
      <ClearGroup group={group.group} />
      <DeleteGroup group={group.group} />
    </Facts>
  )
}

export function NewGroup() {
  return (
    <NewButton
      part="groups"
      fields={GROUP_FIELDS}
      save={(group, body, headers) => ask(operations.putGroup, { path: { group }, body, headers })}
      said="The group is made."
    />
  )
}

function WhichPolicy({ prefix }: { prefix: string | null }) {
  return (
    <p class="muted small">
      {prefix === null ? (
        <>
          This name begins with no <a href={link(['policies'])}>policy</a>: settings that are left to it have their
          defaults.
        </>
      ) : (
        <>
          The policy is <NameLink to={['policies', prefix]}>{prefix}</NameLink>, the longest that the name begins with.
        </>
      )}
    </p>
  )
}

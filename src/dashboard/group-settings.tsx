/**
 * The settings of a group, the form that changes them, and the buttons that clear and delete it. `own` says
 * which settings are the group's own. The others stay left to the policy, because a PUT makes every setting that it has the
 * group's own.
 */
import * as operations from '../client/operations'
import type { Group } from '../shared/group-types'
import { Act } from './action'
import { ask } from './api'
import { FormButton } from './form-dialog'
import { counted, Facts, Name, NameLink, sentence } from './parts'
import { Effect, GROUP_FIELDS, lossText, settingFacts } from './settings'
import { DeleteButton } from './thing'

export function GroupSettings({ group: settings, onSaved }: { group: Group; onSaved(): void }) {
  const { group, policy, totalAppended, createdAt } = settings
  const path = { group }
  return (
    <Facts label="Settings" of={{ 'Appended in all': totalAppended, ...settingFacts(settings), Created: createdAt }}>
      <FormButton
        title="Settings of the group"
        fields={GROUP_FIELDS}
        settings={settings}
        isWhole
        look={() => ask(operations.getGroup, { path })}
        question={(own) => (
          <Effect
            of={group}
            fields={GROUP_FIELDS}
            settings={{ ...own, own }}
            says={lossText}
            count={(signal) => ask(operations.groupLosses, { path, body: own }, signal)}
          />
        )}
        save={(body, headers) => ask(operations.putGroup, { path, body, headers })}
        onSaved={onSaved}
      >
        <p class="muted small">
          Its policy is the longest that its name begins with:{' '}
          {policy === null ? 'none: the defaults apply' : <NameLink to={['policies', policy]}>{policy}</NameLink>}.
        </p>
      </FormButton>
      <Clear group={group} />
      <DeleteButton part="groups" mustType={group} work={() => ask(operations.dropGroup, { path })}>
        <p>
          <Name>{group}</Name> is deleted with its items and its own settings. The next append makes a new group, whose
          ids begin at 0.
        </p>
      </DeleteButton>
    </Facts>
  )
}

function Clear({ group }: { group: string }) {
  return (
    <Act
      label="Clear …"
      scope="append"
      title="Clear the group?"
      action="Remove all items"
      isDanger
      mustType={group}
      work={() => ask(operations.clearGroup, { path: { group } })}
      said={({ deleted }) => sentence`${counted(deleted, 'item')} removed.`}
    >
      <p>{sentence`All items of ${<Name>{group}</Name>} are removed for good. The group stays, and its ids continue.`}</p>
    </Act>
  )
}

/** The policies, by prefix, and the page of one: its settings, the forms that make and change them, and its deletion. */
import * as operations from '../client/operations'
import type { Policy, PolicySettings } from '../shared/group-types'
import { RecentnError } from '../shared/recentn-error'
import { link, type PageQuery } from './address'
import { ask } from './api'
import { FormButton } from './form-dialog'
import { described } from './form-fields'
import { ListPage } from './list-page'
import { Facts, Name, NameLink } from './parts'
import { LossText, POLICY_FIELDS, policyLossText, SETTING_COLUMNS, settingFacts } from './settings'
import type { Column } from './table'
import { DeleteButton, NewButton, ThingPage } from './thing'

const EVERY_MS = 5000

const COLUMNS: readonly Column<Policy>[] = [
  { title: 'Prefix', isName: true, cell: ({ prefix }) => <NameLink to={['policies', prefix]}>{prefix}</NameLink> },
  ...SETTING_COLUMNS,
]

export function PoliciesPage({ listed }: { listed: PageQuery }) {
  return (
    <ListPage
      listed={listed}
      part="policies"
      name="prefix"
      make={<NewPolicy />}
      more={<p class="muted">A group follows the longest policy that its name begins with.</p>}
      load={(query, signal) => ask(operations.listPolicies, { query }, signal)}
      empty="There are no policies: groups without settings of their own have the defaults."
      unmatched="No policy has this in its prefix."
      columns={COLUMNS}
    />
  )
}

function NewPolicy() {
  return (
    <NewButton
      part="policies"
      action="Save"
      name={{ name: 'prefix', label: 'Prefix', hint: 'beginning of names' }}
      fields={POLICY_FIELDS}
      question={({ prefix, ...settings }) => <Effect prefix={prefix as string} settings={settings} />}
      save={(prefix, settings, headers) => {
        const parts = { path: { prefix }, body: settings as unknown as PolicySettings, headers }
        return ask(operations.putPolicy, parts).catch(refuseReplacing)
      }}
      said="The policy is saved."
    />
  )
}

/** Throws an error that says which policy the prefix has already. */
function refuseReplacing(error: unknown): never {
  if (!(error instanceof RecentnError) || error.code !== 'already_exists') throw error
  const there = error.cause as Policy
  const detail = `There is a policy for ${there.prefix} already: ${described(POLICY_FIELDS, there)}. Nothing was saved.`
  throw new RecentnError(error.code, detail, { status: error.status })
}

export function PolicyPage({ prefix }: { prefix: string }) {
  const path = { prefix }
  const load = (signal?: AbortSignal) => ask(operations.getPolicy, { path }, signal)
  return (
    <ThingPage
      up={['policies']}
      name={prefix}
      everyMs={EVERY_MS}
      load={load}
      beside={() => <a href={link(['groups'], { prefix })}>Groups that begin with it</a>}
    >
      {(policy, refresh) => (
        <Facts label="Settings" of={settingFacts(policy)}>
          <FormButton
            label="Change settings"
            title="Settings of the policy"
            action="Save"
            fields={POLICY_FIELDS}
            settings={policy}
            look={load}
            question={(changes) => <Effect prefix={prefix} settings={{ ...policy, ...changes }} />}
            save={(body, headers) => ask(operations.updatePolicy, { path, body, headers })}
            said="The policy is saved. Groups follow it within 5 seconds."
            onSaved={refresh}
          />
          <Delete prefix={prefix} />
        </Facts>
      )}
    </ThingPage>
  )
}

function Effect({ prefix, settings }: { prefix: string; settings: object }) {
  const { prefix: _prefix, tag: _tag, ...body } = settings as Policy
  return (
    <>
      <p>
        <Name>{prefix}</Name>: {described(POLICY_FIELDS, settings)}.
      </p>
      <LossText
        says={policyLossText}
        count={(signal) => ask(operations.policyLosses, { path: { prefix }, body }, signal)}
      />
      <p class="muted">
        It applies to groups whose names begin with it and with no longer prefix, for the settings that they have not
        set themselves.
      </p>
    </>
  )
}

function Delete({ prefix }: { prefix: string }) {
  // Without a body: what its deletion would remove.
  const parts = { path: { prefix }, body: undefined as unknown as PolicySettings }
  return (
    <DeleteButton
      part="policies"
      look={(signal) => ask(operations.policyLosses, parts, signal)}
      work={() => ask(operations.deletePolicy, { path: { prefix } })}
    >
      {(losses) => (
        <>
          <p>
            Groups that follow <Name>{prefix}</Name> then follow the next shorter prefix, or the defaults.
          </p>
          <p>{policyLossText(losses)}</p>
        </>
      )}
    </DeleteButton>
  )
}

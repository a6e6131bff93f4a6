/** One policy: its settings, the form that changes them, and the button that deletes it; and the form for a new one. */
import * as operations from '../client/operations'
import type { Policy, PolicySettings } from '../shared/group-types'
import { RecentnError } from '../shared/recentn-error'
import { Act } from './action'
import { goTo, link } from './address'
import { ask } from './api'
import { FormButton } from './form-dialog'
import { described } from './form-fields'
import { useAccess } from './may'
import { Facts, LoadState, Name, PageHead } from './parts'
import { usePolled } from './polled'
import { LossText, POLICY_FIELDS, policyLossText, settingFacts } from './settings'

const EVERY_MS = 5000

export function PolicyPage({ prefix }: { prefix: string }) {
  const { data, error, refresh } = usePolled(
    (signal) => ask(operations.getPolicy, { path: { prefix } }, signal),
    prefix,
    EVERY_MS,
  )
  return (
    <>
      <PageHead over={<a href={link(['policies'])}>Policies</a>} title={<Name>{prefix}</Name>}>
        <a href={link(['groups'], { prefix })}>Groups that begin with it</a>
      </PageHead>
      <LoadState data={data} error={error} />
      {data !== null && (
        <Facts label="Settings" of={settingFacts(data)}>
          <ChangePolicy policy={data} onSaved={refresh} />
          <Delete prefix={prefix} />
        </Facts>
      )}
    </>
  )
}

function ChangePolicy({ policy, onSaved }: { policy: Policy; onSaved(): void }) {
  const { prefix, tag: _tag, ...settings } = policy
  const path = { prefix }
  return (
    <FormButton
      label="Change settings"
      title="Settings of the policy"
      action="Save"
      fields={POLICY_FIELDS}
      settings={policy}
      look={() => ask(operations.getPolicy, { path })}
      question={(changes) => <Effect prefix={prefix} settings={{ ...settings, ...changes }} />}
      save={(settings, headers) => ask(operations.updatePolicy, { path, body: settings, headers })}
      said="The policy is saved. Groups follow it within 5 seconds."
      onSaved={onSaved}
    />
  )
}

export function NewPolicy() {
  const initial = useAccess()?.prefix ?? ''
  return (
    <FormButton
      label="New policy"
      title="New policy"
      action="Save"
      fields={[
        { name: 'prefix', label: 'Prefix', hint: 'beginning of names', isRequired: true, initial },
        ...POLICY_FIELDS,
      ]}
      settings={null}
      question={({ prefix, ...settings }) => <Effect prefix={prefix as string} settings={settings} />}
      save={({ prefix, ...settings }, headers) => {
        const parts = { path: { prefix: prefix as string }, body: settings as unknown as PolicySettings, headers }
        return ask(operations.putPolicy, parts).catch(refuseReplacing)
      }}
      said="The policy is saved."
      onSaved={({ prefix }) => goTo(['policies', prefix as string])}
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

function Effect({ prefix, settings }: { prefix: string; settings: object }) {
  const parts = { path: { prefix }, body: settings as PolicySettings }
  return (
    <>
      <p>
        <Name>{prefix}</Name>: {described(POLICY_FIELDS, settings)}.
      </p>
      <LossText says={policyLossText} count={(signal) => ask(operations.policyLosses, parts, signal)} />
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
    <Act
      label="Delete …"
      title="Delete the policy?"
      action="Delete"
      isDanger
      look={(signal) => ask(operations.policyLosses, parts, signal)}
      work={() => ask(operations.deletePolicy, { path: { prefix } })}
      said="The policy is deleted."
      onDone={() => goTo(['policies'])}
    >
      {(losses) => (
        <>
          <p>
            Groups that follow <Name>{prefix}</Name> then follow the next shorter prefix, or the defaults.
          </p>
          <p>{policyLossText(losses)}</p>
        </>
      )}
    </Act>
  )
}

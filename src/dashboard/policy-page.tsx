/** The policies, by prefix, and the page of one: its settings, the forms that make and change them, and its deletion. */
import * as operations from '../client/operations'
import type { Policy, PolicySettings } from '../shared/group-types'
import { RecentnError } from '../shared/recentn-error'
import { link, type PageQuery } from './address'
import { ask } from './api'
import { FormButton } from './form-dialog'
import { described } from './form-fields'
import { ListPage } from './list-page'
import { Facts, Name, NameLink, sentence } from './parts'
import { Effect, POLICY_FIELDS, policyLossText, SETTING_COLUMNS, settingFacts } from './settings'
import type { Column } from './table'
import { DeleteButton, NewButton, ThingPage } from './thing'

const COLUMNS: readonly Column<Policy>[] = [
  { title: 'Prefix', isName: true, cell: ({ prefix }) => <NameLink to={['policies', prefix]}>{prefix}</NameLink> },
  ...SETTING_COLUMNS,
]

export function PoliciesPage({ listed }: { listed: PageQuery }) {
  const make = (
    <NewButton
      part="policies"
      action="Save"
      name={{ label: 'Prefix', hint: 'beginning of names' }}
      fields={POLICY_FIELDS}
      question={({ prefix, ...settings }) => <PolicyEffect policy={{ prefix, ...settings } as Policy} />}
      save={(prefix, body, headers) =>
        ask(operations.putPolicy, { path: { prefix }, body: body as unknown as PolicySettings, headers }).catch(refuse)
      }
      said="The policy is saved."
    />
  )
  return (
    <ListPage
      listed={listed}
      part="policies"
      make={make}
      more={<p class="muted">A group follows the longest policy that its name begins with.</p>}
      load={(query, signal) => ask(operations.listPolicies, { query }, signal)}
      empty="There are no policies: groups without settings of their own have the defaults."
      unmatched="No policy has this in its prefix."
      columns={COLUMNS}
    />
  )
}

/** Says which policy the prefix has already. */
function refuse(error: unknown): never {
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
      load={load}
      beside={() => <a href={link(['groups'], { prefix })}>Groups that begin with it</a>}
    >
      {(policy, refresh) => (
        <Facts label="Settings" of={settingFacts(policy)}>
          <FormButton
            title="Settings of the policy"
            fields={POLICY_FIELDS}
            settings={policy}
            look={load}
            question={(changes) => <PolicyEffect policy={{ ...policy, ...changes }} />}
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

function PolicyEffect({ policy: { prefix, tag: _tag, ...body } }: { policy: Policy }) {
  const count = (signal: AbortSignal) => ask(operations.policyLosses, { path: { prefix }, body }, signal)
  return (
    <>
      <Effect of={prefix} fields={POLICY_FIELDS} settings={body} count={count} says={policyLossText} />
      <p class="muted">Groups of a longer prefix do not change, nor do settings that a group has set itself.</p>
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
      work={() => ask(operations.dropPolicy, { path: { prefix } })}
    >
      {(losses) => (
        <>
          <p>{sentence`Groups that follow ${<Name>{prefix}</Name>} then follow the next shorter prefix, or the defaults.`}</p>
          <p>{policyLossText(losses)}</p>
        </>
      )}
    </DeleteButton>
  )
}

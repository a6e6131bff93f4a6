/** The policies, by prefix, and the form for a new one. */

import { useState } from 'preact/hooks'
import * as operations from '../client/operations'
import type { Policy } from '../shared/group-types'
import { RecentnError } from '../shared/recentn-error'
import { ActionResult, useAction } from './action'
import { goTo } from './address'
import { ask } from './api'
import { type Column, type Listed, ListPage } from './list-page'
import { AdminButton, ReadOnlyNote } from './may'
import { NameLink } from './parts'
import { PolicyForm } from './policy-form'
import { described, SETTING_COLUMNS, type WholeSettings } from './settings'

export function PoliciesPage({ listed }: { listed: Listed }) {
  return (
    <ListPage
      listed={listed}
      title="Policies"
      part="policies"
      name="prefix"
      above={() => <NewPolicy />}
      load={(query, signal) => ask(operations.listPolicies, { query }, signal)}
      empty="There are no policies: groups without settings of their own have the defaults."
      unmatched="No policy has this in its prefix."
      columns={COLUMNS}
    />
  )
}

const COLUMNS: readonly Column<Policy>[] = [
  { title: 'Prefix', cell: ({ prefix }) => <NameLink to={['policies', prefix]}>{prefix}</NameLink> },
  ...SETTING_COLUMNS,
]

/** Throws an error that says which policy the prefix has already. */
function refuseReplacing(prefix: string, error: unknown): never {
  if (!(error instanceof RecentnError) || error.code !== 'already_exists') throw error
  const there = described(error.cause as Policy)
  const detail = `There is a policy for ${prefix} already: ${there}. Nothing was saved.`
  throw new RecentnError(error.code, detail, { status: error.status })
}

function NewPolicy() {
  const [isOpen, setOpen] = useState(false)
  const action = useAction()
  const save = async (prefix: string, settings: WholeSettings) => {
    const isSaved = await action.run(async () => {
      const parts = { path: { prefix }, body: settings, headers: { 'If-None-Match': '*' } }
      await ask(operations.putPolicy, parts).catch((error) => refuseReplacing(prefix, error))
      return 'The policy is saved.'
    })
    if (isSaved) goTo(['policies', prefix])
  }
  return (
    <section aria-label="New policy" class="panel ahead">
      <div class="facts">
        <p class="muted">A group follows the longest policy that its name begins with.</p>
        <AdminButton isExpanded={isOpen} onClick={() => setOpen(!isOpen)}>
          New policy
        </AdminButton>
      </div>
      <ReadOnlyNote />
      {isOpen && <PolicyForm policy={null} isSaving={action.isRunning} onSave={save} />}
      <ActionResult action={action} />
    </section>
  )
}

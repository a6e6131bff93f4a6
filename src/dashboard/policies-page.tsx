/** The policies, by prefix, and the form for a new one. */
import * as operations from '../client/operations'
import type { Policy } from '../shared/group-types'
import { ask } from './api'
import { type Listed, ListPage } from './list-page'
import { NameLink } from './parts'
import { NewPolicy } from './policy-page'
import { SETTING_COLUMNS } from './settings'
import type { Column } from './table'

export function PoliciesPage({ listed }: { listed: Listed }) {
  return (
    <ListPage
      listed={listed}
      title="Policies"
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

const COLUMNS: readonly Column<Policy>[] = [
  { title: 'Prefix', isName: true, cell: ({ prefix }) => <NameLink to={['policies', prefix]}>{prefix}</NameLink> },
  ...SETTING_COLUMNS,
]

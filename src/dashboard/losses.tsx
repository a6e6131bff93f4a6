/** The items that a change of settings would remove, as the server counts them, for the dialog that asks for confirmation. */
import * as operations from '../client/operations'
import type { Group, Losses, PolicySettings } from '../shared/group-types'
import { ask } from './api'
import { counted, Loaded } from './parts'
import { usePolled } from './polled'

export function GroupLossText({ group, own }: { group: string; own: Group['own'] }) {
  const parts = { path: { group }, body: own }
  const counting = usePolled((signal) => ask(operations.groupLosses, parts, signal), '', null)
  return (
    <Loaded of={counting}>
      <p>{counting.data !== null && lossText(counting.data)}</p>
    </Loaded>
  )
}

/** `policy`: null if it is deleted. */
export function PolicyLossText({ prefix, policy }: { prefix: string; policy: PolicySettings | null }) {
  // Without a body: what its deletion would remove.
  const parts = { path: { prefix }, body: policy ?? (undefined as unknown as PolicySettings) }
  const counting = usePolled((signal) => ask(operations.policyLosses, parts, signal), '', null)
  const { groups = 0 } = counting.data ?? {}
  return (
    <Loaded of={counting}>
      <p>
        {groups === 0 ? 'No group' : counted(groups, 'group')} {groups > 1 ? 'follow' : 'follows'} it.{' '}
        {counting.data !== null && groups > 0 && lossText(counting.data)}
      </p>
    </Loaded>
  )
}

function lossText({ groups, losingGroups, items, isExact }: Losses): string {
  if (items === 0) return 'No item is removed.'
  const where = losingGroups < groups || groups > 1 ? ` in ${losingGroups} of them` : ''
  return `${isExact ? '' : 'At most '}${counted(items, 'item')}${where} ${items === 1 ? 'is' : 'are'} removed for good.`
}

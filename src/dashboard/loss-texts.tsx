/** What a change of settings would remove: the text in the dialog that asks for confirmation. */
import type { Group } from '../client/wire'
import { lossOf, policyLoss } from './losses'
import { counted } from './numbers'
import { Counted } from './parts'
import { usePolled } from './polled'
import type { WholeSettings } from './settings-fields'

export function GroupLossText({ group, own }: { group: string; own: Group['own'] }) {
  const counting = usePolled((signal) => lossOf(group, own, signal), '', null)
  const { items, lost } = counting.data ?? { items: 0, lost: 0 }
  return (
    <Counted of={counting}>
      {lost === 0 && <p>No item is removed.</p>}
      {lost === null && (
        <p>Of {counted(items, 'item')}, those beyond the server's default capacity are removed for good.</p>
      )}
      {lost !== null && lost > 0 && (
        <p>
          {lost} of {counted(items, 'item')} {lost === 1 ? 'is' : 'are'} removed for good.
        </p>
      )}
    </Counted>
  )
}

/** `policy` is null if the policy is to be deleted. */
export function PolicyLossText({ prefix, policy }: { prefix: string; policy: WholeSettings | null }) {
  const counting = usePolled((signal) => policyLoss(prefix, policy, signal), '', null)
  const { groups, losing, items, isMore } = counting.data ?? { groups: 0, losing: 0, items: 0, isMore: false }
  const among = isMore ? 'Among the first 1000 groups that begin with it, ' : ''
  return (
    <Counted of={counting}>
      <p>
        {among}
        {groups === 0
          ? `${among ? 'no' : 'No'} group follows it.`
          : `${counted(groups, 'group')} ${groups === 1 ? 'follows' : 'follow'} it.`}{' '}
        {groups > 0 && (losing === 0 ? 'No item is removed.' : lossText(groups, losing, items))}
      </p>
    </Counted>
  )
}

function lossText(groups: number, losing: number, items: number): string {
  const where = groups === 1 ? 'in it' : `in ${losing} of them`
  return `At most ${counted(items, 'item')} ${where} ${items === 1 ? 'is' : 'are'} removed for good.`
}

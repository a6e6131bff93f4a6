/** The settings of groups and policies: their columns and fields, and what a change of them would remove. */
import type { Group, Losses, Policy } from '../shared/group-types'
import { described, type FormField } from './form-fields'
import { Badge, counted, LoadState, Name, sentence } from './parts'
import { usePolled } from './polled'
import type { Column } from './table'
import { exactDuration } from './time'

export type WholeSettings = Omit<Policy, 'prefix' | 'tag'>

const orNever = (seconds: number | null) => (seconds === null ? 'never' : exactDuration(seconds))

/** The columns of lists of groups and policies. */
export const SETTING_COLUMNS: readonly Column<WholeSettings>[] = [
  { title: 'Capacity', kind: 'number', cell: ({ capacity }) => capacity },
  { title: 'Mode', cell: ({ mode }) => (mode === 'history' ? mode : <Badge>{mode}</Badge>) },
  { title: 'Expiry', cell: ({ ttlSeconds }) => ttlSeconds && exactDuration(ttlSeconds) },
]

const MODES: readonly Group['mode'][] = ['history', 'distinct', 'top']
const EXPIRY = { kind: 'seconds', least: 1, most: 315_360_000_000, empty: 'never' } as const

export const POLICY_FIELDS: readonly FormField[] = [
  { name: 'capacity', label: 'Capacity', hint: '1 to 10000', kind: 'number', least: 1, most: 10_000, isRequired: true },
  { name: 'mode', label: 'Mode', kind: 'choice', choices: MODES, initial: 'history' },
  { name: 'ttlSeconds', label: 'Expiry', ...EXPIRY },
  { name: 'forgetEmptySeconds', label: 'Forget when empty', ...EXPIRY },
]

export const GROUP_FIELDS = POLICY_FIELDS.map((field): FormField => ({ ...field, left: 'as the policy says' }))

export const settingFacts = ({ capacity, mode, ttlSeconds, forgetEmptySeconds }: WholeSettings) => ({
  Capacity: capacity,
  Mode: mode,
  Expiry: orNever(ttlSeconds),
  'Forgotten when empty': orNever(forgetEmptySeconds),
})

interface EffectProps {
  of: string
  fields: readonly FormField[]
  settings: object
  /** As the server counts. */
  count(signal: AbortSignal): Promise<Losses>
  says: typeof lossText
}

/** The question before a change: the settings in words, and the items that it would remove. */
export function Effect({ of, fields, settings, count, says }: EffectProps) {
  const { data, error } = usePolled(count, '', null)
  return (
    <>
      <p>
        <Name>{of}</Name> will have {described(fields, settings)}.
      </p>
      {data === null ? <LoadState data={data} error={error} /> : <p>{says(data)}</p>}
    </>
  )
}

export function policyLossText(losses: Losses) {
  const { groups } = losses
  return groups === 0
    ? sentence`No group follows it.`
    : sentence`${counted(groups, 'group')} ${groups > 1 ? 'follow' : 'follows'} it. ${lossText(losses)}`
}

export function lossText({ groups, losingGroups, items, isExact }: Losses) {
  if (items === 0) return sentence`No item is removed.`
  const where = losingGroups < groups || groups > 1 ? sentence` in ${losingGroups} of them` : ''
  return sentence`${isExact ? '' : 'At most '}${counted(items, 'item')}${where} ${items === 1 ? 'is' : 'are'} removed for good.`
}

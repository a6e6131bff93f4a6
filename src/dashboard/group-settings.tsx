/**
 * The settings of a group, with the form that changes them. `own` says which settings are the group's own. The others stay
 * left to the policy unless the user changes them, because a PUT makes every setting that it has the group's own.
 */

import { useState } from 'preact/hooks'
import * as operations from '../client/operations'
import type { Group } from '../shared/group-types'
import { ActionResult, useAction } from './action'
import { link } from './address'
import { ask, ifTag } from './api'
import { submitting } from './form'
import { ClearGroup, DeleteGroup } from './group-actions'
import { GroupLossText } from './losses'
import { AdminButton, ReadOnlyNote } from './may'
import { Ask, Fact, Name, NameLink } from './parts'
import {
  CapacityField,
  described,
  ExpiryField,
  ForgetField,
  ModeField,
  orNever,
  saving,
  ttlOf,
  typedTtl,
  useRebase,
} from './settings'
import { Time } from './time'

interface SettingsProps {
  group: Group
  /** More recent than the group's. */
  totalAppended: bigint
  onSaved(): void
}

export function GroupSettings({ group, totalAppended, onSaved }: SettingsProps) {
  /** The group when the form was opened, or its save refused; null while there is no form. */
  const [base, setBase] = useState<Group | null>(null)
  const action = useAction()
  const path = { group: group.group }
  const save = async (own: Group['own'], { own: was, tag }: Group) => {
    const isSaved = await action.run(async () => {
      await saving(() => ask(operations.putGroup, { path, body: own, headers: ifTag(tag) }), was, {
        look: () => ask(operations.getGroup, { path }),
        settingsOf: (now) => now.own,
        onNow: (now) => setBase(now),
      })
      return 'The settings are saved.'
    })
    if (isSaved) setBase(null)
    onSaved()
  }
  return (
    <section aria-label="Settings" class="panel">
      <dl class="facts">
        <Fact term="Appended in all">{totalAppended}</Fact>
        <Fact term="Capacity">{group.capacity}</Fact>
        <Fact term="Mode">{group.mode}</Fact>
        <Fact term="Expiry">{orNever(group.ttlSeconds)}</Fact>
        <Fact term="Forgotten when empty">{orNever(group.forgetEmptySeconds)}</Fact>
        <Fact term="Created">
          <Time at={group.createdAt} both />
        </Fact>
        <div class="buttons">
          <AdminButton isExpanded={base !== null} onClick={() => setBase(base === null ? group : null)}>
            Change settings
          </AdminButton>
          <ClearGroup group={group.group} />
          <DeleteGroup group={group.group} />
        </div>
      </dl>
      <ReadOnlyNote />
      {base !== null && <SettingsForm group={base} isSaving={action.isRunning} onSave={(own) => save(own, base)} />}
      <ActionResult action={action} />
    </section>
  )
}

type FormProps = { group: Group; isSaving: boolean; onSave(own: Group['own']): void }

const FOLLOW = 'policy'

export function SettingsForm({ group, isSaving, onSave }: FormProps) {
  const [typed, setTyped] = useState(() => typedOf(group))
  const [follows, setFollows] = useState(() => followedIn(group.own))
  const [isAsking, setAsking] = useState(false)
  useRebase(group, (was, now) => {
    const isTouched = (name: keyof TypedSettings) =>
      typed[name] !== typedOf(was)[name] || follows[name] !== followedIn(was.own)[name]
    const names = (['capacity', 'mode', 'ttlSeconds', 'forgetEmptySeconds'] as const).filter((name) => !isTouched(name))
    const taken = <T extends object>(from: T) => Object.fromEntries(names.map((name) => [name, from[name as keyof T]]))
    setTyped({ ...typed, ...taken(typedOf(now)) } as TypedSettings)
    setFollows({ ...follows, ...taken(followedIn(now.own)) })
  })
  const own = ownOf(typed, follows)
  const field = (name: 'capacity' | 'ttlSeconds' | 'forgetEmptySeconds') => ({
    // The value of the policy is known only if it is in force.
    value: !follows[name] ? typed[name] : name in group.own ? '' : typedOf(group)[name],
    onInput: (value: string) => setTyped({ ...typed, [name]: value }),
    isLeft: follows[name],
    children: <Follow isOn={follows[name]} onChange={(isOn) => setFollows({ ...follows, [name]: isOn })} />,
  })
  const setMode = (mode: string) => {
    setFollows({ ...follows, mode: mode === FOLLOW })
    if (mode !== FOLLOW) setTyped({ ...typed, mode: mode as Group['mode'] })
  }
  return (
    <form class="settings" onSubmit={submitting(() => setAsking(true))}>
      <CapacityField {...field('capacity')} />
      <ModeField value={follows.mode ? FOLLOW : typed.mode} onInput={setMode}>
        <option value={FOLLOW}>as the policy says</option>
      </ModeField>
      <ExpiryField {...field('ttlSeconds')} />
      <ForgetField {...field('forgetEmptySeconds')} />
      <div class="buttons">
        <button type="submit" class="primary" disabled={isSaving}>
          Save …
        </button>
      </div>
      <WhichPolicy prefix={group.policy} />
      {isAsking && (
        <Ask title="Change the settings?" action="Save" onYes={() => onSave(own)} onClose={() => setAsking(false)}>
          <p>
            <Name>{group.group}</Name>: {described(own)}.
          </p>
          <GroupLossText group={group.group} own={own} />
        </Ask>
      )}
    </form>
  )
}

const typedOf = ({ capacity, mode, ttlSeconds, forgetEmptySeconds }: Group) => ({
  capacity: String(capacity),
  mode,
  ttlSeconds: typedTtl(ttlSeconds),
  forgetEmptySeconds: typedTtl(forgetEmptySeconds),
})
type TypedSettings = ReturnType<typeof typedOf>

const followedIn = (own: Group['own']) => ({
  capacity: own.capacity === undefined,
  mode: own.mode === undefined,
  ttlSeconds: own.ttlSeconds === undefined,
  forgetEmptySeconds: own.forgetEmptySeconds === undefined,
})

function ownOf(typed: TypedSettings, follows: ReturnType<typeof followedIn>): Group['own'] {
  return {
    ...(!follows.capacity && { capacity: Number(typed.capacity) }),
    ...(!follows.mode && { mode: typed.mode }),
    ...(!follows.ttlSeconds && { ttlSeconds: ttlOf(typed.ttlSeconds) }),
    ...(!follows.forgetEmptySeconds && { forgetEmptySeconds: ttlOf(typed.forgetEmptySeconds) }),
  }
}

function Follow({ isOn, onChange }: { isOn: boolean; onChange(isOn: boolean): void }) {
  return (
    <label class="check">
      <input type="checkbox" checked={isOn} onInput={(event) => onChange(event.currentTarget.checked)} />
      as the policy says
    </label>
  )
}

function WhichPolicy({ prefix }: { prefix: string | null }) {
  return (
    <p class="muted small note">
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

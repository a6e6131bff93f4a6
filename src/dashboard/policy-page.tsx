/** One policy: its settings, the form that changes them, and the button that deletes it. */

import { useState } from 'preact/hooks'
import * as operations from '../client/operations'
import type { Policy } from '../shared/group-types'
import { Act, ActionResult, useAction } from './action'
import { goTo, link } from './address'
import { ask, ifTag } from './api'
import { PolicyLossText } from './losses'
import { AdminButton, ReadOnlyNote } from './may'
import { Ask, Fact, LoadState, Name, PageHead } from './parts'
import { PolicyForm } from './policy-form'
import { usePolled } from './polled'
import { orNever, saving, type WholeSettings } from './settings'

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
      {data !== null && <Settings policy={data} onSaved={refresh} />}
    </>
  )
}

function Settings({ policy, onSaved }: { policy: Policy; onSaved(): void }) {
  const { prefix, capacity, mode, ttlSeconds, forgetEmptySeconds } = policy
  /** The policy when the form was opened, or its save refused; null while there is no form. */
  const [base, setBase] = useState<Policy | null>(null)
  const action = useAction()
  const path = { prefix }
  const save = async (body: WholeSettings, was: Policy) => {
    const isSaved = await action.run(async () => {
      await saving(() => ask(operations.putPolicy, { path, body, headers: ifTag(was.tag) }), was, {
        look: () => ask(operations.getPolicy, { path }),
        settingsOf: (now) => now,
        onNow: (now) => setBase(now),
      })
      return 'The policy is saved. Groups follow it within 5 seconds.'
    })
    if (isSaved) setBase(null)
    onSaved()
  }
  return (
    <section aria-label="Settings" class="panel">
      <dl class="facts">
        <Fact term="Capacity">{capacity}</Fact>
        <Fact term="Mode">{mode}</Fact>
        <Fact term="Expiry">{orNever(ttlSeconds)}</Fact>
        <Fact term="Forgotten when empty">{orNever(forgetEmptySeconds)}</Fact>
        <div class="buttons">
          <AdminButton isExpanded={base !== null} onClick={() => setBase(base === null ? policy : null)}>
            Change settings
          </AdminButton>
          <Delete prefix={prefix} />
        </div>
      </dl>
      <ReadOnlyNote />
      {base !== null && (
        <PolicyForm policy={base} isSaving={action.isRunning} onSave={(_, settings) => save(settings, base)} />
      )}
      <ActionResult action={action} />
    </section>
  )
}

function Delete({ prefix }: { prefix: string }) {
  const remove = async () => {
    await ask(operations.deletePolicy, { path: { prefix } })
    return 'The policy is deleted.'
  }
  return (
    <Act label="Delete …" work={remove} onDone={() => goTo(['policies'])}>
      {(asking) => (
        <Ask title="Delete the policy?" action="Delete" isDanger {...asking}>
          <p>
            Groups that follow <Name>{prefix}</Name> then follow the next shorter prefix, or the defaults.
          </p>
          <PolicyLossText prefix={prefix} policy={null} />
        </Ask>
      )}
    </Act>
  )
}

/** One policy: what it says, changing it, deleting it. */
import { useState } from 'preact/hooks'
import { Outcome, useAction } from './action'
import { api } from './api'
import { grouped } from './numbers'
import { Ask, Fact, Loading, Name, Problem, Stale } from './parts'
import { goTo, link } from './place'
import { PolicyForm } from './policy-form'
import { usePolled } from './polled'
import { exactDuration } from './time'
import type { Policy, PolicySettings } from './types'

const EVERY_MS = 5000

export function PolicyPage({ prefix }: { prefix: string }) {
  const { data, error, refresh } = usePolled((signal) => api.policy(prefix, signal), prefix, EVERY_MS)
  return (
    <>
      <p class="over">
        <a href={link(['policies'])}>Policies</a>
      </p>
      <div class="head">
        <h1 tabIndex={-1}>
          <Name>{prefix}</Name>
        </h1>
        <a href={link(['groups'], { prefix })}>Groups that begin with it</a>
      </div>
      {data === null && (error === null ? <Loading /> : <Problem error={error} />)}
      {data !== null && <Stale error={error} />}
      {data !== null && <Settings policy={data} onSaved={refresh} />}
    </>
  )
}

function Settings({ policy, onSaved }: { policy: Policy; onSaved(): void }) {
  const { prefix, capacity, mode, ttlSeconds } = policy
  const [isEditing, setEditing] = useState(false)
  const action = useAction()
  const save = async (_: string, settings: PolicySettings) => {
    const isSaved = await action.run(async () => {
      await api.putPolicy(prefix, settings)
      return 'The policy is saved. Groups obey it within 5 seconds.'
    })
    if (!isSaved) return
    setEditing(false)
    onSaved()
  }
  const remove = async () => {
    const isGone = await action.run(async () => {
      await api.deletePolicy(prefix)
      return 'The policy is deleted.'
    })
    if (isGone) goTo(['policies'])
  }
  return (
    <section aria-label="Settings" class="panel">
      <dl class="facts">
        <Fact term="Capacity">{grouped(capacity)}</Fact>
        <Fact term="Mode">{mode}</Fact>
        <Fact term="Expiry">{ttlSeconds === null ? 'never' : exactDuration(ttlSeconds)}</Fact>
        <div class="buttons">
          <button type="button" aria-expanded={isEditing} onClick={() => setEditing(!isEditing)}>
            Change settings
          </button>
          <Delete prefix={prefix} isDeleting={action.isRunning} onYes={remove} />
        </div>
      </dl>
      {isEditing && <PolicyForm policy={policy} isSaving={action.isRunning} onSave={save} />}
      <Outcome action={action} />
    </section>
  )
}

function Delete({ prefix, isDeleting, onYes }: { prefix: string; isDeleting: boolean; onYes(): void }) {
  const [isAsking, setAsking] = useState(false)
  return (
    <>
      <button type="button" disabled={isDeleting} onClick={() => setAsking(true)}>
        Delete …
      </button>
      {isAsking && (
        <Ask title="Delete the policy?" action="Delete" isDanger onYes={onYes} onClose={() => setAsking(false)}>
          <p>
            Groups that follow <Name>{prefix}</Name> then follow the next shorter prefix, or the defaults. Their items
            outside of the window that they have then are gone for good.
          </p>
        </Ask>
      )}
    </>
  )
}

/** Pause, redrive and purge: each asks first where it can't be taken back. */
import { useState } from 'preact/hooks'
import { Outcome, useAction } from './action'
import { api } from './api'
import { counted } from './numbers'
import { Ask, Name } from './parts'
import type { Queue, QueueSettings } from './types'

/** What a PUT takes of what a GET has given: what it leaves out would take its default. */
function settingsOf(queue: Queue): QueueSettings {
  const { visibilityTimeoutSeconds, maxReceives, deadLetterQueue, onDelete, retentionSeconds, paused } = queue
  return { visibilityTimeoutSeconds, maxReceives, deadLetterQueue, onDelete, retentionSeconds, paused }
}

async function setPaused(name: string, paused: boolean): Promise<string> {
  const now = await api.queue(name)
  await api.putQueue(name, { ...settingsOf(now), paused })
  return paused ? 'Paused: receives get nothing.' : 'Resumed.'
}

async function redrive(name: string): Promise<string> {
  const { moved } = await api.redrive(name)
  return `${counted(moved, 'message')} went back.`
}

async function purge(name: string): Promise<string> {
  const { deleted } = await api.purge(name)
  return `${counted(deleted, 'message')} dropped.`
}

interface ActionsProps {
  queue: Queue
  onDone(): void
}

export function QueueActions({ queue, onDone }: ActionsProps) {
  const [asking, setAsking] = useState<'redrive' | 'purge' | null>(null)
  const action = useAction()
  const { queue: name, paused, counts, isDeadLetterQueue } = queue
  const run = async (work: () => Promise<string>) => {
    await action.run(work)
    onDone()
  }
  const close = () => setAsking(null)
  return (
    <div class="actions">
      <div class="buttons">
        {(counts.dead > 0 || isDeadLetterQueue) && (
          <button type="button" class="primary" disabled={action.isRunning} onClick={() => setAsking('redrive')}>
            Redrive …
          </button>
        )}
        <button type="button" disabled={action.isRunning} onClick={() => run(() => setPaused(name, !paused))}>
          {paused ? 'Resume' : 'Pause'}
        </button>
        <button type="button" disabled={action.isRunning} onClick={() => setAsking('purge')}>
          Purge …
        </button>
      </div>
      <Outcome action={action} />
      {asking === 'redrive' && (
        <Ask title="Redrive the dead?" action="Redrive" onYes={() => run(() => redrive(name))} onClose={close}>
          <p>
            The dead messages in <Name>{name}</Name> go back to where they came from, and are tried again from the
            beginning.
          </p>
        </Ask>
      )}
      {asking === 'purge' && (
        <Ask
          title="Purge?"
          action="Drop them"
          isDanger
          typed={name}
          onYes={() => run(() => purge(name))}
          onClose={close}
        >
          <p>
            {counted(counts.ready + counts.delayed, 'message')} that are ready or delayed are dropped, for good. What is
            in flight, dead or archived stays.
          </p>
        </Ask>
      )}
    </div>
  )
}

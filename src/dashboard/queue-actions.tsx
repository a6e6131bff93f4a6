/** Pause, redrive and purge: each asks first where it can't be taken back. */
import { useState } from 'preact/hooks'
import { Outcome, useAction } from './action'
import { api } from './api'
import { AdminButton, LookOnly } from './may'
import { counted } from './numbers'
import { PurgeQuestion, RedriveQuestion } from './queue-questions'
import type { Queue } from './types'

async function pause(name: string): Promise<string> {
  await api.pauseQueue(name)
  return 'Paused: receives get nothing.'
}

async function resume(name: string): Promise<string> {
  await api.resumeQueue(name)
  return 'Resumed.'
}

async function redrive(name: string): Promise<string> {
  const { moved } = await api.redrive(name)
  return `${counted(moved, 'message')} went back.`
}

async function purge(name: string): Promise<string> {
  const { deleted } = await api.purge(name)
  return `${counted(deleted, 'message')} deleted.`
}

interface ActionsProps {
  queue: Queue
  /** The queues whose dead letters come here. */
  from: readonly string[]
  onDone(): void
}

export function QueueActions({ queue, from, onDone }: ActionsProps) {
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
          <AdminButton class="primary" isDisabled={action.isRunning} onClick={() => setAsking('redrive')}>
            Redrive …
          </AdminButton>
        )}
        <AdminButton isDisabled={action.isRunning} onClick={() => run(() => (paused ? resume : pause)(name))}>
          {paused ? 'Resume' : 'Pause'}
        </AdminButton>
        <AdminButton isDisabled={action.isRunning} onClick={() => setAsking('purge')}>
          Purge …
        </AdminButton>
      </div>
      <LookOnly />
      <Outcome action={action} />
      {asking === 'redrive' && <RedriveQuestion queue={queue} onYes={() => run(() => redrive(name))} onClose={close} />}
      {asking === 'purge' && (
        <PurgeQuestion queue={queue} from={from} onYes={() => run(() => purge(name))} onClose={close} />
      )}
    </div>
  )
}

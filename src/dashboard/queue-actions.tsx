/** The buttons for pause, redrive and purge. What can't be undone asks for confirmation. */
import { useState } from 'preact/hooks'
import type { QueueStatus } from '../client/wire'
import { ActionResult, useAction } from './action'
import { ask } from './api'
import { AdminButton, ReadOnlyNote } from './may'
import { counted } from './numbers'
import { PurgeQuestion, RedriveQuestion } from './queue-questions'

async function pause(queue: string): Promise<string> {
  await ask('pauseQueue', { path: { queue }, body: {} })
  return 'Paused: receives get nothing.'
}

async function resume(queue: string): Promise<string> {
  await ask('resumeQueue', { path: { queue }, body: {} })
  return 'Resumed.'
}

async function redrive(queue: string): Promise<string> {
  const { moved } = await ask('redriveQueue', { path: { queue }, body: {} })
  return `${counted(moved, 'message')} went back.`
}

async function purge(queue: string): Promise<string> {
  const { deleted } = await ask('purgeQueue', { path: { queue }, body: {} })
  return `${counted(deleted, 'message')} deleted.`
}

interface ActionsProps {
  queue: QueueStatus
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
      <ReadOnlyNote />
      <ActionResult action={action} />
      {asking === 'redrive' && <RedriveQuestion queue={queue} onYes={() => run(() => redrive(name))} onClose={close} />}
      {asking === 'purge' && (
        <PurgeQuestion queue={queue} from={from} onYes={() => run(() => purge(name))} onClose={close} />
      )}
    </div>
  )
}

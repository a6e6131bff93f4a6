/** Retrying and deleting dead messages, all or those that are chosen: the count before, then the work in steps. */
import { useState } from 'preact/hooks'
import * as operations from '../client/operations'
import type { DeadFilter } from '../shared/queue-types'
import { ask } from './api'
import { startWork, useIsWorking } from './long-work'
import { AdminButton } from './may'
import { Ask, counted, Loaded, Name } from './parts'
import { usePolled } from './polled'

export interface DeadChosen extends DeadFilter {
  ids?: readonly bigint[]
}

/** Each way to end a message's death. `does` resolves to how many, or how many it would be. */
const WAYS = {
  Retry: {
    did: 'retried',
    says: 'tried again from the beginning, where they died.',
    does: async (queue: string, body: DeadChosen & { limit?: number; dryRun?: boolean }, signal?: AbortSignal) =>
      (await ask(operations.redriveQueue, { path: { queue }, body }, signal)).moved,
  },
  Delete: {
    did: 'deleted',
    says: 'deleted for good.',
    does: async (queue: string, body: DeadChosen & { limit?: number; dryRun?: boolean }, signal?: AbortSignal) =>
      (await ask(operations.purgeQueue, { path: { queue }, body: { ...body, dead: true } }, signal)).deleted,
  },
} as const

type Way = keyof typeof WAYS

interface DeadButtonsProps {
  /** The queue that holds the messages. */
  queue: string
  chosen: DeadChosen
  /** The selection, as the names of the buttons say it. */
  what: string
  ways?: readonly Way[]
  isDisabled?: boolean
  onDone(): void
}

export function DeadButtons({
  queue,
  chosen,
  what,
  ways = ['Retry', 'Delete'],
  isDisabled = false,
  onDone,
}: DeadButtonsProps) {
  const [asking, setAsking] = useState<Way | null>(null)
  const isWorking = useIsWorking(queue)
  const start = async (way: Way, count: number) => {
    const { did, does } = WAYS[way]
    await startWork(queue, did, count, (limit, signal) => does(queue, { ...chosen, limit }, signal))
    onDone()
  }
  return (
    <div class="buttons">
      {ways.map((way) => (
        <AdminButton key={way} isDisabled={isDisabled || isWorking} onClick={() => setAsking(way)}>
          {way} {what}
          {' …'}
        </AdminButton>
      ))}
      {asking !== null && (
        <Question
          way={asking}
          queue={queue}
          chosen={chosen}
          onYes={(count) => start(asking, count)}
          onClose={() => setAsking(null)}
        />
      )}
    </div>
  )
}

interface DeadQuestionProps {
  way: Way
  queue: string
  chosen: DeadChosen
  onYes(count: number): void
  onClose(): void
}

function Question({ way, queue, chosen, onYes, onClose }: DeadQuestionProps) {
  const { says, does } = WAYS[way]
  const counting = usePolled((signal) => does(queue, { ...chosen, dryRun: true }, signal), way, null)
  const count = counting.data ?? 0
  return (
    <Ask
      title={counting.data === null ? `${way}?` : `${way} ${counted(count, 'dead message')}?`}
      action={count === 0 ? way : `${way} ${counted(count, 'message')}`}
      isDanger={way === 'Delete'}
      isReady={count > 0}
      onYes={() => onYes(count)}
      onClose={onClose}
    >
      {chosen.error !== undefined && chosen.error !== '' && <p class="error">{chosen.error}</p>}
      <Loaded of={counting}>
        <p>
          {count === 0 ? 'No such message is in ' : `${counted(count, 'message')} in `}
          <Name>{queue}</Name>
          {count === 0 ? '.' : ` ${count === 1 ? 'is' : 'are'} ${says}`}
        </p>
      </Loaded>
    </Ask>
  )
}

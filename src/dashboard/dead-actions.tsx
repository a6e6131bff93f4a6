/** Retrying and deleting dead messages, all or those that are chosen: the count before, then the work in steps. */
import * as operations from '../client/operations'
import type { DeadFilter } from '../shared/queue-types'
import { Act } from './action'
import { ask } from './api'
import { startWork, useIsWorking } from './long-work'
import { counted, Name } from './parts'

export interface DeadChosen extends DeadFilter {
  ids?: readonly bigint[]
}

interface DeadPart extends DeadChosen {
  limit?: number
  dryRun?: boolean
}

/** Each way to end a message's death. `does` resolves to how many, or how many it would be. */
const WAYS = {
  Retry: {
    did: 'retried',
    says: 'tried again from the beginning, where they died.',
    does: async (queue: string, body: DeadPart, signal?: AbortSignal) =>
      (await ask(operations.redriveQueue, { path: { queue }, body }, signal)).moved,
  },
  Delete: {
    did: 'deleted',
    says: 'deleted for good.',
    does: async (queue: string, body: DeadPart, signal?: AbortSignal) =>
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

export function DeadButtons({ queue, chosen, what, ways = ['Retry', 'Delete'], ...props }: DeadButtonsProps) {
  const { isDisabled = false, onDone } = props
  const isWorking = useIsWorking(queue)
  const start = (way: Way, count: number) => {
    const { did, does } = WAYS[way]
    return startWork(queue, did, count, (limit, signal) => does(queue, { ...chosen, limit }, signal))
  }
  return (
    <div class="buttons">
      {ways.map((way) => (
        <Act
          key={way}
          label={`${way} ${what} …`}
          isDisabled={isDisabled || isWorking}
          look={(signal) => WAYS[way].does(queue, { ...chosen, dryRun: true }, signal)}
          title={(count) => (count === null ? `${way}?` : `${way} ${counted(count, 'dead message')}?`)}
          action={(count) => (count ? `${way} ${counted(count, 'message')}` : way)}
          isDanger={way === 'Delete'}
          work={(count) => start(way, count)}
          onDone={onDone}
        >
          {(count) => (
            <>
              {chosen.error !== undefined && chosen.error !== '' && <p class="error">{chosen.error}</p>}
              <p>
                {count === 0 ? 'No such message is in ' : `${counted(count, 'message')} in `}
                <Name>{queue}</Name>
                {count === 0 ? '.' : ` ${count === 1 ? 'is' : 'are'} ${WAYS[way].says}`}
              </p>
            </>
          )}
        </Act>
      ))}
    </div>
  )
}

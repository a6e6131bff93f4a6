/** Retrying and deleting dead messages, all or those that are chosen: the count before, then the work in steps. */
import * as operations from '../client/operations'
import type { DeadChoices } from '../shared/queue-types'
import { Act, verbOn } from './action'
import { ask } from './api'
import { startWork, useIsWorking } from './long-work'
import { counted, Name, sentence } from './parts'

/** Each way to end a message's death. `does` resolves to how many, or how many it would be. */
const WAYS = {
  Retry: {
    did: 'retried',
    says: 'tried again from the beginning, where they died.',
    does: async (queue: string, body: DeadChoices, signal?: AbortSignal) =>
      (await ask(operations.redriveQueue, { path: { queue }, body }, signal)).moved,
  },
  Delete: {
    did: 'deleted',
    says: 'deleted for good.',
    does: async (queue: string, body: DeadChoices, signal?: AbortSignal) =>
      (await ask(operations.purgeQueue, { path: { queue }, body: { ...body, dead: true } }, signal)).deleted,
  },
} as const

interface DeadButtonsProps {
  /** The queue that holds the messages. */
  queue: string
  chosen: DeadChoices
  /** The selection, as the names of the buttons say it. */
  what: string
  ways?: readonly (keyof typeof WAYS)[]
  isDisabled?: boolean
  onDone(): void
}

export function DeadButtons({ queue, chosen, what, ways = ['Retry', 'Delete'], ...props }: DeadButtonsProps) {
  const isWorking = useIsWorking(queue)
  const name = <Name>{queue}</Name>
  const buttonOf = (way: keyof typeof WAYS) => {
    const { did, says, does } = WAYS[way]
    return (
      <Act
        key={way}
        label={`${way} ${what} …`}
        isDisabled={props.isDisabled === true || isWorking}
        look={(signal) => does(queue, { ...chosen, dryRun: true }, signal)}
        title={(count) => sentence`${verbOn(way, 'dead message')(count)}?`}
        action={verbOn(way, 'message')}
        isDanger={way === 'Delete'}
        work={(count) => startWork(queue, did, count, (limit, signal) => does(queue, { ...chosen, limit }, signal))}
        onDone={props.onDone}
      >
        {(count) => (
          <>
            {chosen.error && <p class="error">{chosen.error}</p>}
            {count === 0 && <p>{sentence`No such message is in ${name}.`}</p>}
            {count > 0 && (
              <p>{sentence`${counted(count, 'message')} in ${name} ${count === 1 ? 'is' : 'are'} ${says}`}</p>
            )}
          </>
        )}
      </Act>
    )
  }
  return <div class="buttons">{ways.map(buttonOf)}</div>
}

/** One message: its body, its attributes, its last error, and its times. */
import { useState } from 'preact/hooks'
import type { PeekedMessage } from '../client/wire'
import { ActionResult, useAction } from './action'
import { link } from './address'
import { ask } from './api'
import { isDeadLetter } from './dead-letters'
import { AdminButton, ReadOnlyNote } from './may'
import { Ask, Badge, Fact, Loaded, LoadState, Name, Num } from './parts'
import { usePolled } from './polled'
import { Time } from './time'
import { pretty } from './value'

const EVERY_MS = 3000

interface ShownMessage {
  message: PeekedMessage
  isDead: boolean
  isLetter: boolean
}

async function load(queue: string, id: bigint, signal: AbortSignal): Promise<ShownMessage> {
  const [message, status] = await Promise.all([
    ask('getMessage', { path: { queue, id } }, signal),
    ask('getQueue', { path: { queue } }, signal),
  ])
  const isLetter = isDeadLetter(message, status)
  return { message, isDead: message.state === 'dead' || isLetter, isLetter }
}

export function MessagePage({ queue, id }: { queue: string; id: bigint }) {
  const { data: shown, error } = usePolled((signal) => load(queue, id, signal), '', EVERY_MS)
  return (
    <>
      <p class="over">
        <a href={link(['queues'])}>Queues</a> <span aria-hidden="true">/</span>{' '}
        <a href={link(['queues', queue], { state: shown?.message.state ?? null })}>
          <Name>{queue}</Name>
        </a>
      </p>
      <div class="head">
        <h1 tabIndex={-1}>Message {String(id)}</h1>
        {shown !== null && <State {...shown} />}
        {shown !== null && <Remove queue={queue} id={id} />}
      </div>
      <LoadState data={shown} error={error} />
      {shown !== null && <Details {...shown} />}
    </>
  )
}

/** The state of a dead letter that is ready is left out: it says nothing about what went wrong. */
function State({ message: { state, deadLetterFrom }, isLetter }: ShownMessage) {
  return (
    <span>
      {isLetter && <Badge kind="bad">dead letter</Badge>}
      {isLetter && deadLetterFrom !== null && (
        <span>
          from{' '}
          <a href={link(['queues', deadLetterFrom])}>
            <Name>{deadLetterFrom}</Name>
          </a>{' '}
        </span>
      )}
      {(!isLetter || state !== 'ready') && <Badge kind={state === 'dead' ? 'bad' : undefined}>{state}</Badge>}
    </span>
  )
}

function Details({ message, isDead, isLetter }: ShownMessage) {
  const { lastError } = message
  return (
    <>
      <Facts message={message} isLetter={isLetter} />
      {(isDead || lastError !== null) && (
        <section aria-labelledby="error">
          <h2 id="error">{isDead ? 'Why it died' : 'Last error'}</h2>
          {lastError !== null && <pre class="panel error">{lastError}</pre>}
          {lastError === null && <p class="panel empty">No error was given.</p>}
        </section>
      )}
      <section aria-labelledby="body">
        <h2 id="body">Body</h2>
        <pre class="panel">{pretty(message.body)}</pre>
      </section>
      {Object.keys(message.attributes).length > 0 && (
        <section aria-labelledby="attributes">
          <h2 id="attributes">Attributes</h2>
          <pre class="panel">{pretty(message.attributes)}</pre>
        </section>
      )}
    </>
  )
}

function Facts({ message, isLetter }: { message: PeekedMessage; isLetter: boolean }) {
  const { receiveCount, maxReceives, deadLetterFrom } = message
  // It has not been received since it died.
  const isUntouched = deadLetterFrom !== null && receiveCount === 0
  const times: [string, Date | null][] = [
    ['Sent', message.sentAt],
    [isUntouched ? 'Died' : message.visibleAt.getTime() > Date.now() ? 'Ready' : 'Ready since', message.visibleAt],
    ['Last received', message.lastReceivedAt],
    ['Archived', message.archivedAt],
  ]
  const hasVisible = message.state !== 'dead' && message.state !== 'archived'
  return (
    <dl class="facts panel">
      <Fact term={isLetter ? 'Receives here' : 'Receives'}>
        <Num value={receiveCount} />
        {maxReceives !== null && (
          <>
            {' of at most '}
            <Num value={maxReceives} />
          </>
        )}
      </Fact>
      <Fact term="Priority">{message.priority}</Fact>
      {message.messageGroup !== null && (
        <Fact term="Message group">
          <Name>{message.messageGroup}</Name>
        </Fact>
      )}
      {times.map(
        ([term, at]) =>
          at !== null &&
          (hasVisible || !term.startsWith('Ready')) && (
            <Fact key={term} term={term}>
              <Time at={at} both />
            </Fact>
          ),
      )}
    </dl>
  )
}

interface RemoveProps {
  queue: string
  id: bigint
  onYes(): void
  onClose(): void
}

/** Shows the current state, which decides what the removal affects. */
function RemoveQuestion({ queue, id, ...rest }: RemoveProps) {
  const looking = usePolled((signal) => ask('getMessage', { path: { queue, id } }, signal), '', EVERY_MS)
  const state = looking.data?.state.replace('-', ' ')
  return (
    <Ask title={`Remove message ${id}?`} action="Remove" isDanger isReady={looking.data !== null} {...rest}>
      <Loaded of={looking}>
        <p>
          This message is {state}. It is deleted for good, and not archived.
          {state === 'in flight' && " The receiver that has it can't settle it any more."}
        </p>
      </Loaded>
    </Ask>
  )
}

function Remove({ queue, id }: { queue: string; id: bigint }) {
  const [isAsking, setAsking] = useState(false)
  const action = useAction()
  const remove = async () => {
    await ask('deleteMessage', { path: { queue, id } })
    location.hash = link(['queues', queue])
    return 'Removed.'
  }
  return (
    <div class="actions">
      <div class="buttons">
        <AdminButton isDisabled={action.isRunning} onClick={() => setAsking(true)}>
          Remove …
        </AdminButton>
      </div>
      <ReadOnlyNote />
      <ActionResult action={action} />
      {isAsking && (
        <RemoveQuestion queue={queue} id={id} onYes={() => action.run(remove)} onClose={() => setAsking(false)} />
      )}
    </div>
  )
}

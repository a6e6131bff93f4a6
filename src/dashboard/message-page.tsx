/** One message: its body, what went wrong with it last, and its times. */
import { useState } from 'preact/hooks'
import { Outcome, useAction } from './action'
import { api } from './api'
import { pretty } from './json'
import { grouped } from './numbers'
import { Ask, Badge, Fact, Loading, Name, Problem, Stale } from './parts'
import { link } from './place'
import { usePolled } from './polled'
import { Time } from './time'
import type { Message } from './types'

const EVERY_MS = 3000

export function MessagePage({ queue, id }: { queue: string; id: string }) {
  const { data: message, error } = usePolled((signal) => api.message(queue, id, signal), '', EVERY_MS)
  return (
    <>
      <p class="over">
        <a href={link(['queues'])}>Queues</a> <span aria-hidden="true">/</span>{' '}
        <a href={link(['queues', queue], { state: message?.state ?? null })}>
          <Name>{queue}</Name>
        </a>
      </p>
      <div class="head">
        <h1 tabIndex={-1}>Message {id}</h1>
        {message !== null && <Badge kind={message.state === 'dead' ? 'bad' : undefined}>{message.state}</Badge>}
        {message !== null && <Remove queue={queue} id={id} />}
      </div>
      {message === null && (error === null ? <Loading /> : <Problem error={error} />)}
      {message !== null && <Stale error={error} />}
      {message !== null && <Details message={message} />}
    </>
  )
}

function Details({ message }: { message: Message }) {
  return (
    <>
      <Facts message={message} />
      {message.lastError !== null && (
        <section aria-labelledby="error">
          <h2 id="error">Last error</h2>
          <pre class="panel error">{message.lastError}</pre>
        </section>
      )}
      <section aria-labelledby="body">
        <h2 id="body">Body</h2>
        <pre class="panel">{pretty(message.body)}</pre>
      </section>
    </>
  )
}

function Facts({ message }: { message: Message }) {
  const { receiveCount, maxReceives } = message
  const times: [string, string | null][] = [
    ['Sent', message.sentAt],
    [Date.parse(message.visibleAt) > Date.now() ? 'Ready' : 'Ready since', message.visibleAt],
    ['Last received', message.lastReceivedAt],
    ['Archived', message.archivedAt],
  ]
  const hasVisible = message.state !== 'dead' && message.state !== 'archived'
  return (
    <dl class="facts panel">
      <Fact term="Receives">
        {grouped(receiveCount)}
        {maxReceives > 0 && ` of at most ${grouped(maxReceives)}`}
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

function Remove({ queue, id }: { queue: string; id: string }) {
  const [isAsking, setAsking] = useState(false)
  const action = useAction()
  const remove = async () => {
    await api.deleteMessage(queue, id)
    location.hash = link(['queues', queue])
    return 'Removed.'
  }
  return (
    <div class="actions">
      <div class="buttons">
        <button type="button" disabled={action.isRunning} onClick={() => setAsking(true)}>
          Remove …
        </button>
      </div>
      <Outcome action={action} />
      {isAsking && (
        <Ask
          title={`Remove message ${id}?`}
          action="Remove"
          isDanger
          onYes={() => action.run(remove)}
          onClose={() => setAsking(false)}
        >
          <p>It is gone for good, whatever its state; whoever works on it can't settle it.</p>
        </Ask>
      )}
    </div>
  )
}

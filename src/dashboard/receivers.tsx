/** The receivers of a queue, the messages that block its message groups, and the end of a claim. */
import * as operations from '../client/operations'
import type { ActiveReceiver, BlockedGroup, MessageReceiver, QueueReceivers, WholeMessage } from '../shared/queue-types'
import { Act } from './action'
import { ask, serverNow } from './api'
import { Badge, Name, NameLink, Num } from './parts'
import { type Column, Table } from './table'
import { duration, Time } from './time'

const EVERY_MS = 3000

export function HolderName({ of: { name, gone } }: { of: MessageReceiver }) {
  return (
    <>
      <Name>{name}</Name> {gone && <Badge kind="warn">gone</Badge>}
    </>
  )
}

export function Holder({ of }: { of: MessageReceiver }) {
  return (
    <>
      <HolderName of={of} />{' '}
      <span class="muted">
        seen <Time at={of.lastSeenAt} />
      </span>
    </>
  )
}

const RECEIVER_COLUMNS: readonly Column<ActiveReceiver>[] = [
  { title: 'Receiver', isName: true, cell: (receiver) => <Holder of={receiver} /> },
  { title: 'Began', kind: 'number muted wide', cell: ({ beganAt }) => <Time at={beganAt} /> },
  { title: 'Last minute', kind: 'number', cell: ({ receivedLastMinute }) => receivedLastMinute },
  { title: 'In flight', kind: 'number', cell: ({ inFlight }) => inFlight },
]

export function Receivers({ of: { receivers, unknownInFlight } }: { of: QueueReceivers }) {
  if (receivers.length === 0 && unknownInFlight === 0) return null
  return (
    <section aria-labelledby="receivers">
      <h2 id="receivers">Receivers</h2>
      {receivers.length > 0 && (
        <Table
          columns={RECEIVER_COLUMNS}
          rows={receivers}
          keyOf={({ name, beganAt }) => `${name} ${beganAt.getTime()}`}
        />
      )}
      {unknownInFlight > 0 && (
        <p class="muted">
          <Num value={unknownInFlight} /> in flight are held by receivers that have not reported.
        </p>
      )}
    </section>
  )
}

const groupColumns = (queue: string): readonly Column<BlockedGroup>[] => [
  {
    title: 'Message group',
    isName: true,
    cell: ({ messageGroup, waitsFor }) => (
      <>
        <Name>{messageGroup}</Name>
        {waitsFor.map(({ id, state, receiver }) => (
          <div key={String(id)} class="small">
            waits for <NameLink to={['queues', queue, 'messages', String(id)]}>{`message ${id}`}</NameLink>{' '}
            <Badge>{state}</Badge> {receiver !== null && <Holder of={receiver} />}
          </div>
        ))}
      </>
    ),
  },
  { title: 'Since', kind: 'number muted wide', cell: ({ beganAt }) => <Time at={beganAt} /> },
  { title: 'Blocked', kind: 'number', cell: ({ blocked }) => blocked },
]

export function BlockedGroups({ queue, of: { blockedGroups } }: { queue: string; of: QueueReceivers }) {
  if (blockedGroups.length === 0) return null
  return (
    <section aria-labelledby="blocked-groups">
      <h2 id="blocked-groups">Blocked groups</h2>
      <Table columns={groupColumns(queue)} rows={blockedGroups} keyOf={({ messageGroup }) => messageGroup} />
    </section>
  )
}

/** Ends the claim of a message in flight, whose holder may be gone. */
export function Release({ queue, id, onDone }: { queue: string; id: bigint; onDone(): void }) {
  return (
    <Act
      label="Release now …"
      title={`Release message ${id}?`}
      action="Release"
      look={(signal) => ask(operations.getMessage, { path: { queue, id } }, signal)}
      everyMs={EVERY_MS}
      isReady={({ state }) => state === 'in-flight'}
      work={({ lastReceivedAt }) => {
        const claim = { inFlight: true, lastReceivedAt: lastReceivedAt ?? undefined }
        return ask(operations.promoteMessages, { path: { queue }, body: { ids: [id], ...claim } })
      }}
      said={({ promoted }) =>
        promoted === 1 ? 'The message is released.' : 'That claim had ended. Nothing was changed.'
      }
      onDone={onDone}
    >
      {(now) => <p>{consequenceOf(now)}</p>}
    </Act>
  )
}

function consequenceOf({ state, receiver, receiveCount, maxReceives }: WholeMessage): string {
  if (state !== 'in-flight') return `The message is ${state} now: no receiver holds it.`
  const next =
    receiveCount === maxReceives
      ? 'It has used up its receives, so it will be dead.'
      : 'It is handed out again at once.'
  if (receiver === null) return `It is not known who holds it. ${next}`
  const silent = duration((serverNow() - receiver.lastSeenAt.getTime()) / 1000)
  if (receiver.gone) return `${receiver.name} has not been seen for ${silent}. ${next}`
  return `${receiver.name} was seen ${silent} ago, and may still work on it: then it is handled twice. ${next}`
}

/** The receivers of a queue, the messages that block its message groups, and the end of a claim. */
import * as operations from '../client/operations'
import type { ActiveReceiver, BlockedGroup, MessageReceiver, QueueReceivers, WholeMessage } from '../shared/queue-types'
import { Act } from './action'
import { ask, serverNow } from './api'
import { Badge, Name, NameLink, Num, Section, sentence } from './parts'
import { type Column, Table } from './table'
import { duration, Time } from './time'

export const HolderName = ({ of: { name, gone } }: { of: MessageReceiver }) => (
  <>
    <Name>{name}</Name> {gone && <Badge kind="warn">gone</Badge>}
  </>
)

export const Holder = ({ of }: { of: MessageReceiver }) => (
  <>
    <HolderName of={of} /> <span class="muted">{sentence`seen ${<Time at={of.lastSeenAt} />}`}</span>
  </>
)

const RECEIVER_COLUMNS: readonly Column<ActiveReceiver>[] = [
  { title: 'Receiver', isName: true, cell: (receiver) => <Holder of={receiver} /> },
  { title: 'Began', kind: 'number muted wide', cell: ({ beganAt }) => beganAt },
  { title: 'Last minute', kind: 'number', cell: ({ receivedLastMinute }) => receivedLastMinute },
  { title: 'In flight', kind: 'number', cell: ({ inFlight }) => inFlight },
]

const groupColumns = (queue: string): readonly Column<BlockedGroup>[] => [
  {
    ...{ title: 'Message group', isName: true },
    cell: ({ messageGroup, waitsFor }) => (
      <>
        <Name>{messageGroup}</Name>
        {waitsFor.map(({ id, state, receiver }) => (
          <div key={String(id)} class="small">
            waits for <NameLink to={['queues', queue, 'messages', String(id)]}>{`message ${id}`}</NameLink>{' '}
            <Badge>{state.replace('-', ' ')}</Badge> {receiver !== null && <Holder of={receiver} />}
          </div>
        ))}
      </>
    ),
  },
  { title: 'Since', kind: 'number muted wide', cell: ({ beganAt }) => beganAt },
  { title: 'Blocked', kind: 'number', cell: ({ blocked }) => blocked },
]

/** The receivers that have messages in flight, or the messages that blocked groups wait for. */
export function Receivers({ queue, state, of }: { queue: string; state: string; of: QueueReceivers }) {
  const { receivers, unknownInFlight, blockedGroups } = of
  if (state === 'blocked') {
    return blockedGroups.length === 0 ? null : (
      <Section title="Blocked groups">
        <Table columns={groupColumns(queue)} rows={blockedGroups} keyOf={({ messageGroup }) => messageGroup} />
      </Section>
    )
  }
  return receivers.length === 0 && unknownInFlight === 0 ? null : (
    <Section title="Receivers">
      <Table
        columns={RECEIVER_COLUMNS}
        rows={receivers}
        keyOf={({ name, beganAt }) => `${name} ${beganAt.getTime()}`}
      />
      {unknownInFlight > 0 && (
        <p class="muted">
          <Num value={unknownInFlight} /> in flight are held by receivers that have not reported.
        </p>
      )}
    </Section>
  )
}

/** Ends the claim of a message in flight, whose holder may be gone. */
export function Release({ queue, id, onDone }: { queue: string; id: bigint; onDone(): void }) {
  return (
    <Act
      label="Release now …"
      title={`Release message ${id}?`}
      look={(signal) => ask(operations.getMessage, { path: { queue, id } }, signal)}
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
  const isLast = receiveCount === maxReceives
  const next = isLast ? 'It has used up its receives, so it will be dead.' : 'It is handed out again at once.'
  if (receiver === null) return `It is not known who holds it. ${next}`
  const silent = duration((serverNow() - receiver.lastSeenAt.getTime()) / 1000)
  if (receiver.gone) return `${receiver.name} has not been seen for ${silent}. ${next}`
  return `${receiver.name} was seen ${silent} ago, and may still work on it: then it is handled twice. ${next}`
}

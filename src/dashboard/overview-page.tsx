/** Everything that is wrong now: a line for each trouble, the worst first, which leads to where it is repaired. */
import * as operations from '../client/operations'
import type { Trouble } from '../shared/overview-types'
import { link } from './address'
import { ask } from './api'
import { Badge, counted, LoadState, Name, PageHead } from './parts'
import { usePolled } from './polled'
import { type Column, Table } from './table'

const EVERY_MS = 5000

interface Told {
  title: string
  isBad?: boolean
  /** The first part of the address of the page that repairs it, and the state of messages that it shows. */
  page: 'queues' | 'feeds' | 'schedules'
  state?: string
  says(trouble: Trouble): string
}

const messages = ({ count }: Trouble) => counted(count, 'message')

const TOLD: Readonly<Record<Trouble['kind'], Told>> = {
  dead: { title: 'Dead', isBad: true, page: 'queues', says: (one) => `${messages(one)} died.` },
  unreceived: {
    title: 'Not received',
    page: 'queues',
    says: (one) => `${messages(one)} ready, and none in flight: see that workers run.`,
  },
  late: {
    title: 'Late',
    page: 'queues',
    says: (one) => `${messages(one)} ready, the first for minutes: workers do not keep up.`,
  },
  growing: {
    title: 'Growing',
    page: 'queues',
    says: (one) => `${messages(one)} waiting, and more and more: workers do not keep up.`,
  },
  paused: { title: 'Paused', page: 'queues', says: (one) => `${messages(one)} wait until the queue is resumed.` },
  held: {
    title: 'Held',
    page: 'queues',
    state: 'in-flight',
    says: (one) => `${messages(one)} in flight for long: the receiver may be gone.`,
  },
  blocked: {
    title: 'Blocked',
    page: 'queues',
    state: 'blocked',
    says: (one) => `${messages(one)} wait for others of their group${groupOf(one)}.`,
  },
  unpublished: {
    title: 'Unpublished',
    page: 'feeds',
    says: ({ count }) => `${counted(count, 'entry', 'entries')} without a publisher.`,
  },
  behind: {
    title: 'Behind',
    page: 'feeds',
    says: ({ count, consumer }) => `The consumer ${consumer} is ${counted(count, 'change')} behind.`,
  },
  schedule: {
    title: 'Schedule',
    page: 'schedules',
    says: ({ error }) => error ?? 'Its tick is due, and nothing sends it.',
  },
}

const groupOf = ({ messageGroup }: Trouble) => (messageGroup === null ? '' : `, the oldest of ${messageGroup}`)

export function OverviewPage() {
  const { data, error } = usePolled(
    (signal) => ask(operations.getOverview, { query: {} }, signal),
    'overview',
    EVERY_MS,
  )
  return (
    <>
      <PageHead over={null} title="Overview">
        {data !== null && data.total > 0 && <span class="muted">{counted(data.total, 'trouble')}</span>}
      </PageHead>
      <LoadState data={data} error={error} />
      {data?.total === 0 && <p class="empty panel">Nothing is wrong.</p>}
      {data !== null && data.total > 0 && <Table columns={COLUMNS} rows={data.troubles} keyOf={keyOf} />}
      {data !== null && data.total > data.troubles.length && (
        <p class="muted">The worst {data.troubles.length} are shown.</p>
      )}
    </>
  )
}

const keyOf = ({ kind, name, consumer, deadLetterQueue }: Trouble) =>
  JSON.stringify([kind, name, consumer, deadLetterQueue])

const isBad = ({ kind }: Trouble) => TOLD[kind].isBad === true

const COLUMNS: readonly Column<Trouble>[] = [
  { title: 'What', cell: (one) => <Badge kind={isBad(one) ? 'bad' : 'warn'}>{TOLD[one.kind].title}</Badge> },
  { title: 'Where', isName: true, cell: (one) => <Where trouble={one} /> },
  { title: 'Number', kind: 'number', isBad, cell: ({ count }) => count },
  { title: 'Since', kind: 'number muted', cell: ({ beganAt }) => beganAt },
]

function Where({ trouble }: { trouble: Trouble }) {
  const { page, state = null, says } = TOLD[trouble.kind]
  return (
    <>
      <a href={link([page, trouble.name], { state })}>
        <Name>{trouble.name}</Name>
      </a>
      <div class="muted small">{says(trouble)}</div>
    </>
  )
}

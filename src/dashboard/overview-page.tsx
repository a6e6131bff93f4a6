/**
 * Everything that is wrong now: a line for each trouble, the worst first, which leads to where it is repaired. While the page
 * is open its lines keep their places: one that is over says so, and a new one comes last.
 */
import type { ComponentChildren } from 'preact'
import { useRef } from 'preact/hooks'
import * as operations from '../client/operations'
import type { Overview, Trouble } from '../shared/overview-types'
import { ask } from './api'
import { Badge, counted, LoadState, NameLink, PageHead, sentence } from './parts'
import { SELDOM_MS, usePolled } from './polled'
import { type Column, Table } from './table'

interface Told {
  title: string
  isBad?: boolean
  /** The first part of the address of the page that repairs it: `queues` if it is left out. */
  page?: 'feeds' | 'schedules'
  /** Of the messages that the page shows. */
  state?: string
  /** A text follows the number of messages; a function makes the whole sentence. */
  says: string | ((trouble: Trouble) => ComponentChildren)
}

const TOLD: Readonly<Record<Trouble['kind'], Told>> = {
  dead: { title: 'Dead', isBad: true, says: 'died.' },
  unreceived: { title: 'Not received', says: 'ready, and none in flight: see that workers run.' },
  late: { title: 'Late', says: 'ready, the first for minutes: workers do not keep up.' },
  growing: { title: 'Growing', says: 'waiting, and more and more: workers do not keep up.' },
  paused: { title: 'Paused', says: 'wait until the queue is resumed.' },
  held: { title: 'Held', state: 'in-flight', says: 'in flight for long: the receiver may be gone.' },
  blocked: {
    ...{ title: 'Blocked', state: 'blocked' },
    says: ({ count, messageGroup: oldest }) =>
      sentence`${counted(count, 'message')} wait for others of their group${oldest === null ? '' : `, the oldest of ${oldest}`}.`,
  },
  unpublished: {
    ...{ title: 'Unpublished', page: 'feeds' },
    says: ({ count }) => sentence`${counted(count, 'entry', 'entries')} without a publisher.`,
  },
  behind: {
    ...{ title: 'Behind', page: 'feeds' },
    says: ({ count, consumer }) => sentence`The consumer ${consumer} is ${counted(count, 'change')} behind.`,
  },
  schedule: {
    ...{ title: 'Schedule', page: 'schedules' },
    says: ({ error }) => error ?? 'Its tick is due, and nothing sends it.',
  },
}

export function OverviewPage() {
  const load = (signal: AbortSignal) => ask(operations.getOverview, { query: {} }, signal)
  const { data, error } = usePolled(load, 'overview', SELDOM_MS, 'overview')
  const lines = useLines(data)
  return (
    <>
      <PageHead title="Overview">
        {data !== null && data.total > 0 && <span class="muted">{counted(data.total, 'trouble')}</span>}
      </PageHead>
      <LoadState data={data} error={error} />
      {data !== null && <Table columns={COLUMNS} rows={lines} empty="Nothing is wrong." keyOf={keyOf} />}
      {data !== null && data.total > data.troubles.length && (
        <p class="muted">The worst {data.troubles.length} are shown.</p>
      )}
    </>
  )
}

const keyOf = ({ kind, name, consumer, deadLetterQueue }: Trouble) =>
  JSON.stringify([kind, name, consumer, deadLetterQueue])

interface Line extends Trouble {
  isOver: boolean
}

function useLines(data: Overview | null): readonly Line[] {
  const lines = useRef(new Map<string, Line>()).current
  // Only the worst are listed: one that is missing may not be over.
  if (data !== null && data.total > data.troubles.length) lines.clear()
  for (const line of lines.values()) line.isOver = true
  for (const trouble of data?.troubles ?? []) lines.set(keyOf(trouble), { ...trouble, isOver: false })
  return [...lines.values()]
}

const isBad = ({ kind, isOver }: Line) => TOLD[kind].isBad === true && !isOver

const COLUMNS: readonly Column<Line>[] = [
  {
    title: 'What',
    cell: (line) => <Badge kind={isBad(line) ? 'bad' : line.isOver ? '' : 'warn'}>{TOLD[line.kind].title}</Badge>,
  },
  { title: 'Where', isName: true, cell: (line) => <Where line={line} /> },
  { title: 'Number', kind: 'number wide', isBad, cell: ({ count, isOver }) => (isOver ? 0 : count) },
  { title: 'Since', kind: 'number muted', cell: ({ beganAt }) => beganAt },
]

function Where({ line: { isOver, ...trouble } }: { line: Line }) {
  const { page = 'queues', state = null, says } = TOLD[trouble.kind]
  return (
    <>
      <NameLink to={[page, trouble.name]} query={{ state }}>
        {trouble.name}
      </NameLink>
      <div class="muted small">
        {isOver && 'Over: '}
        {typeof says === 'string' ? sentence`${counted(trouble.count, 'message')} ${says}` : says(trouble)}
      </div>
    </>
  )
}

/**
 * The random operations on queues: three queues, of which one may be the dead-letter queue of another, and few messages,
 * so that things meet. A tick of time is 320 s: delays and timeouts of 600 s and 1,200 s, and the 300 s of a dedup id, are
 * over minutes before one of its multiples, so that the seconds that a run takes change nothing.
 */
import fc from 'fast-check'
import type { MessageState, QueueSettings, SendOptions } from '../../../src/shared/queue-types'

export const QUEUES = ['a', 'b', 'dead'] as const
export const TICK_SECONDS = 320
export const STATES: readonly MessageState[] = ['ready', 'in-flight', 'delayed', 'blocked', 'dead', 'archived']

/** A handle that was given out, by how many came after it; or a foreign one. */
export type HandleShape = { back: number } | { forged: string }

export interface ReceiveShape {
  limit: number
  visibilityTimeoutSeconds?: number
  cursor: string | null
}

/** A settling call is made on the queue that the first handle is of, unless it says another. */
interface Settle {
  handles: HandleShape[]
  queue: string | null
}

export type SimpleOperation =
  | { kind: 'put'; queue: string; settings: QueueSettings }
  | { kind: 'ensure'; queue: string; settings: QueueSettings }
  | { kind: 'update'; queue: string; settings: QueueSettings }
  | { kind: 'pause'; queue: string; paused: boolean }
  | { kind: 'drop'; queue: string }
  | { kind: 'hold'; queue: string; seconds: number }
  | { kind: 'send'; queue: string; message: SendOptions }
  | { kind: 'sendMany'; queue: string; messages: SendOptions[]; wrong: number | null }
  | ({ kind: 'receive'; queue: string } & ReceiveShape)
  | ({ kind: 'delete'; wrong: boolean } & Settle)
  | ({ kind: 'release'; delaySeconds: number; error: string | null; dead: boolean } & Settle)
  | ({ kind: 'extend'; visibilityTimeoutSeconds: number } & Settle)
  | { kind: 'giveBack'; handles: HandleShape[] }
  | { kind: 'removeMessage'; queue: string; back: number }
  | { kind: 'redrive'; queue: string; limit: number | null; prefix: string | null }
  | { kind: 'purge'; queue: string }
  | { kind: 'pass'; ticks: number }

export type Operation =
  | SimpleOperation
  | { kind: 'transaction'; operations: SimpleOperation[]; commits: boolean }
  | { kind: 'sweep' }
  | { kind: 'pages'; limit: number }

const of = <K extends string, T extends object>(kind: K, rest: { [P in keyof T]: fc.Arbitrary<T[P]> }) =>
  fc.record({ kind: fc.constant(kind), ...rest }) as fc.Arbitrary<{ kind: K } & T>

const queue = fc.constantFrom(...QUEUES, 'a')
const sent = fc.constantFrom('a', 'a', 'a', 'b', 'b', 'dead')
const visibility = fc.constantFrom(0, 600, 600, 600, 1200)
const priority = fc.constantFrom(0, 0, 0, 1, -1)

const settingsOf = {
  visibilityTimeoutSeconds: visibility,
  maxReceives: fc.constantFrom(null, 1, 1, 1, 2, 3),
  deadLetterQueue: fc.constantFrom(null, 'dead', 'dead', 'dead', 'b', 'a', 'nowhere'),
  onAck: fc.constantFrom('remove' as const, 'archive' as const),
  retentionSeconds: fc.constantFrom(null, 600, 1200),
  groupConcurrency: fc.constantFrom(null, 1, 1, 2),
  rateLimit: fc.constantFrom(null, null, null, { messages: 2, perSeconds: 600 }, { messages: 4, perSeconds: 600 }),
}
export const settings: fc.Arbitrary<QueueSettings> = fc.record(settingsOf, {
  requiredKeys: ['visibilityTimeoutSeconds'],
})
const changes: fc.Arbitrary<QueueSettings> = fc.record(settingsOf, { requiredKeys: [] })

const message: fc.Arbitrary<SendOptions> = fc.record(
  {
    delaySeconds: fc.constantFrom(0, 0, 0, 0, 600, 1200),
    visibilityTimeoutSeconds: fc.option(visibility, { freq: 3 }),
    maxReceives: fc.constantFrom(undefined, undefined, undefined, null, 1, 2),
    dedupId: fc.constantFrom(null, null, 'd', 'D'),
    priority,
    messageGroup: fc.constantFrom(null, 'x', 'x', 'y'),
    attributes: fc.constantFrom<SendOptions['attributes']>(null, {}, { a: '1' }, { a: '2', b: '' }),
  },
  { requiredKeys: [] },
)

const handle: fc.Arbitrary<HandleShape> = fc.oneof(
  { weight: 20, arbitrary: fc.record({ back: fc.oneof(fc.nat(3), fc.nat(12)) }) },
  { weight: 1, arbitrary: fc.record({ forged: fc.constantFrom('', 'garbage', 'A'.repeat(38)) }) },
)
const recentHandle: fc.Arbitrary<HandleShape> = fc.record({ back: fc.nat(3) })
const settle = {
  handles: fc.array(handle, { minLength: 1, maxLength: 5 }),
}
/** Mostly null: `fc.option` has it the other way round. */
const rarely = <T>(arbitrary: fc.Arbitrary<T>, weight = 8): fc.Arbitrary<T | null> =>
  fc.oneof({ weight, arbitrary: fc.constant(null) }, { weight: 1, arbitrary })
const settled = { ...settle, queue: rarely(queue, 10) }

const newLimit: fc.Arbitrary<SimpleOperation> = of('update', {
  queue,
  settings: fc.record({ groupConcurrency: settingsOf.groupConcurrency }),
})

const simple: { weight: number; arbitrary: fc.Arbitrary<SimpleOperation> }[] = [
  { weight: 2, arbitrary: of('put', { queue, settings }) },
  { weight: 1, arbitrary: of('ensure', { queue, settings }) },
  { weight: 2, arbitrary: of('update', { queue, settings: changes }) },
  { weight: 2, arbitrary: newLimit },
  { weight: 2, arbitrary: of('pause', { queue, paused: fc.constantFrom(false, false, true) }) },
  { weight: 1, arbitrary: of('drop', { queue }) },
  { weight: 2, arbitrary: of('hold', { queue, seconds: fc.constantFrom(0, 600, 1200) }) },
  { weight: 5, arbitrary: of('send', { queue: sent, message }) },
  {
    weight: 14,
    arbitrary: of('sendMany', {
      queue: sent,
      messages: fc.array(message, { minLength: 1, maxLength: 6 }),
      wrong: rarely(fc.nat(5)),
    }),
  },
  {
    weight: 20,
    arbitrary: fc.record(
      {
        kind: fc.constant('receive' as const),
        queue,
        limit: fc.constantFrom(1, 1, 2, 2, 3, 4, 20),
        visibilityTimeoutSeconds: visibility,
        cursor: fc.oneof(
          { weight: 2, arbitrary: fc.constant(null) },
          { weight: 1, arbitrary: fc.constantFrom('c', 'c', 'C') },
        ),
      },
      { requiredKeys: ['kind', 'queue', 'limit', 'cursor'] },
    ),
  },
  { weight: 5, arbitrary: of('delete', { ...settled, wrong: fc.constantFrom(false, false, false, false, true) }) },
  {
    weight: 7,
    arbitrary: of('release', {
      ...settled,
      delaySeconds: fc.constantFrom(0, 0, 600, 1200),
      error: fc.constantFrom(null, 'e', 'f'),
      dead: fc.constantFrom(false, true),
    }),
  },
  { weight: 3, arbitrary: of('extend', { ...settled, visibilityTimeoutSeconds: visibility }) },
  { weight: 7, arbitrary: of('giveBack', { handles: fc.array(recentHandle, { minLength: 1, maxLength: 3 }) }) },
  { weight: 2, arbitrary: of('removeMessage', { queue, back: fc.nat(8) }) },
  {
    weight: 7,
    arbitrary: of('redrive', {
      queue: fc.constantFrom('dead', 'dead', 'dead', 'dead', 'a', 'b'),
      limit: fc.constantFrom(null, null, 1, 2),
      prefix: rarely(fc.constantFrom('a', 'b', 'nothing'), 4),
    }),
  },
  { weight: 1, arbitrary: of('purge', { queue }) },
  { weight: 6, arbitrary: of('pass', { ticks: fc.constantFrom(1, 2, 2, 4) }) },
]

const simpleOperation = fc.oneof(...simple)

const insideOperation = fc.oneof({ weight: 6, arbitrary: simpleOperation }, { weight: 1, arbitrary: newLimit })

const anyOperation: fc.Arbitrary<Operation> = fc.oneof(
  { weight: 14, arbitrary: simpleOperation },
  {
    weight: 2,
    arbitrary: of('transaction', {
      operations: fc.array(insideOperation, { minLength: 1, maxLength: 5, size: 'max' }),
      commits: fc.boolean(),
    }),
  },
  { weight: 1, arbitrary: of('sweep', {}) },
  { weight: 1, arbitrary: of('pages', { limit: fc.integer({ min: 1, max: 3 }) }) },
) as fc.Arbitrary<Operation>

/** Mostly of one process. */
export const operation: fc.Arbitrary<Operation & { by: 0 | 1 }> = fc
  .tuple(anyOperation, fc.constantFrom(0 as const, 0 as const, 1 as const))
  .map(([one, by]) => ({ ...one, by }))

/** The queues at the beginning, where none is in another one's way. */
const lettersTo = (...names: (string | null)[]) =>
  fc
    .record({ own: settings, deadLetterQueue: fc.constantFrom(...names) })
    .map(({ own, deadLetterQueue }) => ({ ...own, deadLetterQueue }))
export const beginning: fc.Arbitrary<Record<(typeof QUEUES)[number], QueueSettings>> = fc.record({
  dead: lettersTo(null),
  b: lettersTo(null, 'dead'),
  a: lettersTo(null, 'dead', 'dead', 'dead', 'b'),
})

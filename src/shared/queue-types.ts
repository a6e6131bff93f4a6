/** The public shapes of work queues and their calls; those of messages are in `message-types.ts`. */
import type { AsJson, JsonText } from './json'
import type * as Messages from './message-types'
import type * as Settings from './queue-settings-types'
import type { As, DryRun, Form, IfTag } from './types'

export type * from './message-types'
export type * from './queue-settings-types'
export type { DryRun }
/**
 * The operations on work queues: `store.queues` and `tx.queues`. `Body` is the type that the caller says bodies have; only the
 * `schema` of a handle or a worker checks it.
 */
export interface Queues {
  /** The attributes and counts; null for a queue that does not exist. */
  get(queue: string): Promise<Settings.QueueStatus | null>
  /** Creates the queue, or replaces all its settings; a pause stays. Throws `dead_letter_queue_not_found`, `dead_letter_cycle`. */
  put(queue: string, settings?: Settings.QueueSettings, options?: IfTag): Promise<Settings.Queue & { created: boolean }>
  /** Creates the queue unless it exists. One that exists stays as it is; a process warns once of settings that differ. */
  ensure(queue: string, settings?: Settings.QueueSettings): Promise<Settings.Queue & { created: boolean }>
  /** Changes only the settings that are given, if any. Throws as `put`, and `queue_not_found`. */
  update(queue: string, settings: Settings.QueueSettings, options?: IfTag): Promise<Settings.Queue>
  /** Until `resume`, messages can be sent and receives get none. Repeatable. Throws `queue_not_found`. */
  pause(queue: string): Promise<Settings.Queue>
  /** Ends a pause: waiting receives get messages again. Repeatable. Throws `queue_not_found`. */
  resume(queue: string): Promise<Settings.Queue>
  /**
   * For `seconds` from now no message of the queue, or of one of its message groups, is handed out; 0 ends a hold. Messages
   * that were received before stay with their receivers. Throws `queue_not_found`.
   */
  hold(queue: string, options: Settings.HoldOptions): Promise<Settings.QueueHold>
  /** Drops the queue and its messages; false when there was none. Throws `queue_in_use` while another queue names it. */
  drop(queue: string): Promise<boolean>
  /** Queues by name, or by a number. */
  list(options?: Settings.QueueListOptions): Promise<Settings.QueuePage>
  /** Sends one message. Throws `queue_not_found`. */
  send<Body = unknown, Given extends Body | JsonText = Body | JsonText>(
    queue: string,
    body: Given & AsJson<Given>,
    options?: Messages.SendOptions,
  ): Promise<Messages.Sent>
  /** Sends 1 to 1,000 messages, all or nothing; resolves to one entry for each, in the order given. */
  sendMany<Body = unknown>(
    queue: string,
    messages: readonly Messages.NewMessage<NoInfer<Body>>[],
  ): Promise<Messages.Sent[]>
  /** Claims messages: until the visibility timeout expires, no other receiver gets them. None while the queue is paused. */
  receive<Body = unknown, Asked extends Form = 'value'>(
    queue: string,
    options?: Messages.ReceiveOptions<Asked>,
  ): Promise<Messages.Message<As<Body, Asked>>[]>
  /**
   * Claims the next messages behind a stored cursor, by id, and begins again after the last one. None while paused or held; rates
   * do not count it.
   */
  cycle<Body = unknown, Asked extends Form = 'value'>(
    queue: string,
    options?: Messages.CycleOptions<Asked>,
  ): Promise<Messages.Message<As<Body, Asked>>[]>
  /**
   * The message is done: removes it, or archives it. Takes the message, or its receipt handle. Throws `stale_receipt` when
   * the claim is no longer the caller's: it was settled, or another receiver has claimed the message since.
   */
  ack(queue: string, message: Messages.MessageRef): Promise<void>
  /** The message failed: it is handed out again after a delay, or never. Throws as `ack`. */
  nack(queue: string, message: Messages.MessageRef, options?: Messages.NackOptions): Promise<void>
  /** Extends the claim to the visibility timeout, counted from now. Throws as `ack`. */
  extend(queue: string, message: Messages.MessageRef, options: Messages.ExtendOptions): Promise<void>
  /** `ack` of 1 to 1,000 messages or handles; resolves to the handles that counted, and those that did not. */
  ackMany(queue: string, messages: readonly Messages.MessageRef[]): Promise<Messages.Acked>
  /** `nack` of 1 to 1,000 messages or handles. */
  nackMany(
    queue: string,
    messages: readonly Messages.MessageRef[],
    options?: Messages.NackOptions,
  ): Promise<Messages.Nacked>
  /** `extend` of 1 to 1,000 messages or handles. */
  extendMany(
    queue: string,
    messages: readonly Messages.MessageRef[],
    options: Messages.ExtendOptions,
  ): Promise<Messages.Extended>
  /** Shows messages without claiming them. */
  peek<Body = unknown, Asked extends Messages.BodyForm = 'value'>(
    queue: string,
    options?: Messages.PeekOptions<Asked>,
  ): Promise<Messages.MessagePage<As<Body, Asked>>>
  /** One message, in whatever state; null when the queue has none of this id. */
  message<Body = unknown, Asked extends Form = 'value'>(
    queue: string,
    id: bigint,
    options?: Messages.BodyOptions<Asked>,
  ): Promise<Messages.WholeMessage<As<Body, Asked>> | null>
  /** Removes one message, in whatever state, without archiving it; false when there was none. */
  remove(queue: string, id: bigint): Promise<boolean>
  /** Removes the message that waits with the key; false when there was none. One in flight stays. Throws `queue_not_found`. */
  cancel(queue: string, key: string): Promise<boolean>
  /** Sends dead messages back to the queues that they came from, with receive count 0. */
  redrive(queue: string, options?: Messages.RedriveOptions): Promise<{ moved: number }>
  /** Has the delayed ones of 1 to 1,000 messages, or those in flight, handed out now. Throws `queue_not_found`. */
  promote(queue: string, ids: readonly bigint[], options?: Messages.PromoteOptions): Promise<{ promoted: number }>
  /** Drops the ready, blocked and delayed messages: in a dead-letter queue, the dead letters. Or only the dead that are chosen. */
  purge(queue: string, options?: Messages.PurgeOptions): Promise<{ deleted: number }>
  /** The errors that the queue's dead messages died of, and the dead letters in it. Throws `queue_not_found`. */
  errors(queue: string, options?: Pick<Messages.DeadFilter, 'from'>): Promise<Messages.DeadErrors>
  /** Numbers of messages that were sent, acknowledged and waiting in the last hour or week. Throws `queue_not_found`. */
  history(queue: string, options?: { period?: Settings.HistoryPeriod | undefined }): Promise<Settings.QueueHistory>
  /** The processes that receive from the queue, and what blocks its message groups. Throws `queue_not_found`. */
  receivers(queue: string): Promise<Settings.QueueReceivers>
}

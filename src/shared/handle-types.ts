/**
 * The public shapes of handles: the calls on one queue, group or feed. `Call` is what each call takes besides: nothing in the
 * library, and `CallOptions` in the client, which gives no values as text.
 */
import type * as Feed from './feed-types'
import type * as Group from './group-types'
import type { AsJson, JsonText } from './json'
import type * as Queue from './queue-types'
import type { StandardSchema } from './schema'
import type { As, Form, IfTag, PayloadAs } from './types'

type Also<Call extends unknown[]> = Call extends [options?: infer Options] ? Options : unknown
type FormOf<Call extends unknown[]> = Call extends [] ? Form : 'value'
type Formed<Options, Call extends unknown[]> = Call extends []
  ? Options
  : Omit<Options, 'bodies' | 'payloads' | 'values'> & Also<Call>

export interface HandleOptions<Out = unknown, In = unknown> {
  /**
   * The schema of bodies, or values: a Standard Schema (zod, valibot, arktype). One that does not fit is refused where it is sent or
   * put, with `invalid_input`. A receiver, reader or handler gets the output of the schema.
   */
  schema?: StandardSchema<Out, In> | undefined
}

/** The calls on one queue: of a store, a transaction or a client. `In` is what is sent, `Out` what comes out of the schema. */
export interface QueueHandle<In = unknown, Out = In, Call extends unknown[] = []> {
  /** The name of the queue. */
  readonly name: string
  /** The attributes and counts; null where the queue does not exist. */
  get(...call: Call): Promise<Queue.QueueStatus | null>
  /** Creates the queue, or replaces all its settings; a pause stays. */
  put(settings?: Queue.QueueSettings, options?: IfTag & Also<Call>): Promise<Queue.Queue & { created: boolean }>
  /** Creates the queue unless it exists. */
  ensure(settings?: Queue.QueueSettings, ...call: Call): Promise<Queue.Queue & { created: boolean }>
  /** Changes only the settings that are given. */
  update(settings: Queue.QueueSettings, options?: IfTag & Also<Call>): Promise<Queue.Queue>
  /** Until `resume`, messages can be sent and receives get none. */
  pause(...call: Call): Promise<Queue.Queue>
  /** Ends a pause. */
  resume(...call: Call): Promise<Queue.Queue>
  /** For `seconds` no message of the queue, or of one of its message groups, is handed out; 0 ends a hold. */
  hold(options: Queue.HoldOptions & Also<Call>): Promise<Queue.QueueHold>
  /** Drops the queue and its messages; false when there was none. */
  drop(...call: Call): Promise<boolean>
  /** Sends one message. */
  send<Given extends In | JsonText>(
    body: Given & AsJson<Given>,
    options?: Queue.SendOptions & Also<Call>,
  ): Promise<Queue.Sent>
  /** Sends 1 to 1,000 messages, all or nothing. */
  sendMany(messages: readonly Queue.NewMessage<In>[], ...call: Call): Promise<Queue.Sent[]>
  /**
   * Claims messages: until the visibility timeout expires, no other receiver gets them. One whose body does not fit the schema
   * becomes a dead letter, and is left out.
   */
  receive<Asked extends FormOf<Call> = 'value'>(
    options?: Formed<Queue.ReceiveOptions<Asked>, Call>,
  ): Promise<Queue.Message<As<Out, Asked>>[]>
  /** Claims the next messages behind a stored cursor, as `receive`, and begins again after the last one. */
  cycle<Asked extends FormOf<Call> = 'value'>(
    options?: Formed<Queue.CycleOptions<Asked>, Call>,
  ): Promise<Queue.Message<As<Out, Asked>>[]>
  /** The message is done. Throws `stale_receipt` when the claim is no longer the caller's. */
  ack(message: Queue.MessageRef, ...call: Call): Promise<void>
  /** The message failed: it is handed out again after a delay, or never. */
  nack(message: Queue.MessageRef, options?: Queue.NackOptions & Also<Call>): Promise<void>
  /** Extends the claim to the visibility timeout, counted from now. */
  extend(message: Queue.MessageRef, options: Queue.ExtendOptions & Also<Call>): Promise<void>
  /** `ack` of 1 to 1,000 messages; resolves to the handles that counted, and those that did not. */
  ackMany(messages: readonly Queue.MessageRef[], ...call: Call): Promise<Queue.Acked>
  /** `nack` of 1 to 1,000 messages. */
  nackMany(messages: readonly Queue.MessageRef[], options?: Queue.NackOptions & Also<Call>): Promise<Queue.Nacked>
  /** `extend` of 1 to 1,000 messages. */
  extendMany(messages: readonly Queue.MessageRef[], options: Queue.ExtendOptions & Also<Call>): Promise<Queue.Extended>
  /** Shows messages without claiming them, with bodies as they were sent. */
  peek<Asked extends FormOf<Call> | 'preview' = 'value'>(
    options?: Queue.PeekOptions<Asked> & Also<Call>,
  ): Promise<Queue.MessagePage<As<In, Asked>>>
  /** One message, as it was sent, in whatever state; null where there is none. */
  message<Asked extends FormOf<Call> = 'value'>(
    id: bigint,
    options?: Formed<Queue.BodyOptions<Asked>, Call>,
  ): Promise<Queue.WholeMessage<As<In, Asked>> | null>
  /** Removes one message, in whatever state, without archiving it; false when there was none. */
  remove(id: bigint, ...call: Call): Promise<boolean>
  /** Removes the message that waits with the key; false when there was none. */
  cancel(key: string, ...call: Call): Promise<boolean>
  /** Sends dead messages back to the queues that they came from. */
  redrive(options?: Queue.RedriveOptions & Also<Call>): Promise<{ moved: number }>
  /** Has the delayed ones of 1 to 1,000 messages, or those in flight, handed out now. */
  promote(ids: readonly bigint[], options?: Queue.PromoteOptions & Also<Call>): Promise<{ promoted: number }>
  /** Drops the ready, blocked and delayed messages, or only the dead that are chosen. */
  purge(options?: Queue.PurgeOptions & Also<Call>): Promise<{ deleted: number }>
  /** The errors that the queue's dead messages died of, and the dead letters in it. */
  errors(options?: Pick<Queue.DeadFilter, 'from'> & Also<Call>): Promise<Queue.DeadErrors>
  /** Numbers of messages that were sent, acknowledged and waiting in the last hour or week. */
  history(options?: { period?: Queue.HistoryPeriod | undefined } & Also<Call>): Promise<Queue.QueueHistory>
  /** The processes that receive from the queue, and what blocks its message groups. */
  receivers(...call: Call): Promise<Queue.QueueReceivers>
}

/** An item for a group whose payloads are of one type: the payload can be left out only where it may be undefined or null. */
type ItemOf<Payload> = undefined extends Payload
  ? Group.NewItem<Payload>
  : null extends Payload
    ? Group.NewItem<Payload>
    : Group.NewItem<Payload> & { payload: Payload | JsonText }
type AppendOf<Payload, Options> =
  Record<never, never> extends ItemOf<Payload>
    ? [item?: ItemOf<Payload>, options?: Options]
    : [item: ItemOf<Payload>, options?: Options]

/** The client gives only where each item is. */
type AppendedOf<Payload, Call extends unknown[]> = Call extends []
  ? Group.AppendedItem<Payload>
  : Pick<Group.AppendedItem, 'group' | 'id' | 'slot' | 'appended'>

/** The calls on one group: of a store, a transaction or a client. Nothing checks that payloads have this type. */
export interface GroupHandle<Payload = unknown, Call extends unknown[] = []> {
  /** The name of the group. */
  readonly name: string
  /** Appends one item; creates the group where there is none. */
  append<Asked extends FormOf<Call> = 'value'>(
    ...given: AppendOf<Payload, Formed<Group.PayloadOptions<Asked>, Call>>
  ): Promise<Group.AppendedItem<PayloadAs<Payload, Asked>>>
  /** Appends up to 1,000 items in the order given: one commit, all or nothing. */
  appendMany<Asked extends FormOf<Call> = 'value'>(
    items: readonly ItemOf<Payload>[],
    options?: Formed<Group.PayloadOptions<Asked>, Call>,
  ): Promise<AppendedOf<PayloadAs<Payload, Asked>, Call>[]>
  /** The newest items. */
  recent<Asked extends FormOf<Call> | 'none' = 'value'>(
    options?: Group.RecentOptions<Asked> & Also<Call>,
  ): Promise<Group.Recent<PayloadAs<Payload, Asked>>>
  /** The same for a caller who has a page, read with the same options: null while that page, by its `tag`, is still the answer. */
  recentIfChanged<Asked extends FormOf<Call> | 'none' = 'value'>(
    tag: string,
    options?: Group.RecentOptions<Asked> & Also<Call>,
  ): Promise<Group.Recent<PayloadAs<Payload, Asked>> | null>
  /** One item; null if the window has none of this id. */
  item<Asked extends FormOf<Call> = 'value'>(
    id: bigint,
    options?: Formed<Group.PayloadOptions<Asked>, Call>,
  ): Promise<Group.Item<PayloadAs<Payload, Asked>> | null>
  /** Adds `by` to the score of a member's item in a `top` group; null where the member is not in it. */
  changeScore<Asked extends FormOf<Call> = 'value'>(
    member: string,
    by: number,
    options?: Formed<Group.PayloadOptions<Asked>, Call>,
  ): Promise<Group.Item<PayloadAs<Payload, Asked>> | null>
  /** Removes all items; ids continue from where they were. */
  clear(...call: Call): Promise<{ deleted: number }>
  /** Removes one item; false when the window has none of this id. */
  remove(id: bigint, ...call: Call): Promise<boolean>
  /** The settings, in force and its own; null where the group does not exist. */
  get(...call: Call): Promise<Group.Group | null>
  /** Creates the group or replaces its own settings. */
  put(settings?: Group.OwnSettings, options?: IfTag & Also<Call>): Promise<Group.Group & { created: boolean }>
  /** Changes only the settings that are given; null lets one follow the policy again. */
  update(changes: Group.GroupChanges, options?: IfTag & Also<Call>): Promise<Group.Group>
  /** Creates the group unless it exists. */
  ensure(settings?: Group.OwnSettings, ...call: Call): Promise<Group.Group & { created: boolean }>
  /** Forgets the group and its items; false when there was none. */
  drop(...call: Call): Promise<boolean>
}

/** The calls on one feed: of a store, a transaction or a client. `In` is what is put, `Out` what comes out of the schema. */
export interface FeedHandle<In = unknown, Out = In, Call extends unknown[] = []> {
  /** The name of the feed. */
  readonly name: string
  /** Writes a value. The first entry begins the feed. */
  put<Given extends In | JsonText>(
    key: string,
    value: Given & AsJson<Given>,
    options?: Feed.IfVersion & Also<Call>,
  ): Promise<Feed.WrittenEntry<In>>
  /** Writes 1 to 1,000 entries, all or nothing. If a key is given twice, its last value is stored. */
  putMany(entries: readonly Feed.NewEntry<In>[], ...call: Call): Promise<{ entries: Feed.PutEntry[] }>
  /** The entry; null when there is none or it is deleted. */
  get<Asked extends FormOf<Call> = 'value'>(
    key: string,
    options?: Formed<Feed.ValueOptions<Asked>, Call>,
  ): Promise<Feed.Entry<As<Out, Asked>> | null>
  /** Replaces the entry by a tombstone, which consumers read as a deletion; null when there was none. */
  delete(key: string, options?: Feed.IfVersion & Also<Call>): Promise<Feed.WrittenEntry<null> | null>
  /** Publishes entries and tombstones again, unchanged. */
  republish(selection: Feed.RepublishSelection, ...call: Call): Promise<{ republished: number }>
  /** The changes after a cursor. Throws `cursor_expired` when a tombstone after it has been removed. */
  changes<Asked extends FormOf<Call> = 'value'>(
    options?: Formed<Feed.ChangesOptions<Asked>, Call>,
  ): Promise<Feed.Changes<As<Out, Asked>>>
  /** The stored cursor; 0 for an unknown consumer. */
  cursor(consumer: string, ...call: Call): Promise<Feed.Consumer>
  /** Moves the stored cursor forward, and backward only with `force`. Resolves to the stored cursor. */
  moveCursor(consumer: string, cursor: bigint, options?: Feed.MoveCursorOptions & Also<Call>): Promise<Feed.Consumer>
  /** Removes the stored cursor; false when there was none. */
  dropCursor(consumer: string, ...call: Call): Promise<boolean>
  /** The counts of the feed, and its consumers; null for an unknown feed. */
  status(...call: Call): Promise<Feed.FeedStatus | null>
  /** Drops the feed, its entries and its consumers. */
  drop(...call: Call): Promise<boolean>
}

/**
 * The public shapes of handles: the calls on one queue, group or feed. `Call` is what each call takes besides: nothing in the
 * library, and `CallOptions` in the client, which gives no values as text.
 */
import type * as Feed from './feed-types'
import type * as Group from './group-types'
import type { AsJson, JsonText } from './json'
import type * as Queue from './queue-types'
import type { StandardSchema } from './schema'
import type { As, Form, PayloadAs } from './types'

type Also<Call extends unknown[]> = Call extends [options?: infer Options] ? Options : unknown
type FormOf<Call extends unknown[]> = Call extends [] ? Form : 'value'
type Formed<Options, Call extends unknown[]> = Call extends []
  ? Options
  : Omit<Options, 'bodies' | 'payloads' | 'values'> & Also<Call>

type SpacedWords<Text extends string> = Text extends `${infer First} ${infer Rest}` ? First | SpacedWords<Rest> : Text
/** The arguments of a call after the name. */
type AfterName<Method> = Method extends (name: string, ...given: infer All extends unknown[]) => unknown ? All : never
type Gives<Method> = Method extends (...given: never[]) => infer Result ? Result : never
/** The calls of these names on one thing, each with the comment that it has on all. */
type Bound<Calls, Names extends keyof Calls, Call extends unknown[]> = {
  [Name in Names]: (...given: [...AfterName<Calls[Name]>, ...Call]) => Gives<Calls[Name]>
}
/** The same for calls with options, which `Call` adds to. */
type BoundWith<Calls, Names extends keyof Calls, Call extends unknown[]> = {
  [Name in Names]: (...given: LastWith<AfterName<Calls[Name]>, Also<Call>>) => Gives<Calls[Name]>
}
type LastWith<All extends unknown[], More> = {
  [Place in keyof All]: Place extends ['', '0', '1', '2'][Required<All>['length']] ? All[Place] & More : All[Place]
}

export interface HandleOptions<Out = unknown, In = unknown> {
  /**
   * The schema of bodies, or values: a Standard Schema (zod, valibot, arktype). One that does not fit is refused where it is sent or
   * put, with `invalid_input`. A receiver, reader or handler gets the output of the schema.
   */
  schema?: StandardSchema<Out, In> | undefined
}

/** The calls on one queue: of a store, a transaction or a client. `In` is what is sent, `Out` what comes out of the schema. */
export interface QueueHandle<In = unknown, Out = In, Call extends unknown[] = []>
  extends Bound<Queue.Queues, SpacedWords<'get ensure pause resume drop ack ackMany remove cancel receivers'>, Call>,
    BoundWith<
      Queue.Queues,
      SpacedWords<'put update hold nack extend nackMany extendMany redrive promote purge errors history'>,
      Call
    > {
  /** The name of the queue. */
  readonly name: string
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
  /** Shows messages without claiming them, with bodies as they were sent. */
  peek<Asked extends FormOf<Call> | 'preview' = 'value'>(
    options?: Queue.PeekOptions<Asked> & Also<Call>,
  ): Promise<Queue.MessagePage<As<In, Asked>>>
  /** One message, as it was sent, in whatever state; null where there is none. */
  message<Asked extends FormOf<Call> = 'value'>(
    id: bigint,
    options?: Formed<Queue.BodyOptions<Asked>, Call>,
  ): Promise<Queue.WholeMessage<As<In, Asked>> | null>
}

/** An item for a group whose payloads are of one type: the payload can be left out only where it may be undefined or null. */
export type ItemOf<Payload> = undefined extends Payload
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
export interface GroupHandle<Payload = unknown, Call extends unknown[] = []>
  extends Bound<Group.Groups, SpacedWords<'get ensure drop clear remove'>, Call>,
    BoundWith<Group.Groups, SpacedWords<'put update'>, Call> {
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
}

/** The calls on one feed: of a store, a transaction or a client. `In` is what is put, `Out` what comes out of the schema. */
export interface FeedHandle<In = unknown, Out = In, Call extends unknown[] = []>
  extends Bound<Feed.Feeds, SpacedWords<'republish cursor dropCursor status drop'>, Call>,
    BoundWith<Feed.Feeds, SpacedWords<'delete moveCursor'>, Call> {
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
  /** The changes after a cursor. Throws `cursor_expired` when a tombstone after it has been removed. */
  changes<Asked extends FormOf<Call> = 'value'>(
    options?: Formed<Feed.ChangesOptions<Asked>, Call>,
  ): Promise<Feed.Changes<As<Out, Asked>>>
}

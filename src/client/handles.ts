/** The handles of the client: those of the library, whose calls take `CallOptions` besides, and what the client alone has. */
import type { GroupWatch, Item, RecentOptions } from '../shared/group-types'
import type { FeedHandle, GroupHandle, QueueHandle } from '../shared/handle-types'
import type { PeekedMessage, PeekOptions } from '../shared/queue-types'
import type { As, PayloadAs } from '../shared/types'
import type { ClientConsumeOptions, ClientWorkOptions, ConsumeHandler, Handler, Running } from './loops'
import type { CallOptions } from './transport'
import type { StreamOptions } from './watch'

type Call = [options?: CallOptions]

/** The handle of `client.queue` of `@recentn/client/calls`. */
export interface CallsQueueHandle<In = unknown, Out = In> extends QueueHandle<In, Out, Call> {
  /** All messages in one state, in pages of `limit`. */
  allMessages<Asked extends 'value' | 'preview' = 'value'>(
    options?: PeekOptions<Asked> & CallOptions,
  ): AsyncGenerator<PeekedMessage<As<In, Asked>>, void, undefined>
}

/** The handle of `client.queue`. */
export interface ClientQueueHandle<In = unknown, Out = In> extends CallsQueueHandle<In, Out> {
  /** Receives messages and runs the handler on each until it is stopped, as `queues.work`. */
  work(handler: Handler<Out>, options?: ClientWorkOptions<Out>): Running
}

/** The handle of `client.group` of `@recentn/client/calls`. */
export interface CallsGroupHandle<Payload = unknown> extends GroupHandle<Payload, Call> {
  /** All items of the group, newest first, in pages of `limit`. */
  allItems<Asked extends 'value' | 'none' = 'value'>(
    options?: RecentOptions<Asked> & CallOptions,
  ): AsyncGenerator<Item<PayloadAs<Payload, Asked>>, void, undefined>
}

/** The handle of `client.group`. */
export interface ClientGroupHandle<Payload = unknown> extends CallsGroupHandle<Payload> {
  /** The events of the group from now on, or since the item `after`, as `groups.watch`. */
  watch(options?: StreamOptions): GroupWatch<PayloadAs<Payload, 'value'>>
}

/** The handle of `client.feed` of `@recentn/client/calls`. */
export type CallsFeedHandle<Value = unknown> = FeedHandle<Value, Value, Call>

/** The handle of `client.feed`. */
export interface ClientFeedHandle<In = unknown, Out = In> extends FeedHandle<In, Out, Call> {
  /** Gives the handler what comes after the consumer's stored cursor until it is stopped, as `feeds.consume`. */
  consume(consumer: string, handler: ConsumeHandler<Out>, options?: ClientConsumeOptions<Out>): Running
}

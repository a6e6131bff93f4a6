/**
 * Checked by the compiler: the client has every operation of the library under the same name, and returns what the library
 * returns, as far as the server sends it. Nothing here runs.
 */

import type * as client from '../../src/client'
import type { Client } from '../../src/client'
import type * as feeds from '../../src/shared/feed-types'
import type * as recent from '../../src/shared/group-types'
import type * as queues from '../../src/shared/queue-types'
import type * as schedules from '../../src/shared/schedule-types'

/** The client's type has only fields that the library's has, of the same types. */
type Same<Library, OfClient> =
  OfClient extends Pick<Library, keyof OfClient & keyof Library>
    ? keyof OfClient extends keyof Library
      ? true
      : never
    : never

/** The client takes everything that the library takes, except `Less`. */
type Takes<OfClient, Library, Less extends keyof Library = never> = Omit<Library, Less> extends OfClient ? true : never

type Has<OfClient, Methods extends PropertyKey> = Exclude<Methods, keyof OfClient> extends never ? true : never

/** Options that leave values as text are for programs that pass the text on. */
type Texts = 'payloads' | 'bodies' | 'values' | 'signal'

export const methods: [
  Has<Client['groups'], keyof recent.Groups | 'watch'>,
  Has<Client['queues'], keyof (queues.Queues & schedules.Schedules)>,
  Has<Client['feeds'], keyof feeds.Feeds>,
] = [true, true, true]

export const given: [
  Same<recent.Item, client.Item>,
  Same<recent.Recent, client.Recent>,
  Same<recent.Group, client.Group>,
  Same<recent.Policy, client.Policy>,
  Same<recent.MemberItems, client.MemberItems>,
  Same<queues.Queue, client.Queue>,
  Same<queues.QueueStatus, client.QueueStatus>,
  Same<queues.Message, client.Message>,
  Same<queues.PeekedMessage, client.PeekedMessage>,
  Same<queues.Acked, client.AckedReceipts>,
  Same<schedules.Schedule, client.Schedule>,
  Same<schedules.ListedSchedule, client.ListedSchedule>,
  Same<feeds.Entry, client.Entry>,
  Same<feeds.Changes, client.Changes>,
  Same<feeds.Consumer, client.Consumer>,
  Same<feeds.FeedStatus, client.Feed>,
  recent.GroupEvent extends client.GroupEvent ? true : never,
  client.GroupEvent extends recent.GroupEvent ? true : never,
] = [true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true]

export const taken: [
  Takes<client.NewItem, recent.NewItem>,
  Takes<client.NewGroupItem, recent.NewGroupItem>,
  Takes<client.OwnSettings, recent.OwnSettings>,
  Takes<client.RecentOptions, recent.RecentOptions, Texts & keyof recent.RecentOptions>,
  Takes<client.QueueSettings, queues.QueueSettings>,
  Takes<client.NewMessage, queues.NewMessage>,
  Takes<client.SendOptions, queues.SendOptions>,
  Takes<client.ReceiveOptions, queues.ReceiveOptions, 'bodies'>,
  Takes<client.CycleOptions, queues.CycleOptions, 'bodies'>,
  Takes<client.NackOptions, queues.NackOptions>,
  Takes<client.ExtendOptions, queues.ExtendOptions>,
  Takes<client.NewSchedule, schedules.ScheduleDefinition>,
  Takes<client.PeekOptions, queues.PeekOptions, 'bodies'>,
  Takes<client.ChangesOptions, feeds.ChangesOptions, 'values'>,
  Takes<client.Republish, feeds.RepublishSelection>,
] = [true, true, true, true, true, true, true, true, true, true, true, true, true, true, true]

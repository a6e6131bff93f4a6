/** What the routes answer, by the types that are made from the document: as it is sent, so that ids and times are text. */
import type * as answers from '../client/wire'

/** Values that somebody has stored are kept as they are. */
type AsSent<T> = T extends bigint | Date
  ? string
  : T extends (infer Element)[]
    ? AsSent<Element>[]
    : T extends object
      ? { [Field in keyof T]: AsSent<T[Field]> }
      : T

export type Access = answers.Access
export type Scope = Access['scopes'][number]
export type Group = AsSent<answers.Group>
export type Mode = Group['mode']
export type Policy = AsSent<answers.Policy>
export type PolicySettings = Omit<Policy, 'prefix'>
export type PolicyPage = AsSent<answers.PolicyPage>
export type Item = AsSent<answers.Item>
export type Recent = AsSent<answers.Recent>
export type GroupReset = AsSent<answers.GroupReset>
export type Queue = AsSent<answers.QueueStatus>
export type Counts = Queue['counts']
export type Message = AsSent<answers.PeekedMessage>
export type State = Message['state']
export type Feed = AsSent<answers.Feed>
export type Consumer = AsSent<answers.Consumer>
export type GroupPage = AsSent<answers.GroupPage>
export type RecentMany = AsSent<answers.RecentMany>
export type MemberItems = AsSent<answers.MemberItems>
export type QueuePage = AsSent<answers.QueuePage>
export type MessagePage = AsSent<answers.MessagePage>
export type FeedPage = AsSent<answers.FeedPage>

export const STATES = ['ready', 'in-flight', 'delayed', 'dead', 'archived'] as const satisfies readonly State[]

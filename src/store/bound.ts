/** Calls of handles that take the name of the group or feed as a member, which the handle fills in. */
import type { Followed, FollowedRow, FollowOptions, FollowTarget } from '../repositories/feeds/follow-types'
import type { AppendedItem, NewItem, PayloadOptions } from '../shared/group-types'

/** What a handle of a group has besides. */
export interface BoundGroup<Payload = unknown> {
  /** `groups.appendMany`, with this group as the `group` of each item. */
  appendMany(items: readonly NewItem<Payload>[], options?: PayloadOptions): Promise<AppendedItem<Payload>[]>
}

/** What a handle of a feed has besides. */
export interface BoundFeed {
  /** `feeds.follow`, with this feed as `feed`. */
  follow<Row extends FollowedRow>(
    target: FollowTarget<Row>,
    options: Omit<FollowOptions<Row>, 'feed'>,
  ): Promise<Followed>
}

// Made from the OpenAPI document by scripts/client-wire.cjs: not to be edited.
/** What each operation takes and answers. */
import type {
  Appended,
  Deleted,
  Group,
  GroupPage,
  Item,
  MemberItems,
  Policy,
  PolicyPage,
  Recent,
  RecentMany,
} from './answers'
import type { Batch, NewItem, NewPolicy, NewSettings } from './requests'

type Nothing = Record<never, never>

export interface GroupOperations {
  /** Append an item: `POST /v1/groups/{group}/items` */
  appendItem: {
    path: {
      /** The group. */
      group: string
    }
    query: Nothing
    body: NewItem
    answer: Item
  }
  /** The newest items of a group, newest first: `GET /v1/groups/{group}/items` */
  recentItems: {
    path: {
      /** The group. */
      group: string
    }
    query: {
      /** At most so many. 1 to 10000; `10` when left out. */
      limit?: number | undefined
      /** Only items with a smaller id: the `nextBefore` of the page before. */
      before?: bigint | undefined
      /** Members whose items are left out. */
      exclude?: readonly string[] | undefined
      /** `none`: null in place of each payload. `value` when left out. */
      payloads?: 'value' | 'none' | undefined
    }
    body: undefined
    answer: Recent
  }
  /** Remove all items of a group: `DELETE /v1/groups/{group}/items` */
  clearGroup: {
    path: {
      /** The group. */
      group: string
    }
    query: Nothing
    body: undefined
    answer: Deleted
  }
  /** Remove one item: `DELETE /v1/groups/{group}/items/{id}` */
  removeItem: {
    path: {
      /** The group. */
      group: string
      /** The id of the item. */
      id: bigint
    }
    query: Nothing
    body: undefined
    answer: undefined
  }
  /** Append up to 1000 items to any groups: `POST /v1/items` */
  appendItems: {
    path: Nothing
    query: Nothing
    body: Batch
    answer: Appended
  }
  /** The newest items of up to 100 groups, in the order asked: `GET /v1/items` */
  recentItemsOfMany: {
    path: Nothing
    query: {
      /** The groups, each once. */
      group: readonly string[]
      /** At most so many. 1 to 10000; `10` when left out. */
      limit?: number | undefined
      /** Members whose items are left out. */
      exclude?: readonly string[] | undefined
      /** `none`: null in place of each payload. `value` when left out. */
      payloads?: 'value' | 'none' | undefined
    }
    body: undefined
    answer: RecentMany
  }
  /** The groups, by name: `GET /v1/groups` */
  listGroups: {
    path: Nothing
    query: {
      /** Only groups whose name begins with this. */
      prefix?: string | undefined
      /** At most so many. 1 to 1000; `100` when left out. */
      limit?: number | undefined
      /** The `nextAfter` of the page before. */
      after?: string | undefined
    }
    body: undefined
    answer: GroupPage
  }
  /** The settings of a group, in force and its own, and its total: `GET /v1/groups/{group}` */
  getGroup: {
    path: {
      /** The group. */
      group: string
    }
    query: Nothing
    body: undefined
    answer: Group
  }
  /** Create a group, or replace a group's own settings: `PUT /v1/groups/{group}` */
  putGroup: {
    path: {
      /** The group. */
      group: string
    }
    query: Nothing
    body: NewSettings
    answer: Group
  }
  /** Forget a group with its items: `DELETE /v1/groups/{group}` */
  deleteGroup: {
    path: {
      /** The group. */
      group: string
    }
    query: Nothing
    body: undefined
    answer: undefined
  }
  /** What happens to a group, as server-sent events: `GET /v1/groups/{group}/stream` */
  streamGroup: {
    path: {
      /** The group. */
      group: string
    }
    query: {
      /** Begin after this item, where there is no `Last-Event-ID`. */
      after?: bigint | undefined
    }
    body: undefined
    answer: string
  }
  /** What one member did in all groups, newest first: `GET /v1/members/{member}/items` */
  memberItems: {
    path: {
      /** The member. */
      member: string
    }
    query: {
      /** Only in groups whose name begins with this. */
      prefix?: string | undefined
      /** `none`: null in place of each payload. `value` when left out. */
      payloads?: 'value' | 'none' | undefined
      /** At most so many. 1 to 1000; `100` when left out. */
      limit?: number | undefined
      /** The `nextAfter` of the page before: opaque. */
      after?: string | undefined
    }
    body: undefined
    answer: MemberItems
  }
  /** Erase what a member has in all groups when the request arrives: `DELETE /v1/members/{member}/items` */
  eraseMember: {
    path: {
      /** The member. */
      member: string
    }
    query: {
      /** Only in groups whose name begins with this. */
      prefix?: string | undefined
    }
    body: undefined
    answer: Deleted
  }
  /** The policies, by prefix: `GET /v1/policies` */
  listPolicies: {
    path: Nothing
    query: {
      /** Only policies whose own prefix begins with this. */
      prefix?: string | undefined
      /** At most so many. 1 to 1000; `100` when left out. */
      limit?: number | undefined
      /** The `nextAfter` of the page before. */
      after?: string | undefined
    }
    body: undefined
    answer: PolicyPage
  }
  /** One policy: `GET /v1/policies/{prefix}` */
  getPolicy: {
    path: {
      /** What the names of the groups begin with. */
      prefix: string
    }
    query: Nothing
    body: undefined
    answer: Policy
  }
  /** Create or replace a policy: `PUT /v1/policies/{prefix}` */
  putPolicy: {
    path: {
      /** What the names of the groups begin with. */
      prefix: string
    }
    query: Nothing
    body: NewPolicy
    answer: Policy
  }
  /** Delete a policy: `DELETE /v1/policies/{prefix}` */
  deletePolicy: {
    path: {
      /** What the names of the groups begin with. */
      prefix: string
    }
    query: Nothing
    body: undefined
    answer: undefined
  }
}

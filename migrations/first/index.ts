/** The tables that the first migration makes. Frozen once released: a later migration changes them. */
import type { Types } from '../dialect'
import { tablesOfFeeds } from './feeds'
import { tablesOfGroups } from './groups'
import { pollTables } from './polls'
import { tablesOfQueues } from './queues'
import { ownTables } from './store'
import type { TableDefinition } from './table'

export function firstTables(types: Types): readonly TableDefinition[] {
  return [
    ...ownTables(types),
    ...tablesOfGroups(types),
    ...tablesOfQueues(types),
    ...tablesOfFeeds(types),
    ...pollTables(types),
  ]
}

import { Recent1763700000000 } from './1763700000000-recent'
import { Writers1763800000000 } from './1763800000000-writers'
import { Queues1763900000000 } from './1763900000000-queues'
import { Feeds1764000000000 } from './1764000000000-feeds'
import { Polls1764100000000 } from './1764100000000-polls'
import { Keys1764200000000 } from './1764200000000-keys'
import { PollPurposes1764300000000 } from './1764300000000-poll-purposes'

/** For the `migrations` of a DataSource: in order, none ever changed once it has landed. */
export const migrations = [
  Recent1763700000000,
  Writers1763800000000,
  Queues1763900000000,
  Feeds1764000000000,
  Polls1764100000000,
  Keys1764200000000,
  PollPurposes1764300000000,
]

/** The version of the tables that this code knows, as `recentn_schema` has it. */
export const SCHEMA_VERSION = 7

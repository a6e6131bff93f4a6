import { Recentn1763700000000 } from './1763700000000-recentn'

/** For the `migrations` of a DataSource: in order, none ever changed once it has been released. */
export const migrations = [Recentn1763700000000]

/** The version of the tables that this code knows, as `recentn_schema` has it. */
export const SCHEMA_VERSION = 1

/** The public surface of recentn. */
export { migrations } from '../migrations'
export {
  entities,
  RecentGroup,
  RecentItem,
  RecentnSchema,
  RecentnWriter,
  RecentPolicy,
  RecentPolicyEpoch,
  RecentPolicyRollout,
} from './entities'
export { ERROR_TITLES, type ErrorCode, type Fault, RecentnError } from './errors'
export type { Access } from './http/dispatch'
export type { Scope } from './http/route'
export { createRouter, type RouterOptions } from './http/router'
export { JsonText } from './json'
export { RecentRepository } from './repositories/recent/repository'
export type * from './repositories/recent/types'
export type { BatchingOptions } from './runtime/appends'
export { attachStore, openStore } from './store'
export type { OpenOptions, Store, StoreOptions, Transaction, TransactionOptions } from './store-types'

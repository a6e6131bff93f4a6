import * as bookkeeping from './bookkeeping'
import * as doorRow from './door-row'
import * as feed from './feed'
import * as poll from './poll'
import * as queue from './queue'
import * as queueMessage from './queue-message'
import * as queuePlaces from './queue-places'
import * as queueSchedule from './queue-schedule'
import * as recentGroup from './recent-group'
import * as recentPolicy from './recent-policy'

export * from './bookkeeping'
export * from './door-row'
export * from './feed'
export * from './poll'
export * from './queue'
export * from './queue-message'
export * from './queue-places'
export * from './queue-schedule'
export * from './recent-group'
export * from './recent-policy'

/** For the `entities` of a DataSource. */
export const entities = Object.values({
  ...bookkeeping,
  ...doorRow,
  ...feed,
  ...poll,
  ...queue,
  ...queueMessage,
  ...queuePlaces,
  ...queueSchedule,
  ...recentGroup,
  ...recentPolicy,
})

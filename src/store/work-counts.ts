/** The work of a store since it was opened, in plain numbers that are added to as it goes. */
import { Sizes } from '../kit/histogram'

export class WorkCounts {
  /** Items that were stored, and those whose event id was there. */
  itemsAppended = 0
  itemsDeduplicated = 0
  messagesSent = 0
  messagesDeduplicated = 0
  messagesSuperseded = 0
  messagesReceived = 0
  messagesAcked = 0
  messagesNacked = 0
  messagesExtended = 0
  entriesWritten = 0
  entriesPublished = 0
  /** Rounds of publishers, and feeds in them that could not be published. */
  publisherRounds = 0
  publisherFaults = 0
  /** Looks at what is scheduled, and those that failed with schedules that could not send. */
  schedulerRounds = 0
  schedulerFaults = 0
  sweeperRounds = 0
  sweeperFaults = 0
  /** Removals of the sweepers: expired items, archived messages that are kept no longer, old tombstones. */
  itemsSwept = 0
  messagesSwept = 0
  tombstonesSwept = 0
  /** Calls that were refused with `overloaded`. */
  overloaded = 0
  /** Items, messages and entries of one commit. */
  readonly appendBatches = new Sizes()
  readonly sendBatches = new Sizes()
  readonly entryBatches = new Sizes()
  /** Groups of one statement. */
  readonly readBatches = new Sizes()
}

/** A store's report for monitoring: counts of what it did, and totals of what is in the database. */

import type { Reader } from '../database/engine'
import type { ConnectionUse } from '../database/pool/connection-use'
import type { DatabaseCounts } from '../database/retries'
import { type Counted, Histogram } from '../kit/histogram'
import { type DoorTotals, doorTotals } from '../repositories/door/move'
import { type FeedTotals, feedTotals } from '../repositories/feeds/status'
import { countAllMessages, type QueueTotals } from '../repositories/queues/counts'

/** The work of a store since it was opened, in plain numbers that are added to as it goes. */
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
  readonly appendBatches = new Histogram()
  readonly sendBatches = new Histogram()
  readonly entryBatches = new Histogram()
  /** Groups of one statement. */
  readonly readBatches = new Histogram()
}

type Work = { readonly [K in keyof WorkCounts as WorkCounts[K] extends number ? K : never]: number }

/**
 * The work of this process with the store since it was opened, and its current state. Plain numbers, and no names of groups,
 * queues, feeds or members. Work inside of callers' transactions is not in it.
 */
export interface StoreCounts extends Work {
  /** Items of one commit, groups of one reading statement, messages and entries of one commit. */
  readonly batches: {
    readonly appends: Counted
    readonly reads: Counted
    readonly sends: Counted
    readonly entries: Counted
  }
  /** Work begun again after an error, by the server's number of it (`1213`: deadlock) or its code (`SQLITE_BUSY`). */
  readonly retries: Readonly<Record<string, number>>
  /** The same, of work that failed in the end. */
  readonly failures: Readonly<Record<string, number>>
  /** Whether a call has failed because the disk of the database is full, and no write of this process has succeeded since. */
  readonly isDiskFull: boolean
  readonly connections: ConnectionUse
  /** Calls that wait for messages, those that wait for changes, and who listens to groups. */
  readonly receivesWaiting: number
  readonly changesWaiting: number
  readonly groupListeners: number
  readonly workers: number
  readonly pollers: number
  readonly consumers: number
}

/** The content of the database, whichever process put it there. */
export interface StoreTotals {
  /** A message in a queue that another one names as its dead-letter queue is dead here, and not waiting. */
  readonly queues: QueueTotals
  readonly feeds: FeedTotals
  /** Rows that plain SQL has inserted and no process has moved yet. */
  readonly door: DoorTotals
}

export async function readTotals(reader: Reader, followed: Parameters<typeof feedTotals>[1]): Promise<StoreTotals> {
  return {
    queues: await countAllMessages(reader),
    feeds: await feedTotals(reader, followed),
    door: await doorTotals(reader),
  }
}

type Now = Pick<
  StoreCounts,
  'connections' | 'receivesWaiting' | 'changesWaiting' | 'groupListeners' | 'workers' | 'pollers' | 'consumers'
>

/** As it is now: what is counted later does not change it. */
export function countsOf(work: WorkCounts, database: DatabaseCounts, now: Now): StoreCounts {
  const { appendBatches, readBatches, sendBatches, entryBatches, ...counted } = work
  return {
    ...counted,
    batches: {
      appends: appendBatches.copy(),
      reads: readBatches.copy(),
      sends: sendBatches.copy(),
      entries: entryBatches.copy(),
    },
    retries: Object.fromEntries(database.retries),
    failures: Object.fromEntries(database.failures),
    isDiskFull: database.isDiskFull,
    ...now,
  }
}

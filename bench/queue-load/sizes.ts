/** What is the same for every contender with a queue. */

export const QUEUE = 'mail'
/** Messages of a bulk, and of a batch where the contender has a choice. */
export const BATCH = 500
/** Handlers at once. */
export const CONCURRENCY = 100
/** Loops that receive, where the contender has no worker of its own. */
export const RECEIVERS = 4
/** Who sends one message after the other. */
export const SENDERS = 64
/** Who sends bulks. */
export const BULK_SENDERS = 4

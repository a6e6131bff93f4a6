/** The drain of a queue whose tables are full of what no receive may hand out, against the same with empty ones. */
import type { Store } from '../../src'
import { inParallel } from '../load/callers'
import { openStoreQueue } from '../peers/queues/recentn'
import { Ledger } from '../queue-load/ledger'
import { BATCH, BULK_SENDERS, QUEUE, RECEIVERS } from '../queue-load/sizes'
import type { Job, Outcome, QueueContender } from '../types'
import { drain, drainSize, preload } from './queues'
import { outcome, type QueueWorkload } from './workload'

/** Messages of one request. */
const REQUEST = 1000
/** Beyond the run. */
const LATER_SECONDS = 30 * 24 * 3600
const STATES = ['ready', 'in-flight', 'delayed', 'dead', 'archived'] as const
const BODY = { to: 'user-1@example.org', subject: 'Another day', text: 'Nobody is to see this one now', mark: -1 }

async function run(job: Job, contender: QueueContender): Promise<Outcome> {
  const queue = await openStoreQueue(job.urls)
  try {
    const third = contender.name === 'empty' ? 0 : (job.quick ? 1 : 333) * REQUEST
    if (third > 0) await fill(queue.store, third)
    const ledger = new Ledger()
    await preload(queue, ledger, drainSize(job))
    const { seconds } = await drain(queue, ledger)
    const due = third === 0 ? '' : `${third} delayed, ${third} dead, ${third} archived`
    const there = await idle(queue.store)
    // What is there by intention is no message left behind.
    const { faults, note } = await ledger.check({ ...queue, left: async () => 0 })
    if (there !== due) faults.push(`there are ${there || 'none'} in place of ${due || 'none'}`)
    return outcome(ledger.handled / seconds, faults, due === '' ? note : `${note}; the ${due} are all there`)
  } finally {
    await queue.close()
  }
}

async function fill({ queues }: Store, third: number): Promise<void> {
  await queues.put(QUEUE, { onAck: 'archive', maxReceives: null })
  await send(queues, third, {})
  await take(queues, third, (handles) => queues.ackMany(QUEUE, handles))
  await send(queues, third, {})
  await take(queues, third, (handles) => queues.nackMany(QUEUE, handles, { dead: true, error: 'no such address' }))
  // Of a higher priority: were they in the way of a receive, they would be first.
  await send(queues, third, { delaySeconds: LATER_SECONDS, priority: 10 })
  await queues.put(QUEUE, { maxReceives: null })
}

function send(queues: Store['queues'], count: number, options: object): Promise<void> {
  const requests = Array.from({ length: count / REQUEST }, () => REQUEST)
  return inParallel(BULK_SENDERS, requests, async (size) => {
    await queues.sendMany(
      QUEUE,
      Array.from({ length: size }, () => ({ body: BODY, ...options })),
    )
  })
}

async function take(queues: Store['queues'], count: number, settle: (handles: string[]) => Promise<unknown>) {
  let taken = 0
  const loop = async () => {
    while (taken < count) {
      const messages = await queues.receive(QUEUE, { limit: BATCH, waitSeconds: 1, visibilityTimeoutSeconds: 600 })
      taken += messages.length
      if (messages.length > 0) await settle(messages.map(({ receiptHandle }) => receiptHandle))
    }
  }
  await Promise.all(Array.from({ length: RECEIVERS }, loop))
}

/** All messages that are there, by state. */
async function idle({ queues }: Store): Promise<string> {
  const countOf = async (state: (typeof STATES)[number]) => {
    let count = 0
    let after: string | undefined
    do {
      const page = await queues.peek(QUEUE, { state, limit: 1000, after, bodies: 'text' })
      count += page.messages.length
      after = page.nextAfter ?? undefined
    } while (after !== undefined)
    return count === 0 ? [] : [`${count} ${state}`]
  }
  return (await Promise.all(STATES.map(countOf))).flat().join(', ')
}

export const queueDrainFull: QueueWorkload = {
  of: 'queues',
  name: 'queue-drain-full',
  title: 'the drain with 1 million archived, dead and delayed messages in the tables',
  unit: 'messages/s',
  fixed: true,
  contenders: ['recentn', 'empty'],
  quick: ['recentn'],
  run,
}

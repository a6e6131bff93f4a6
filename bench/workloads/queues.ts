/** Workloads of queues: sends, one by one and in bulks, and drains. Every message sent is handled in the end. */
import { performance } from 'node:perf_hooks'
import { inParallel, perSecond } from '../load/callers'
import { Ledger } from '../queue-load/ledger'
import { BATCH, BULK_SENDERS, CONCURRENCY, SENDERS } from '../queue-load/sizes'
import type { Job, Outcome, QueueContender, WorkQueue } from '../types'
import { outcome, type QueueWorkload } from './workload'

const PEERS = ['recentn', 'bullmq', 'bullmq-always', 'pg-boss', 'graphile-worker']

/** Messages of a drain; a fifth of them more is the warm-up of sends in bulks. */
export function drainSize(job: Job): number {
  return job.quick ? 2000 : 100_000
}

/** From the start of a worker until everything is handled and settled. */
export async function drain(queue: WorkQueue, ledger: Ledger): Promise<{ seconds: number }> {
  const start = performance.now()
  const work = await queue.work(ledger.handle, ledger.fault)
  await ledger.all()
  await work.stop()
  return { seconds: (performance.now() - start) / 1000 }
}

export async function preload(queue: WorkQueue, ledger: Ledger, count: number): Promise<void> {
  const bulks = Array.from({ length: Math.ceil(count / BATCH) }, (_, at) => Math.min(BATCH, count - at * BATCH))
  await inParallel(BULK_SENDERS, bulks, async (size) => {
    await queue.sendMany(ledger.bulk(size))
  })
}

async function sendsBulks(job: Job, contender: QueueContender): Promise<Outcome> {
  const queue = await contender.open(job.urls)
  try {
    const ledger = new Ledger()
    const count = drainSize(job)
    await preload(queue, ledger, count / 5)
    const start = performance.now()
    await preload(queue, ledger, count)
    const seconds = (performance.now() - start) / 1000
    await queue.rested?.()
    await drain(queue, ledger)
    const { faults, note } = await ledger.check(queue)
    return outcome(count / seconds, faults, note)
  } finally {
    await queue.close()
  }
}

async function sends(job: Job, contender: QueueContender): Promise<Outcome> {
  const queue = await contender.open(job.urls)
  try {
    const ledger = new Ledger()
    let sent = 0
    const send = async () => {
      await queue.send(ledger.next())
      sent++
    }
    const rate = await perSecond(SENDERS, job, send, () => sent)
    await queue.rested?.()
    await drain(queue, ledger)
    const { faults, note } = await ledger.check(queue)
    return outcome(rate, faults, note)
  } finally {
    await queue.close()
  }
}

async function drained(job: Job, contender: QueueContender): Promise<Outcome> {
  const queue = await contender.open(job.urls)
  try {
    const ledger = new Ledger()
    await preload(queue, ledger, drainSize(job))
    await queue.rested?.()
    const { seconds } = await drain(queue, ledger)
    const { faults, note } = await ledger.check(queue)
    return outcome(ledger.handled / seconds, faults, note)
  } finally {
    await queue.close()
  }
}

export const queueSendBulk: QueueWorkload = {
  of: 'queues',
  name: 'queue-send-bulk',
  title: `100,000 messages sent in bulks of ${BATCH}, ${BULK_SENDERS} callers`,
  unit: 'messages/s',
  fixed: true,
  contenders: [...PEERS, 'limit'],
  quick: ['recentn', 'bullmq', 'limit'],
  run: sendsBulks,
}

export const queueSend: QueueWorkload = {
  of: 'queues',
  name: 'queue-send',
  network: true,
  title: `sends one by one, ${SENDERS} callers`,
  unit: 'messages/s',
  contenders: PEERS,
  quick: ['recentn', 'bullmq'],
  run: sends,
}

export const queueDrain: QueueWorkload = {
  of: 'queues',
  name: 'queue-drain',
  title: `100,000 messages through a handler that does nothing, one process, concurrency ${CONCURRENCY}`,
  unit: 'messages/s',
  fixed: true,
  contenders: PEERS,
  quick: ['recentn', 'bullmq'],
  run: drained,
}

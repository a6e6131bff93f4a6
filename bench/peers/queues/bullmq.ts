/** BullMQ on Redis: `add`, `addBulk`, and a Worker; jobs are removed when they are done, as recentn's messages are. */
import { type JobsOptions, Queue, Worker } from 'bullmq'
import Redis from 'ioredis'
import { CONCURRENCY, QUEUE } from '../../queue-load/sizes'
import type { QueueContender, ServerName, Urls, WorkQueue } from '../../types'

const OPTIONS: JobsOptions = { removeOnComplete: true }
const JOB = 'mail'

async function open(server: ServerName, urls: Urls): Promise<WorkQueue> {
  const url = urls[server] as string
  const redis = new Redis(url)
  await redis.flushall()
  redis.disconnect()
  const connection = { url, maxRetriesPerRequest: null }
  const queue = new Queue(QUEUE, { connection })
  await queue.waitUntilReady()
  return {
    send: (letter) => queue.add(JOB, letter, OPTIONS),
    sendMany: (letters) => queue.addBulk(letters.map((data) => ({ name: JOB, data, opts: OPTIONS }))),
    work: async (handle, fault) => {
      const worker = new Worker(QUEUE, async (job) => handle(job.data), { connection, concurrency: CONCURRENCY })
      worker.on('error', ({ message }) => fault(message))
      worker.on('failed', (_, { message }) => fault(message))
      return { stop: () => worker.close() }
    },
    left: async () => {
      const counts = await queue.getJobCounts()
      return Object.values(counts).reduce((sum, count) => sum + count, 0)
    },
    close: () => queue.close(),
  }
}

const how = `Queue.add and addBulk, Worker with concurrency ${CONCURRENCY}, removeOnComplete`

export const bullmq: QueueContender = {
  name: 'bullmq',
  title: 'BullMQ on Redis, no persistence',
  server: 'redis',
  how,
  open: (urls) => open('redis', urls),
}

export const bullmqAlways: QueueContender = {
  name: 'bullmq-always',
  title: 'BullMQ, appendfsync always',
  server: 'redisAlways',
  how,
  open: (urls) => open('redisAlways', urls),
}

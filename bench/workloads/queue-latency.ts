/** How long a message takes from its send to the start of its handler, at a rate that nobody has to work hard for. */
import { performance } from 'node:perf_hooks'
import { atRate, percentile } from '../load/callers'
import { Ledger } from '../queue-load/ledger'
import type { Job, Outcome, QueueContender } from '../types'
import { outcome, type QueueWorkload } from './workload'

const PER_SECOND = 200

async function run(job: Job, contender: QueueContender): Promise<Outcome> {
  const queue = await contender.open(job.urls)
  try {
    const ledger = new Ledger()
    const begun: number[] = []
    const samples: number[] = []
    let first = Number.POSITIVE_INFINITY
    const work = await queue.work((body) => {
      const now = performance.now()
      const repeated = ledger.repeated
      const mark = ledger.handle(body)
      if (mark >= first && ledger.repeated === repeated) samples.push(now - (begun[mark] as number))
    }, ledger.fault)
    const send = () => {
      const letter = ledger.next()
      begun[letter.mark] = performance.now()
      return queue.send(letter)
    }
    await atRate(PER_SECOND, job.warmUpMs, send)
    first = ledger.sent
    await atRate(PER_SECOND, job.ms, send)
    await ledger.all()
    await work.stop()
    const { faults, note } = await ledger.check(queue)
    const sorted = Float64Array.from(samples).sort()
    const [p50, p99] = [percentile(sorted, 50), percentile(sorted, 99)]
    return outcome(p50, faults, note, { p50, p99 })
  } finally {
    await queue.close()
  }
}

export const queueLatency: QueueWorkload = {
  of: 'queues',
  name: 'queue-latency',
  network: true,
  title: `from a send to the start of its handler, ${PER_SECOND} messages/s: median`,
  unit: 'ms',
  lowerIsBetter: true,
  // pg-boss asks for work every half second at most: there is nothing to measure.
  contenders: ['recentn', 'rest', 'bullmq', 'bullmq-always', 'graphile-worker'],
  quick: ['recentn', 'rest', 'bullmq'],
  run,
}

/** How long a change takes from its commit to a consumer that waits for it in another process. */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { join, resolve } from 'node:path'
import type { Came } from '../feed-load/consumer'
import { entryOf, FEED } from '../feed-load/entries'
import { atRate, percentile } from '../load/callers'
import { openFeedStore } from '../peers/feeds/recentn'
import { databaseUrl } from '../peers/recentn'
import type { Job, Outcome, Participant } from '../types'
import { type FeedWorkload, outcome } from './workload'

const PER_SECOND = 30
/** What has not come after so long does not. */
const PATIENCE_MS = 5000
const LOADER = resolve(__dirname, '../../test/support/run-typescript.cjs')
const CONSUMER = join(__dirname, '../feed-load/consumer.ts')

function startConsumer(url: string): ChildProcess {
  const child = fork(CONSUMER, [url], {
    execArgv: ['--require', LOADER],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  process.once('exit', () => child.kill('SIGKILL'))
  return child
}

async function run(job: Job, { name }: Participant): Promise<Outcome> {
  const store = await openFeedStore(job.urls, { publish: name !== 'apart' })
  const consumer = startConsumer(databaseUrl(job.urls.engine))
  try {
    await once(consumer, 'message')
    const came = new Map<number, bigint>()
    let repeated = 0
    consumer.on('message', (list: Came[]) => {
      for (const { mark, at } of list) {
        if (came.has(mark)) repeated++
        came.set(mark, BigInt(at))
      }
    })
    const committed: bigint[] = []
    let begun = 0
    const put = async () => {
      const mark = begun++
      const { key, value } = entryOf(mark)
      await store.feeds.put(FEED, key, value)
      committed[mark] = process.hrtime.bigint()
    }
    await atRate(PER_SECOND, job.warmUpMs, put)
    const first = begun
    await atRate(PER_SECOND, job.ms, put)
    for (let waited = 0; came.size < begun && waited < PATIENCE_MS; waited += 10) {
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
    const exit = once(consumer, 'exit')
    consumer.send('end')
    await exit
    return told(committed, came, first, repeated)
  } finally {
    consumer.kill('SIGKILL')
    await store.close()
  }
}

function told(committed: readonly bigint[], came: Map<number, bigint>, first: number, repeated: number): Outcome {
  const missed = committed.filter((_, mark) => !came.has(mark)).length
  const faults = missed > 0 ? [`${missed} of ${committed.length} changes did not come`] : []
  if (came.has(-1)) faults.push('a change came that is not as it was written')
  if (repeated > 0) faults.push(`${repeated} changes came again`)
  const samples = committed.slice(first).map((at, index) => Number((came.get(first + index) ?? at) - at) / 1e6)
  const sorted = Float64Array.from(samples).sort()
  const [p50, p99] = [percentile(sorted, 50), percentile(sorted, 99)]
  return outcome(p50, faults, `${committed.length} changes, each came once`, { p50, p99 })
}

export const feedLatency: FeedWorkload = {
  of: 'feeds',
  name: 'feed-latency',
  network: true,
  title: `from a commit to a consumer that waits in another process, ${PER_SECOND} puts/s: median`,
  unit: 'ms',
  lowerIsBetter: true,
  contenders: ['recentn', 'apart'],
  quick: ['recentn', 'apart'],
  run,
}

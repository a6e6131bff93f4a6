/** How fast a backlog of unpublished entries is numbered. */
import { performance } from 'node:perf_hooks'
import { pages } from '../feed-load/entries'
import { Numbering } from '../feed-load/numbering'
import { openByHand } from '../peers/feeds/article'
import { openBacklog } from '../peers/feeds/recentn'
import { openLimit } from '../peers/limit/feeds'
import type { Job, Outcome, Participant } from '../types'
import { type FeedWorkload, outcome } from './workload'

const BACKLOG = 500_000
/** Of those by hand: a part of the same backlog, because all of it takes them minutes. */
const PARTS: Record<string, { size: number; most: number }> = {
  article: { size: 1, most: 10_000 },
  batched: { size: 500, most: 50_000 },
}

async function run(job: Job, { name }: Participant): Promise<Outcome> {
  const count = job.quick ? 3000 : BACKLOG
  const part = PARTS[name]
  const open = name === 'limit' ? openLimit : openBacklog
  const backlog = part ? await openByHand(job.urls, part.size) : await open(job.urls)
  try {
    await backlog.write(pages(0, count))
    const due = Math.min(count, part?.most ?? count)
    const start = performance.now()
    const published = await backlog.publish(due)
    const seconds = (performance.now() - start) / 1000
    const numbering = new Numbering(count)
    await backlog.check(numbering)
    const faults = numbering.faults(due)
    if (published !== due) faults.push(`${published} entries are said to be published, ${due} were`)
    const what = due === count ? `${due} entries` : `the first ${due} of ${count} entries`
    return outcome(due / seconds, faults, `${what} in ${seconds.toFixed(2)} s: 1, 2, 3 … without gap, each once`)
  } finally {
    await backlog.close()
  }
}

export const feedPublish: FeedWorkload = {
  of: 'feeds',
  name: 'feed-publish',
  title: 'publish a backlog of 500,000 entries, one process',
  unit: 'entries/s',
  fixed: true,
  contenders: ['recentn', 'article', 'batched', 'limit'],
  quick: ['recentn', 'article', 'batched', 'limit'],
  run,
}

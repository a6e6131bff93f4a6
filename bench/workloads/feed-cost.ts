/** What the feed of all groups costs the appends that go into it: the workloads of appends, with it and without. */
import { openWithFeed } from '../peers/recentn'
import type { Contender } from '../types'
import { evenly, hot } from './append'
import type { RingWorkload } from './workload'

function costOf({ title, run, ...workload }: RingWorkload, name: string): RingWorkload {
  return {
    ...workload,
    name,
    title: `${title}, into the feed of groups`,
    contenders: ['recentn', 'without'],
    quick: ['recentn', 'without'],
    run: (job, contender) => run(job, contender.name === 'recentn' ? fed(contender) : contender),
  }
}

function fed(contender: Contender): Contender {
  return { ...contender, open: openWithFeed }
}

export const hotFeed = costOf(hot, 'hot-feed')
export const evenFeed = costOf(evenly, 'even-feed')

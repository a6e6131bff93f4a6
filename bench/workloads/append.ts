/** Workloads of appends alone. */
import { groupNames, itemOf, scoreOf, viewerOf } from '../items'
import { CALLERS, latencies, percentile, perSecond } from '../load/callers'
import { AppendLog, checkRing, honestShare } from '../load/log'
import { even, type Pick, zipf } from '../random'
import type { Contender, Job, NewItem, Outcome, Purpose } from '../types'
import { fill, outcome, type RingWorkload } from './workload'

interface Appends {
  groups: number
  pick: Pick
  purpose?: Purpose
  item?: ((op: number) => NewItem) | undefined
}

async function appends(job: Job, contender: Contender, { groups, pick, purpose, item }: Appends): Promise<Outcome> {
  const make = item ?? itemOf
  const ring = await contender.open({ urls: job.urls, purpose: purpose ?? 'history', fresh: true })
  try {
    const log = new AppendLog(groupNames(groups))
    const append = async () => {
      const group = pick()
      const op = log.begin(group)
      log.end(op, await ring.append(log.names[group] as string, make(op)))
    }
    const rate = await perSecond(CALLERS, job, append, () => log.acknowledged)
    if (contender.unsound) {
      const { share, note } = await honestShare(ring, log)
      return { figure: rate * share, faults: [], note }
    }
    // An append that is not taken gets no number.
    const gapless = contender.gapless && purpose !== 'top'
    const { faults, note } = await checkRing(ring, log, { gapless, purpose })
    return outcome(rate, faults, note)
  } finally {
    await ring.close()
  }
}

const ALL = ['recentn', 'redis', 'redis-always', 'insert-and-trim', 'published-recipe', 'postgres']

export const hot: RingWorkload = {
  name: 'hot',
  network: true,
  title: `appends to one hot group, ${CALLERS} callers`,
  unit: 'appends/s',
  contenders: [...ALL, 'limit'],
  quick: [...ALL, 'limit'],
  run: (job, contender) => appends(job, contender, { groups: 1, pick: () => 0 }),
}

export const evenly: RingWorkload = {
  name: 'even',
  network: true,
  title: `appends to 1,000 groups evenly, ${CALLERS} callers`,
  unit: 'appends/s',
  contenders: [...ALL, 'limit'],
  quick: ['recentn', 'redis', 'limit'],
  run: (job, contender) => appends(job, contender, { groups: 1000, pick: even(1000) }),
}

export const skewed: RingWorkload = {
  name: 'zipf',
  title: `appends to 100,000 groups by Zipf's law (s = 1), ${CALLERS} callers`,
  unit: 'appends/s',
  contenders: ALL,
  run: (job, contender) => appends(job, contender, { groups: 100_000, pick: zipf(100_000) }),
}

/** Groups that have each member once. The others have no form of them that people would use. */
const ofMembers = (name: 'distinct' | 'top', what: string, item: Appends['item']): RingWorkload => ({
  name,
  title: `${what}, 1,000 groups, ${CALLERS} callers`,
  unit: 'appends/s',
  contenders: ['recentn', 'redis', 'redis-always'],
  run: (job, contender) => appends(job, contender, { groups: 1000, pick: even(1000), purpose: name, item }),
})

export const distinct = ofMembers('distinct', 'each member once: re-viewing members', (op) => ({
  member: viewerOf(op),
}))

export const top = ofMembers('top', 'the members with the highest scores', (op) => ({
  member: viewerOf(op),
  score: scoreOf(op),
}))

/** One caller after the other: what batching must not make slower. */
export const lone: RingWorkload = {
  name: 'lone',
  network: true,
  title: 'a lone caller appends, 1,000 groups: latency, median',
  unit: 'ms',
  lowerIsBetter: true,
  quick: ['recentn', 'unbatched'],
  contenders: ['recentn', 'unbatched', 'redis', 'redis-always', 'insert-and-trim', 'postgres', 'limit'],
  run: async (job, contender) => {
    const ring = await contender.open({ urls: job.urls, purpose: 'history', fresh: true })
    try {
      const pick = even(1000)
      // Groups that are there: making one is another thing, and happens once.
      const log = await fill(ring, 1000, 1)
      const sorted = await latencies(job, async () => {
        const group = pick()
        const op = log.begin(group)
        log.end(op, await ring.append(log.names[group] as string, itemOf(op)))
      })
      const { faults, note } = await checkRing(ring, log, contender)
      const [p50, p99] = [percentile(sorted, 50), percentile(sorted, 99)]
      return outcome(p50, faults, note, { p50, p99 })
    } finally {
      await ring.close()
    }
  },
}

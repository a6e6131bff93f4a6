/** Workloads that read: one group, fifty at once, and mostly reads. */
import { groupNames, itemOf, opOf, WINDOW } from '../items'
import { CALLERS, perSecond } from '../load/callers'
import { AppendLog, checkRing, isNewest } from '../load/log'
import { even } from '../random'
import type { Contender, Job, Outcome } from '../types'
import { fill, outcome, type RingWorkload } from './workload'

const GROUPS = 1000
const PEERS = ['recentn', 'redis', 'redis-always', 'insert-and-trim', 'postgres']

/** The items that `fill` left in a group, newest first. */
function filled(group: number): number[] {
  return Array.from({ length: WINDOW }, (_, index) => (group + 1) * WINDOW - 1 - index)
}

async function reads(job: Job, contender: Contender, atOnce: number): Promise<Outcome> {
  const ring = await contender.open({ urls: job.urls, purpose: 'history', fresh: true })
  try {
    const log = await fill(ring, GROUPS)
    const due = log.names.map((_, group) => filled(group))
    const pick = even(GROUPS)
    let count = 0
    let wrong = 0
    const one = async () => {
      const group = pick()
      if (!isNewest(await ring.recent(log.names[group] as string), due[group] as number[])) wrong++
      count++
    }
    const many = async () => {
      const groups = Array.from({ length: atOnce }, pick)
      const answers = await ring.recentMany(groups.map((group) => log.names[group] as string))
      // The first of each is enough to know the others: all were compared one by one before.
      if (!groups.every((group, at) => opOf(answers[at]?.[0] ?? NOTHING) === due[group]?.[0])) wrong++
      count++
    }
    const before = await checkRing(ring, log, { gapless: false })
    const rate = await perSecond(CALLERS, job, atOnce === 1 ? one : many, () => count)
    const faults = wrong > 0 ? [`${wrong} of ${count} reads gave something else than the last ${WINDOW}`] : []
    return outcome(rate, [...before.faults, ...faults], `${count} reads, each compared with the last ${WINDOW} due`)
  } finally {
    await ring.close()
  }
}

const NOTHING = { member: null, payload: null }

export const read: RingWorkload = {
  name: 'read',
  title: `read the last ${WINDOW} of one group, 1,000 warm groups, ${CALLERS} callers`,
  unit: 'reads/s',
  contenders: PEERS,
  run: (job, contender) => reads(job, contender, 1),
}

export const read50: RingWorkload = {
  name: 'read50',
  title: `read 50 groups in one request, 1,000 warm groups, ${CALLERS} callers`,
  unit: 'requests/s',
  contenders: PEERS,
  run: (job, contender) => reads(job, contender, 50),
}

/** 95 of 100 calls read. A read may not show less than was acknowledged before it began. */
export const mixed: RingWorkload = {
  name: 'mixed',
  title: `95 % reads, 5 % appends, 1,000 groups, ${CALLERS} callers`,
  unit: 'calls/s',
  contenders: PEERS,
  run: async (job, contender) => {
    const ring = await contender.open({ urls: job.urls, purpose: 'history', fresh: true })
    try {
      const log = new AppendLog(groupNames(GROUPS))
      const acknowledged = new Int32Array(GROUPS)
      const pick = even(GROUPS)
      const dice = even(100, 2)
      let count = 0
      let stale = 0
      const rate = await perSecond(
        CALLERS,
        job,
        async () => {
          const group = pick()
          const name = log.names[group] as string
          if (dice() < 5) {
            const op = log.begin(group)
            log.end(op, await ring.append(name, itemOf(op)))
            acknowledged[group] = (acknowledged[group] as number) + 1
          } else {
            const least = Math.min(WINDOW, acknowledged[group] as number)
            const items = await ring.recent(name)
            if (items.length < least || !items.every((item) => opOf(item) >= 0)) stale++
          }
          count++
        },
        () => count,
      )
      const { faults, note } = await checkRing(ring, log, contender)
      if (stale > 0) faults.push(`${stale} reads showed less than was acknowledged before they began`)
      return outcome(rate, faults, `${count} calls, of which ${note}`)
    } finally {
      await ring.close()
    }
  },
}

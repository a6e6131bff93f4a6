/** The erasure of one member who is in many groups, each of which holds nine items of others as well. */
import { performance } from 'node:perf_hooks'
import { groupNames, itemOf, opOf, WINDOW } from '../items'
import { inParallel } from '../load/callers'
import type { Contender, Job, NewItem, Outcome, Ring } from '../types'
import { outcome, type RingWorkload } from './workload'

const MEMBER = 'the-one-who-goes'
/** Which of a group's items is the member's. */
const PLACE = 4

async function eraseOne(job: Job, contender: Contender): Promise<Outcome> {
  const groups = job.quick ? 1000 : 10_000
  const names = groupNames(groups)
  const ring = await contender.open({ urls: job.urls, purpose: 'erase', fresh: true })
  try {
    await fillWith(ring, names)
    const start = performance.now()
    const erased = await ring.erase?.(MEMBER)
    const seconds = (performance.now() - start) / 1000
    const faults = erased === groups ? [] : [`${erased} items were erased, ${groups} were there`]
    faults.push(...(await faultsIn(ring, names)))
    return outcome(
      groups / seconds,
      faults,
      `${erased} items of ${groups} groups in ${seconds.toFixed(2)} s; the others are all there`,
    )
  } finally {
    await ring.close()
  }
}

async function fillWith(ring: Ring, names: readonly string[]): Promise<void> {
  const chunks: (NewItem & { group: string })[][] = []
  names.forEach((group, index) => {
    if (index % 50 === 0) chunks.push([])
    for (let place = 0; place < WINDOW; place++) {
      const item = itemOf(index * WINDOW + place)
      chunks.at(-1)?.push({ group, ...item, ...(place === PLACE ? { member: MEMBER } : {}) })
    }
  })
  await inParallel(4, chunks, async (chunk) => ring.appendMany?.(chunk))
}

async function faultsIn(ring: Ring, names: readonly string[]): Promise<string[]> {
  const faults: string[] = []
  for (let at = 0; at < names.length; at += 100) {
    const answers = await ring.recentMany(names.slice(at, at + 100))
    answers.forEach((items, index) => {
      const group = at + index
      const due = Array.from({ length: WINDOW }, (_, place) => group * WINDOW + place).filter(
        (op) => op % WINDOW !== PLACE,
      )
      const was = items.map(opOf).reverse()
      if (was.join(' ') !== due.join(' ')) faults.push(`${names[group]}: has ${was.join(' ')}, due is ${due.join(' ')}`)
    })
  }
  return faults
}

export const erase: RingWorkload = {
  name: 'erase',
  title: 'erase a member found in 10,000 groups',
  unit: 'items/s',
  fixed: true,
  contenders: ['recentn', 'redis', 'redis-always', 'insert-and-trim', 'postgres'],
  run: eraseOne,
}

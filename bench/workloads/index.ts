/** All workloads, in the order of the report, and who takes part in them. */
import { contenderNamed, contendersOn } from '../peers'
import { feedContenderNamed, feedContendersOn } from '../peers/feeds'
import { QUEUE_CONTENDERS, queueContenderNamed } from '../peers/queues'
import type { EngineName, Job, Outcome, Participant } from '../types'
import { distinct, evenly, hot, lone, skewed, top } from './append'
import { erase } from './erase'
import { feedGrowth } from './feed-growth'
import { feedLatency } from './feed-latency'
import { feedPublish } from './feed-publish'
import { feedRead } from './feed-read'
import { httpBulk, httpGet, httpPost } from './http'
import { queueDrainFull } from './queue-full'
import { queueLatency } from './queue-latency'
import { queueDrain, queueSend, queueSendBulk } from './queues'
import { mixed, read, read50 } from './read'
import type { Workload } from './workload'

export const WORKLOADS: readonly Workload[] = [
  hot,
  evenly,
  skewed,
  distinct,
  top,
  read,
  read50,
  mixed,
  erase,
  lone,
  httpPost,
  httpGet,
  httpBulk,
  queueSendBulk,
  queueSend,
  queueDrain,
  queueDrainFull,
  queueLatency,
  feedPublish,
  feedRead,
  feedLatency,
  feedGrowth,
]

export function workloadNamed(name: string): Workload {
  const found = WORKLOADS.find((workload) => workload.name === name)
  if (found === undefined)
    throw new Error(`no workload is named ${name}: ${WORKLOADS.map((each) => each.name).join(', ')}`)
  return found
}

/** In the order of the report. */
export function participantsIn({ of, contenders }: Workload, engine: EngineName): Participant[] {
  const all = {
    queues: () => QUEUE_CONTENDERS,
    feeds: () => feedContendersOn(engine),
    rings: () => contendersOn(engine),
  }
  const some: readonly Participant[] = all[of ?? 'rings']()
  return some.filter(({ name }) => contenders.includes(name))
}

/** Runs it here, in this process. */
export function runHere(job: Job): Promise<Outcome> {
  const workload = workloadNamed(job.workload)
  if (workload.of === 'queues') return workload.run(job, queueContenderNamed(job.contender))
  if (workload.of === 'feeds') return workload.run(job, feedContenderNamed(job.contender))
  return workload.run(job, contenderNamed(job.engine, job.contender))
}

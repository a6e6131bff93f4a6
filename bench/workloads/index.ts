/** All workloads, in the order of the report, and who takes part in them. */
import { contenderNamed, contendersOn } from '../peers'
import { QUEUE_CONTENDERS, queueContenderNamed } from '../peers/queues'
import type { EngineName, Job, Outcome, Participant } from '../types'
import { distinct, evenly, hot, lone, skewed } from './append'
import { erase } from './erase'
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
]

export function workloadNamed(name: string): Workload {
  const found = WORKLOADS.find((workload) => workload.name === name)
  if (found === undefined)
    throw new Error(`no workload is named ${name}: ${WORKLOADS.map((each) => each.name).join(', ')}`)
  return found
}

/** In the order of the report. */
export function participantsIn({ of, contenders }: Workload, engine: EngineName): Participant[] {
  const all: readonly Participant[] = of === 'queues' ? QUEUE_CONTENDERS : contendersOn(engine)
  return all.filter(({ name }) => contenders.includes(name))
}

/** Runs it here, in this process. */
export function runHere(job: Job): Promise<Outcome> {
  const workload = workloadNamed(job.workload)
  if (workload.of === 'queues') return workload.run(job, queueContenderNamed(job.contender))
  return workload.run(job, contenderNamed(job.engine, job.contender))
}

/** All workloads, in the order of the report. */
import { distinct, evenly, hot, lone, skewed } from './append'
import { erase } from './erase'
import { httpBulk, httpGet, httpPost } from './http'
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
]

export function workloadNamed(name: string): Workload {
  const found = WORKLOADS.find((workload) => workload.name === name)
  if (found === undefined)
    throw new Error(`no workload is named ${name}: ${WORKLOADS.map((each) => each.name).join(', ')}`)
  return found
}

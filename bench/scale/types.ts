/** What `--scale` finds out. */
import type { Machine } from '../report/machine'
import type { IndexCost } from './indexes'
import type { Latencies } from './latency'

export interface ScaleLine extends Latencies {
  capacity: number
  items: number
  groups: number
  dataMegabytes: number
  indexMegabytes: number
  loadSeconds: number
}

export interface ScaleResults {
  date: string
  command: string
  machine: Machine
  version: string
  durability: string
  perSecond: number
  seconds: number
  lines: ScaleLine[]
  indexes: IndexCost[]
  /** The table that the indexes were measured on. */
  indexItems: number
}

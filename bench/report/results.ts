/** The figures of an engine, kept as JSON: a run replaces the workloads that it measured and leaves the others. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { NetworkFacts } from '../network'
import type { Grade } from '../targets'
import { gradeOf, targetOf } from '../targets'
import type { EngineName } from '../types'
import type { Machine } from './machine'

export const FOLDER = resolve(__dirname, '../results')

export interface Line {
  contender: string
  title: string
  version: string
  how: string
  durability: string
  /** There is no network before it, although the others have one: SQLite runs in the process. */
  isDirect?: boolean
  /** Of each round; empty where a check failed or the peer was not there. */
  figures: number[]
  /** Null: no figure. */
  median: number | null
  /** Medians, in milliseconds. */
  p50?: number
  p99?: number
  /** What was checked, of the last round, or what was wrong. */
  note: string
}

export interface Measured {
  workload: string
  title: string
  unit: string
  lowerIsBetter: boolean
  date: string
  command: string
  /** Of each round; null where a fixed piece of work is timed. */
  seconds: number | null
  rounds: number
  machine: Machine
  /** Between every contender and its server; undefined for the loopback as it is. */
  network?: NetworkFacts
  lines: Line[]
}

export interface Results {
  engine: EngineName
  measured: Measured[]
}

export interface Ratio {
  workload: string
  title: string
  peer: string
  peerTitle: string
  ratio: number
}

export interface GradedRatio extends Ratio {
  floor?: number
  goal?: number
  grade?: Grade
}

/** recentn's figure by each peer's; where one of the two has none, there is no ratio. */
export function ratiosOf({ workload, title, lines }: Measured): Ratio[] {
  const ours = lines.find((line) => line.contender === 'recentn')?.median
  if (ours === null || ours === undefined) return []
  return lines.flatMap((line) => {
    if (line.contender === 'recentn' || line.median === null || line.median === 0) return []
    return [{ workload, title, peer: line.contender, peerTitle: line.title, ratio: ours / line.median }]
  })
}

/** The same, with their floors and goals: those of the loopback. */
export function gradedRatios(engine: EngineName, measured: Measured): GradedRatio[] {
  return ratiosOf(measured).map((ratio) => {
    const target = measured.network ? undefined : targetOf(engine, ratio.workload, ratio.peer)
    return target ? { ...ratio, floor: target.floor, goal: target.goal, grade: gradeOf(target, ratio.ratio) } : ratio
  })
}

/** Figures over a network are kept by themselves. */
export function pathOf(engine: EngineName, extension: 'json' | 'svg', overNetwork = false): string {
  return join(FOLDER, `${engine}${overNetwork ? '-network' : ''}.${extension}`)
}

export function readResults(engine: EngineName, overNetwork = false): Results {
  const path = pathOf(engine, 'json', overNetwork)
  if (!existsSync(path)) return { engine, measured: [] }
  return JSON.parse(readFileSync(path, 'utf8')) as Results
}

export function merged(old: Results, fresh: readonly Measured[], order: readonly string[]): Results {
  const kept = old.measured.filter(({ workload }) => !fresh.some((each) => each.workload === workload))
  const measured = [...kept, ...fresh]
  measured.sort((a, b) => order.indexOf(a.workload) - order.indexOf(b.workload))
  return { engine: old.engine, measured }
}

export function writeResults(results: Results, overNetwork: boolean): void {
  mkdirSync(FOLDER, { recursive: true })
  writeFileSync(pathOf(results.engine, 'json', overNetwork), `${JSON.stringify(results, null, 2)}\n`)
}

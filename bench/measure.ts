/** Round after round, every contender of a workload in turn: what the machine does meanwhile hits all of them. */
import type { Network } from './network'
import type { Options } from './options'
import { describeMachine, type Machine } from './report/machine'
import type { Line, Measured } from './report/results'
import { digits } from './report/table'
import { median, runJob } from './run'
import type { Servers } from './servers'
import type { Job, Outcome, Participant } from './types'
import { participantsIn } from './workloads'
import type { Workload } from './workloads/workload'

/** Between two runs: what a server still writes from the last one is not the next one's fault. */
const PAUSE_MS = 500

/** Where the contenders find their servers. */
interface Ground {
  servers: Servers
  network: Network | null
  machine: Machine
}

export async function measure(options: Options, servers: Servers, network: Network | null): Promise<Measured[]> {
  const ground = { servers, network, machine: describeMachine() }
  const measured: Measured[] = []
  const leftOut: string[] = []
  for (const workload of options.workloads) {
    if (network !== null && !workload.network) leftOut.push(workload.name)
    else measured.push(await measureOne(workload, options, ground))
  }
  if (leftOut.length > 0) process.stderr.write(`without a network only, and left out: ${leftOut.join(', ')}\n`)
  return measured
}

async function measureOne(workload: Workload, options: Options, ground: Ground): Promise<Measured> {
  const few = options.quick && options.peers === 'default'
  const names = few ? (workload.quick ?? ['recentn', 'redis']) : workload.contenders
  const contenders = participantsIn(workload, options.engine).filter(({ name, server }) => {
    if (options.contenders !== null) return options.contenders.includes(name)
    return names.includes(name) && (server !== 'postgres' || options.peers === 'all')
  })
  const outcomes = new Map<Participant, Outcome[]>(contenders.map((contender) => [contender, []]))
  for (let round = 1; round <= options.rounds; round++) {
    const inTurn = async (some: readonly Participant[]) => {
      for (const contender of some) {
        const outcome = await runOne(workload, contender, options, ground)
        outcomes.get(contender)?.push(outcome)
        const figure = outcome.figure === null ? outcome.note : `${digits(outcome.figure)} ${workload.unit}`
        process.stderr.write(`${workload.name} ${round}/${options.rounds} ${contender.name}: ${figure}\n`)
      }
    }
    await Promise.all(lanes(contenders, options.quick).map(inTurn))
  }
  const { name, title, unit, lowerIsBetter = false } = workload
  const { rounds, command } = options
  const seconds = workload.fixed ? null : options.seconds
  const lines = [...outcomes].map(([contender, list]) => lineOf(contender, list, ground))
  const date = new Date().toISOString()
  const { machine, network } = ground
  const measured = { workload: name, title, unit, lowerIsBetter, date, command, seconds, rounds, machine, lines }
  return network === null ? measured : { ...measured, network: network.facts }
}

/** Figures want the machine for themselves; where only the checks count, no more than a server. */
function lanes(contenders: readonly Participant[], quick: boolean): Participant[][] {
  const byServer = new Map<string, Participant[]>()
  for (const contender of contenders) {
    const lane = quick ? contender.server : 'all'
    byServer.set(lane, [...(byServer.get(lane) ?? []), contender])
  }
  return [...byServer.values()]
}

async function runOne(
  workload: Workload,
  contender: Participant,
  options: Options,
  { servers, network }: Ground,
): Promise<Outcome> {
  const reason = servers.missing.get(contender.server) ?? (workload.http ? servers.missing.get('wrk') : undefined)
  if (reason !== undefined) return { figure: null, faults: [], note: `NOT MEASURED: ${reason}` }
  const ms = options.seconds * 1000
  const job: Job = {
    workload: workload.name,
    contender: contender.name,
    engine: options.engine,
    urls: (network ?? servers).urls,
    ms,
    warmUpMs: Math.min(1000, ms / 2),
    quick: options.quick,
  }
  if (servers.wrk) job.wrk = { path: servers.wrk.path, libraryPath: servers.wrk.env.LD_LIBRARY_PATH }
  if (!options.quick) await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
  return runJob(job)
}

/** One failed round is enough: then there is no figure. */
function lineOf(contender: Participant, outcomes: readonly Outcome[], { servers, network }: Ground): Line {
  const { name, title, how, server } = contender
  const { version = 'not here', durability = '' } = servers.facts[server] ?? {}
  const isDirect = network !== null && !network.servers.has(server) && servers.facts[server] !== undefined
  const common = { contender: name, title, version, how, durability, ...(isDirect ? { isDirect } : {}) }
  const figures = outcomes.flatMap(({ figure }) => (figure === null ? [] : [figure]))
  const bad = outcomes.find(({ figure }) => figure === null)
  if (bad !== undefined) return { ...common, figures: [], median: null, note: bad.note }
  const line: Line = { ...common, figures, median: median(figures), note: outcomes.at(-1)?.note ?? '' }
  const of = (key: 'p50' | 'p99') => outcomes.flatMap((outcome) => outcome[key] ?? [])
  if (of('p50').length > 0) Object.assign(line, { p50: median(of('p50')), p99: median(of('p99')) })
  return line
}

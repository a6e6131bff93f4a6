/** `npm run bench`: starts the servers, runs every contender of every workload in turn, reports, stops everything. */
import { writeFileSync } from 'node:fs'
import { measure } from './measure'
import { type Network, type NetworkFacts, startNetwork } from './network'
import { type Options, readOptions } from './options'
import { chartOf } from './report/chart'
import { writeDocs } from './report/docs'
import { fasterTable } from './report/faster'
import { type Measured, merged, pathOf, readResults, writeResults } from './report/results'
import { digits, reportOf } from './report/table'
import { BUFFER_POOL, runScale } from './scale'
import { type Servers, startServers } from './servers'
import { WORKLOADS } from './workloads'

async function main(): Promise<number> {
  const options = readOptions(process.argv.slice(2))
  if (options.docs) {
    writeDocs()
    return 0
  }
  const { engine, workloads, scale } = options
  const servers = await startServers({
    engine,
    postgres: !scale && options.peers === 'all',
    redis: !scale,
    wrk: !scale && workloads.some((workload) => workload.http),
    settings: [...(scale ? [`--innodb-buffer-pool-size=${BUFFER_POOL}`] : []), ...options.settings],
  })
  stopOnSignal(servers)
  try {
    if (scale) return (await runScale(options, servers)) ? 0 : 1
    let isRight = true
    for (const part of partsOf(options)) {
      const measured = await measureAndReport(part, servers)
      if (measured.some(({ lines }) => lines.some(({ note }) => note.startsWith('FAILED')))) isRight = false
    }
    return isRight ? 0 : 1
  } finally {
    await servers.stop()
  }
}

/** A smoke run tries a network as well, on one workload. */
function partsOf(options: Options): Options[] {
  const few = options.workloads.filter(({ name }) => name === 'lone')
  if (!options.quick || options.network !== null || few.length === 0) return [options]
  return [options, { ...options, network: 1, workloads: few }]
}

async function measureAndReport(options: Options, servers: Servers): Promise<Measured[]> {
  const { engine, quick, settings, contenders } = options
  const network = options.network === null ? null : await startNetwork(options.network, servers.urls)
  try {
    if (network) announce(network.facts)
    const measured = await measure(options, servers, network)
    process.stdout.write(`${reportOf({ engine, measured })}\n`)
    const faster = fasterTable([{ title: engine, results: { engine, measured } }])
    process.stdout.write(`### Where others are faster\n\n${faster}\n\n`)
    if (!quick && settings.length === 0 && contenders === null) keep(options, measured, network)
    return measured
  } finally {
    await network?.stop()
  }
}

function announce({ ms, roundTripMs, overheadMs }: NetworkFacts): void {
  process.stderr.write(
    `network: ${digits(ms)} ms each way; an echo takes ${digits(roundTripMs)} ms there and back, of which the proxy ` +
      `itself ${digits(overheadMs)}\n`,
  )
}

function keep({ engine }: Options, measured: readonly Measured[], network: Network | null): void {
  const overNetwork = network !== null
  const results = merged(
    readResults(engine, overNetwork),
    measured,
    WORKLOADS.map(({ name }) => name),
  )
  writeResults(results, overNetwork)
  writeFileSync(pathOf(engine, 'svg', overNetwork), chartOf(results))
}

function stopOnSignal(servers: Servers): void {
  for (const [signal, code] of [
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const) {
    process.once(signal, () => void servers.stop().finally(() => process.exit(code)))
  }
}

main().then(
  (code) => process.exit(code),
  (error: unknown) => {
    process.stderr.write(`recentn bench: ${error instanceof Error ? error.stack : error}\n`)
    process.exit(1)
  },
)

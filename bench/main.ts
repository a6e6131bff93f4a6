/** `npm run bench`: starts the servers, runs every contender of every workload in turn, reports, stops everything. */
import { writeFileSync } from 'node:fs'
import { measure } from './measure'
import { readOptions } from './options'
import { chartOf } from './report/chart'
import { writeDocs } from './report/docs'
import { merged, pathOf, readResults, writeResults } from './report/results'
import { reportOf } from './report/table'
import { BUFFER_POOL, runScale } from './scale'
import { type Servers, startServers } from './servers'
import { WORKLOADS } from './workloads'

async function main(): Promise<number> {
  const options = readOptions(process.argv.slice(2))
  if (options.docs) {
    writeDocs()
    return 0
  }
  const { engine, quick, workloads, scale } = options
  const servers = await startServers({
    engine,
    postgres: !scale && options.peers === 'all',
    redis: !scale,
    wrk: !scale && workloads.some((workload) => workload.http),
    settings: scale ? [`--innodb-buffer-pool-size=${BUFFER_POOL}`] : [],
  })
  stopOnSignal(servers)
  try {
    if (scale) return (await runScale(options, servers)) ? 0 : 1
    const measured = await measure(options, servers)
    process.stdout.write(`${reportOf({ engine, measured })}\n`)
    if (!quick) {
      const results = merged(
        readResults(engine),
        measured,
        WORKLOADS.map(({ name }) => name),
      )
      writeResults(results)
      writeFileSync(pathOf(engine, 'svg'), chartOf(results))
    }
    return measured.some(({ lines }) => lines.some(({ note }) => note.startsWith('FAILED'))) ? 1 : 0
  } finally {
    await servers.stop()
  }
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

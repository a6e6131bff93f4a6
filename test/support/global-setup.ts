/** Starts one server of each engine that is to be tested, at the same time, and tells the workers where they are. */
import { mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { chosenServers, requiredEngines } from './chosen-engines'
import { reasonVariable, urlVariable, versionVariable } from './engines'
import globalTeardown from './global-teardown'
import { type Found, findServer, type Missing } from './servers/find-server'
import { whenKilled } from './servers/guard'
import { memoryFolder } from './servers/memory'
import { messageOf, SERVER_ENGINES, type Server, type ServerEngine } from './servers/server'

declare global {
  var recentnTestServers: Server[] | undefined
  /** Where the tests' files are, if that is in memory. */
  var recentnTestFiles: { remove(): void } | undefined
}

export default async function globalSetup(): Promise<void> {
  const required = requiredEngines()
  const { first, otherwise } = chosenServers()
  keepFilesInMemory()
  const settled: (Found | Missing)[] = []
  const faults: string[] = []
  const start = async (engines: ServerEngine[]) => {
    if (engines.length > 0) say(`test servers: starting ${engines.join(' and ')} …`)
    for (const outcome of await Promise.allSettled(engines.map(findServer))) {
      if (outcome.status === 'fulfilled') settled.push(outcome.value)
      else faults.push(messageOf(outcome.reason))
    }
  }
  await start(first)
  if (!settled.some(isFound)) await start(otherwise)
  globalThis.recentnTestServers = settled.filter(isFound).map(({ server }) => server)
  for (const engine of SERVER_ENGINES)
    announce(
      engine,
      settled.find((outcome) => outcome.engine === engine),
    )

  const missing = settled.filter((outcome) => !isFound(outcome)).map((outcome) => outcome.engine)
  const unmet = missing.filter((engine) => required.includes(engine))
  if (unmet.length > 0) faults.push(`REQUIRE_ENGINES names ${unmet.join(' and ')}, for which there is no server`)
  if (faults.length === 0) return
  // Jest runs no teardown after a setup that failed.
  await globalTeardown()
  throw new Error([...new Set(faults)].join('; '))
}

function isFound(outcome: Found | Missing): outcome is Found {
  return 'server' in outcome
}

/** The tests' own files, SQLite's databases above all; whoever has set TMPDIR has chosen another place. */
function keepFilesInMemory(): void {
  const memory = process.env.TMPDIR ? null : memoryFolder()
  if (memory === null) return
  const folder = mkdtempSync(join(memory, 'recentn-'))
  const release = whenKilled('rm -rf "$1"', [folder])
  process.env.TMPDIR = folder
  globalThis.recentnTestFiles = {
    remove: () => {
      release()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** Tells the workers, and whoever reads along; `outcome` is undefined for an engine that this run leaves out. */
function announce(engine: ServerEngine, outcome: Found | Missing | undefined): void {
  if (outcome !== undefined && isFound(outcome)) {
    process.env[urlVariable(engine)] = outcome.server.url
    process.env[versionVariable(engine)] = outcome.version
    delete process.env[reasonVariable(engine)]
    say(`${engine}: ${outcome.version}, from ${outcome.server.origin}, up in ${outcome.seconds.toFixed(1)} s`)
    return
  }
  const reasons = outcome?.reasons ?? ['left out of this run: RECENTN_TEST_ENGINES=all tests it too']
  delete process.env[urlVariable(engine)]
  delete process.env[versionVariable(engine)]
  process.env[reasonVariable(engine)] = reasons.join('; ')
  say(
    `${engine}: NOT TESTED${outcome ? ', no server was found' : ''}:\n${reasons.map((reason) => `  - ${reason}\n`).join('')}`,
  )
}

function say(line: string): void {
  process.stderr.write(`${line.trimEnd()}\n`)
}

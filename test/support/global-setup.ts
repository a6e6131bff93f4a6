/** Starts one server of each engine for the whole run, at the same time, and tells the workers where they are. */
import { ENGINES, reasonVariable, urlVariable, versionVariable } from './engines'
import { type Found, findServer, type Missing } from './servers/find-server'
import { messageOf, SERVER_ENGINES, type Server } from './servers/server'

declare global {
  var recentnTestServers: Server[] | undefined
}

export default async function globalSetup(): Promise<void> {
  const required = requiredEngines()
  say('test servers: starting MariaDB and MySQL …')
  const outcomes = await Promise.allSettled(SERVER_ENGINES.map(findServer))
  const settled = outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []))
  globalThis.recentnTestServers = settled.flatMap((outcome) => ('server' in outcome ? [outcome.server] : []))
  for (const outcome of settled) announce(outcome)

  const faults = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [messageOf(outcome.reason)] : []))
  const missing = settled.filter((outcome) => 'reasons' in outcome).map((outcome) => outcome.engine)
  const unmet = missing.filter((engine) => required.includes(engine))
  if (unmet.length > 0) faults.push(`REQUIRE_ENGINES names ${unmet.join(' and ')}, for which there is no server`)
  if (faults.length === 0) return
  // Jest runs no teardown after a setup that failed.
  await Promise.all(globalThis.recentnTestServers.map((server) => server.stop()))
  throw new Error([...new Set(faults)].join('; '))
}

function announce(outcome: Found | Missing): void {
  const { engine } = outcome
  if ('server' in outcome) {
    process.env[urlVariable(engine)] = outcome.server.url
    process.env[versionVariable(engine)] = outcome.version
    delete process.env[reasonVariable(engine)]
    say(`${engine}: ${outcome.version}, from ${outcome.server.origin}, up in ${outcome.seconds.toFixed(1)} s`)
  } else {
    delete process.env[urlVariable(engine)]
    delete process.env[versionVariable(engine)]
    process.env[reasonVariable(engine)] = outcome.reasons.join('; ')
    say(`${engine}: NOT TESTED, no server was found:\n${outcome.reasons.map((reason) => `  - ${reason}\n`).join('')}`)
  }
}

/** The engines without which the run fails, from `REQUIRE_ENGINES`: names with commas between. */
function requiredEngines(): string[] {
  const names = (process.env.REQUIRE_ENGINES ?? '').split(',').map((name) => name.trim())
  const required = names.filter((name) => name !== '')
  const wrong = required.filter((name) => !ENGINES.some((engine) => engine === name))
  if (wrong.length > 0) throw new Error(`REQUIRE_ENGINES: ${wrong.join(', ')}? It takes ${ENGINES.join(', ')}`)
  return required
}

function say(line: string): void {
  process.stderr.write(`${line.trimEnd()}\n`)
}

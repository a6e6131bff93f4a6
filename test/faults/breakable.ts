/** A server of the faults' own, which they may kill and freeze: from the first of the sources that has one. */
import { breakableContainer } from '../support/servers/docker'
import { allowedSources } from '../support/servers/find-server'
import { packagesServer } from '../support/servers/packages'
import { programServer } from '../support/servers/program'
import { type BreakableServer, messageOf, type ServerEngine } from '../support/servers/server'

const SOURCES = { docker: breakableContainer, program: programServer, packages: packagesServer }

/** Throws the reasons of all sources. */
export async function breakableServer(engine: ServerEngine, settings: string[] = []): Promise<BreakableServer> {
  const reasons: string[] = []
  for (const name of allowedSources()) {
    try {
      return await SOURCES[name](engine, settings, { memory: true })
    } catch (error) {
      reasons.push(messageOf(error))
    }
  }
  throw new Error(reasons.join('; '))
}

/** Where the tests get a server from: the first of the sources that has one. */
import { dockerServer } from './docker'
import { packagesServer } from './packages'
import { programServer } from './program'
import { awaitVersion, engineOf, messageOf, type Server, type ServerEngine, shortestUrl } from './server'

const SOURCES = { docker: dockerServer, program: programServer, packages: packagesServer }
type SourceName = keyof typeof SOURCES

export interface Found {
  engine: ServerEngine
  server: Server
  version: string
  seconds: number
}

/** No source had a server; `reasons` says why, one sentence for each. */
export interface Missing {
  engine: ServerEngine
  reasons: string[]
}

/** Throws where the run shall use a server that can't be used: no other one takes its place. */
export async function findServer(engine: ServerEngine): Promise<Found | Missing> {
  const start = Date.now()
  const found = (server: Server, version: string) => ({ engine, server, version, seconds: (Date.now() - start) / 1000 })
  const variable = `TEST_${engine.toUpperCase()}_URL`
  const url = process.env[variable]
  if (url) return found({ url, origin: variable, stop: async () => {} }, await checkedVersion(engine, variable, url))

  const reasons = [`${variable} is not set`]
  for (const name of allowedSources()) {
    try {
      const server = await SOURCES[name](engine, [], { memory: true })
      const version = await versionOrStop(engine, server)
      return found({ ...server, url: await shortestUrl(server) }, version)
    } catch (error) {
      reasons.push(messageOf(error))
    }
  }
  return { engine, reasons }
}

async function checkedVersion(engine: ServerEngine, what: string, url: string): Promise<string> {
  const version = await awaitVersion(url, 10).catch((error) => {
    throw new Error(`${what}: ${messageOf(error)}`)
  })
  if (engineOf(version) === engine) return version
  throw new Error(`${what}: that server is ${version}, not ${engine}`)
}

async function versionOrStop(engine: ServerEngine, server: Server): Promise<string> {
  try {
    const version = await awaitVersion(server.url, 30)
    if (engineOf(version) === engine) return version
    throw new Error(`${server.origin}: that server is ${version}`)
  } catch (error) {
    await server.stop()
    throw error
  }
}

/** `RECENTN_TEST_SERVERS` names the sources that may be used, in this order: all of them when it is not set. */
export function allowedSources(): SourceName[] {
  const all = Object.keys(SOURCES) as SourceName[]
  const asked = process.env.RECENTN_TEST_SERVERS
  if (!asked) return all
  const words = asked.split(',').map((word) => word.trim())
  const wrong = words.filter((word) => word !== 'none' && !(word in SOURCES))
  if (wrong.length > 0) throw new Error(`RECENTN_TEST_SERVERS: ${wrong.join(', ')}? It takes none, ${all.join(', ')}`)
  return all.filter((name) => words.includes(name))
}

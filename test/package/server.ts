/**
 * Run as a process. Starts a server of each engine that can be had, says in one line of JSON where they are, and ends
 * them when its standard input ends.
 */
import { once } from 'node:events'
import { findServer } from '../support/servers/find-server'
import { SERVER_ENGINES } from '../support/servers/server'

async function main(): Promise<void> {
  const found = await Promise.all(SERVER_ENGINES.map(findServer))
  const told = found.map((one) =>
    'server' in one
      ? { engine: one.engine, url: one.server.url, version: one.version, origin: one.server.origin }
      : { engine: one.engine, reasons: one.reasons },
  )
  process.stdout.write(`${JSON.stringify(told)}\n`)
  process.stdin.resume()
  await once(process.stdin, 'end')
  await Promise.all(found.map((one) => 'server' in one && one.server.stop()))
}

main().then(
  () => process.exit(0),
  (error) => {
    console.error(error)
    process.exit(1)
  },
)

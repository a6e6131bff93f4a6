/** The server process: starts when this file is loaded. */
import { type Config, readConfig } from './http/process/config'
import { runServer } from './http/process/serve'
import { RecentnError } from './shared/errors'

function configured(): Config | null {
  try {
    return readConfig(process.env)
  } catch (error) {
    if (!(error instanceof RecentnError)) throw error
    for (const { parameter, detail } of error.faults) console.error(`recentn: ${parameter} ${detail}`)
    return null
  }
}

const config = configured()
if (config === null) process.exit(1)
else runServer(config).then((code) => process.exit(code))

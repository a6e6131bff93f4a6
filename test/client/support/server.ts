/** A server process that tests kill and start again at the same address, on a database that outlives it. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Client, createClient } from '../../../src/client'
import { type RunningServer, startServer } from '../../support/processes'

export interface Killable {
  readonly client: Client
  readonly url: string
  kill(): Promise<unknown>
  start(): Promise<void>
}

/** Started before the tests of the file, and gone after them. */
export function useServer(): Killable {
  const folder = mkdtempSync(join(tmpdir(), 'recentn-client-'))
  const env = { DATABASE_URL: `sqlite:${join(folder, 'data.db')}` }
  let server: RunningServer
  let client: Client
  let port = '0'
  const start = async () => {
    server = await startServer({ ...env, PORT: port })
    port = new URL(server.url).port
    client ??= createClient({ baseUrl: server.url, retries: 0 })
  }
  beforeAll(start)
  afterAll(async () => {
    await server?.stop()
    rmSync(folder, { recursive: true, force: true })
  })
  return {
    get client() {
      return client
    },
    get url() {
      return server.url
    },
    kill: () => server.stop('SIGKILL'),
    start,
  }
}

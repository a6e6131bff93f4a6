/** The facts about a database server that the tests need, wherever it comes from. */
import { createConnection, type RowDataPacket } from 'mysql2/promise'

export const SERVER_ENGINES = ['mariadb', 'mysql'] as const
export type ServerEngine = (typeof SERVER_ENGINES)[number]

/** A running server. */
export interface Server {
  /** As an account that may do everything, without a database: `mysql://user:password@host:port/`. */
  url: string
  /** The same without Docker's forwarding of ports; reachable only from the machine that the engine runs on. */
  directUrl?: string
  /** Where it comes from, in words. */
  origin: string
  /** Ends it, and removes its data. Does nothing to a server that the tests did not start. */
  stop(): Promise<void>
}

/** A server that a test breaks: its data outlives its process. */
export interface BreakableServer extends Server {
  /** Ends it by SIGKILL. */
  kill(): Promise<void>
  /** Starts it again, on the same port; resolves when it answers. */
  start(): Promise<void>
  /** Stops its process, whose connections stand (SIGSTOP). */
  freeze(): Promise<void>
  thaw(): Promise<void>
}

/**
 * Where the data of a server that the tests start is: in memory, where there is some; on a disk of this size. And
 * further variables of its process, which only a program has.
 */
export interface DataPlace {
  memory?: boolean
  megabytes?: number
  env?: NodeJS.ProcessEnv
}

/** A URL for mysql2, which knows the one scheme. */
export function mysqlUri(url: string): string {
  return url.replace(/^mariadb:/, 'mysql:')
}

/**
 * The version that the server names, as soon as it answers; throws the last refusal after `seconds`, and at once
 * where `gone` says that the server's process has ended.
 */
export async function awaitVersion(url: string, seconds: number, gone: () => string | null = () => null) {
  const end = Date.now() + seconds * 1000
  for (;;) {
    try {
      return await versionOf(url)
    } catch (error) {
      const reason = gone()
      if (reason !== null) throw new Error(reason)
      if (Date.now() > end) throw new Error(`it does not answer: ${messageOf(error)}`)
    }
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

/** Without Docker's forwarding of ports, where that works: it adds time to every statement. */
export async function shortestUrl({ url, directUrl }: Server): Promise<string> {
  if (directUrl === undefined) return url
  return awaitVersion(directUrl, 2).then(
    () => directUrl,
    () => url,
  )
}

async function versionOf(url: string): Promise<string> {
  const connection = await createConnection({ uri: mysqlUri(url), connectTimeout: 5000 })
  try {
    const [rows] = await connection.query<RowDataPacket[]>('SELECT VERSION() AS version')
    return String(rows[0]?.version)
  } finally {
    connection.destroy()
  }
}

/** MariaDB puts its name into its version, MySQL does not. */
export function engineOf(version: string): ServerEngine {
  return /mariadb/i.test(version) ? 'mariadb' : 'mysql'
}

export function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  // A refused connection to a name with two addresses is an AggregateError without a message.
  return error.message || String((error as { code?: unknown }).code ?? error.name)
}

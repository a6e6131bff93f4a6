/** Reads the environment into one frozen object. Reports all faults at once, each by its variable. */
import { execFile } from 'node:child_process'
import { passwordFault, urlFault } from '../../database/mysql/server-url'
import { integerFault, MAX_CAPACITY, tablePrefixFault } from '../../fields/rules'
import { sharing } from '../../shared/backoff'
import { type Fault, invalidInput } from '../../shared/errors'
import { LOG_FORMATS, LOG_LEVELS, type LogFormat, type LogLevel } from './log'

export interface Config {
  /** 0 takes any free port. */
  readonly port: number
  readonly host: string
  readonly databaseUrl: string
  /** Undefined is that of the URL. */
  readonly password: (() => Promise<string>) | undefined
  /** The prefix of the tables' names; undefined is the store's default. */
  readonly tablePrefix: string | undefined
  /** Every client that reaches the server may do everything. */
  readonly allowAnonymous: boolean
  /** Origins whose pages may read the server's answers. */
  readonly corsOrigins: readonly string[]
  /** Undefined is the store's default. */
  readonly defaultCapacity: number | undefined
  /** Writes the history of queues. */
  readonly history: boolean
  readonly shutdownSeconds: number
  readonly bodyLimitBytes: number
  /** Maximum numbers of names that begin with the prefix that a key is confined to. */
  readonly maxPerPrefix: Readonly<Record<'queues' | 'schedules' | 'policies' | 'feeds', number>>
  /** Connections to a database server; undefined is the store's default. */
  readonly poolSize: number | undefined
  readonly logFormat: LogFormat
  readonly logLevel: LogLevel
  /** Logs a line for each request. */
  readonly accessLog: boolean
  /** How long the server still answers, but is no longer ready, before it stops. */
  readonly drainSeconds: number
}

type Environment = Readonly<Record<string, string | undefined>>

/** Reads the configuration; an empty variable counts as unset. Throws `invalid_input` with every fault. */
export function readConfig(environment: Environment): Config {
  const faults: Fault[] = []
  const add = (parameter: string, detail: string | null) => {
    if (detail !== null) faults.push({ parameter, detail })
  }
  const get = (name: string) => environment[name] || undefined
  const integer = <T>(name: string, min: number, max: number, byDefault: T): number | T => {
    const text = get(name)
    if (text === undefined) return byDefault
    const value = /^[0-9]{1,15}$/.test(text) ? Number(text) : Number.NaN
    add(name, integerFault(value, min, max))
    return value
  }
  const word = <T extends string>(name: string, words: readonly T[], byDefault: T): T => {
    const text = get(name) ?? byDefault
    add(name, (words as readonly string[]).includes(text) ? null : `must be ${words.join(' or ')}`)
    return text as T
  }
  const perPrefix = (kind: string) => integer(`RECENTN_MAX_${kind}_PER_PREFIX`, 1, 1_000_000, 1000)
  const config: Config = {
    port: integer('PORT', 0, 65_535, 3000),
    host: (get('HOST') ?? '127.0.0.1').replace(/^\[(.*)\]$/, '$1'),
    databaseUrl: get('DATABASE_URL') ?? 'sqlite:./data/recentn.db',
    password: outputOf(get('RECENTN_PASSWORD_COMMAND')),
    tablePrefix: get('RECENTN_TABLE_PREFIX'),
    allowAnonymous: integer('RECENTN_ALLOW_ANONYMOUS', 0, 1, 0) === 1,
    corsOrigins: origins(get('RECENTN_CORS_ORIGIN'), faults),
    defaultCapacity: integer('RECENTN_DEFAULT_CAPACITY', 1, MAX_CAPACITY, undefined),
    history: integer('RECENTN_HISTORY', 0, 1, 1) === 1,
    shutdownSeconds: integer('RECENTN_SHUTDOWN_SECONDS', 0, 86_400, 10),
    bodyLimitBytes: integer('RECENTN_BODY_LIMIT_BYTES', 1, 1024 ** 3, 1024 ** 2),
    maxPerPrefix: Object.freeze({
      queues: perPrefix('QUEUES'),
      schedules: perPrefix('SCHEDULES'),
      policies: perPrefix('POLICIES'),
      feeds: perPrefix('FEEDS'),
    }),
    poolSize: integer('RECENTN_POOL_SIZE', 1, 10_000, undefined),
    logFormat: word('RECENTN_LOG_FORMAT', LOG_FORMATS, 'text'),
    logLevel: word('RECENTN_LOG_LEVEL', LOG_LEVELS, 'info'),
    accessLog: integer('RECENTN_ACCESS_LOG', 0, 1, 0) === 1,
    drainSeconds: integer('RECENTN_DRAIN_SECONDS', 0, 3600, 0),
  }
  if (!/^[A-Za-z0-9.:%-]{1,255}$/.test(config.host))
    faults.push({ parameter: 'HOST', detail: 'must be an address or a name of a host' })
  const urlDetail = urlFault(config.databaseUrl)
  add('DATABASE_URL', urlDetail)
  if (urlDetail === null && config.password) add('RECENTN_PASSWORD_COMMAND', passwordFault(config.databaseUrl))
  if (config.tablePrefix !== undefined) add('RECENTN_TABLE_PREFIX', tablePrefixFault(config.tablePrefix))
  if (faults.length > 0) throw invalidInput(faults)
  return Object.freeze(config)
}

function origins(text = '', faults: Fault[]): readonly string[] {
  const given = text.split(',').map((origin) => origin.trim())
  const named = given.filter((origin) => origin !== '')
  const isOrigin = (origin: string) =>
    URL.canParse(origin) && /^https?:/.test(origin) && new URL(origin).origin === origin
  if (!named.every(isOrigin)) {
    const detail =
      'must be a list of origins as browsers send them, such as https://app.example.org,http://localhost:5173'
    faults.push({ parameter: 'RECENTN_CORS_ORIGIN', detail })
  }
  return Object.freeze(named)
}

/** Whether only programs of this machine reach a server on this address. */
export function isLoopback(host: string): boolean {
  return host.toLowerCase() === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host)
}

/** As long as a store waits for a password. */
const RUN_MS = 5000

/** The password of the database that a command prints. Connections that are made at once share a run of it. */
function outputOf(command: string | undefined): (() => Promise<string>) | undefined {
  return command === undefined ? undefined : sharing(() => run(command))
}

/** Resolves without the end of the line. The error quotes no part of the command, which may have a secret. */
function run(command: string): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile('sh', ['-c', command], { timeout: RUN_MS, killSignal: 'SIGKILL' }, (error, output, said) => {
      const reason = said.trim() || `exit code ${error?.code ?? error?.signal}`
      if (error) reject(new Error(`RECENTN_PASSWORD_COMMAND: ${reason}`))
      else resolve(output.replace(/\r?\n$/, ''))
    })
  })
}

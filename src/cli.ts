#!/usr/bin/env node
/** The command line: defines the commands. Their work is in `cli/` and in the parts that they call. */
import { existsSync } from 'node:fs'
import { Command, CommanderError, Option } from 'commander'
import { confirm } from './cli/confirm'
import { diagnose, findingsJson, findingsText, schemaVersion, withCause } from './cli/doctor'
import { addKeysCommand, withStore } from './cli/keys-command'
import { addNouns, type CommandKit, type DatabaseFlags, described } from './cli/verbs'
import { type Config, readConfig } from './http/process/config'
import { withoutSecretsIn } from './http/secrets'
import { nodeFault, packageVersion } from './http/version'
import { RecentnError } from './shared/errors'
import { clearInterval, setInterval } from './shared/platform'
import { backUp, fileOf, proceduresSql, restore } from './store/open'

const databaseOption = () =>
  new Option(
    '--database-url <url>',
    'sqlite:./file.db, mysql://user:password@host:port/database or mariadb://… (default: DATABASE_URL, ' +
      'or sqlite:./data/recentn.db); keep a password in DATABASE_URL, where other users do not see it',
  )

/** The configuration of a command that does not listen: HOST and PORT are ignored. */
function databaseConfig(flags: DatabaseFlags): Config {
  const { HOST: _host, PORT: _port, ...environment } = process.env
  const given = { ...environment, ...(flags.databaseUrl !== undefined && { DATABASE_URL: flags.databaseUrl }) }
  return noting(given, readConfig(given))
}

/** A shell that has lost its DATABASE_URL would work on another database. */
function noting({ DATABASE_URL: given }: NodeJS.ProcessEnv, config: Config): Config {
  if (!given) process.stderr.write(`recentn: DATABASE_URL is not set: taking ${config.databaseUrl}\n`)
  return config
}

async function serve(flags: DatabaseFlags & { port?: string; host?: string }): Promise<void> {
  const given = { PORT: flags.port, HOST: flags.host, DATABASE_URL: flags.databaseUrl }
  const overriding = Object.entries(given).filter(([, value]) => value !== undefined)
  // Loaded here only, because the other commands do not need it.
  const { runServer } = await import('./http/process/serve.js')
  const environment = { ...process.env, ...Object.fromEntries(overriding) }
  process.exit(await runServer(noting(environment, readConfig(environment))))
}

/** Prints the SQL of `repositories/door/doors.ts`. */
function procedures(): void {
  const { RECENTN_TABLE_PREFIX } = process.env
  const { tablePrefix } = readConfig(RECENTN_TABLE_PREFIX === undefined ? {} : { RECENTN_TABLE_PREFIX })
  process.stdout.write(proceduresSql(tablePrefix))
}

async function migrate(flags: DatabaseFlags): Promise<void> {
  await withStore(databaseConfig(flags), true, async (store) => {
    process.stdout.write(`${store.location} is at schema version ${await schemaVersion(store)}, which is this code's\n`)
  })
}

async function doctor(flags: DatabaseFlags & { json?: boolean }): Promise<void> {
  const { databaseUrl, ...options } = databaseConfig(flags)
  const findings = await diagnose(databaseUrl, options)
  process.stdout.write(flags.json ? findingsJson(findings) : findingsText(findings))
  if (findings.some((finding) => finding.state === 'wrong')) process.exitCode = 1
}

/** Copies of a SQLite file that are whole. */
function addBackupCommands(program: Command, { databaseOption, configOf }: CommandKit): void {
  described(program, 'backup <file>', 'copy a SQLite database into a new file, while it is in use')
    .addOption(databaseOption())
    .action(async (file: string, flags: DatabaseFlags) => {
      const { databaseUrl, tablePrefix } = configOf(flags)
      const source = fileOf(databaseUrl)
      await backUp(source, file, tablePrefix)
      process.stdout.write(withoutSecretsIn(`${source} is copied to ${file}\n`))
    })
  described(program, 'restore <file>', 'put a backup in the place of a SQLite database that no process has open')
    .addOption(databaseOption())
    .option('--yes', 'replace a database that is there, without asking')
    .action(async (file: string, flags: DatabaseFlags & { yes?: boolean }) => {
      const { databaseUrl, tablePrefix } = configOf(flags)
      const target = fileOf(databaseUrl)
      if (existsSync(target) && !flags.yes) await confirm(`Replace ${target} by ${file}?`)
      restore(target, file, tablePrefix)
      process.stdout.write(withoutSecretsIn(`${target} is what ${file} has\n`))
    })
}

const SERVE_DETAILS = `
Creates or upgrades the tables first. Prints one line to standard output when it is ready. Options override the
environment: PORT, HOST, DATABASE_URL, RECENTN_TABLE_PREFIX, RECENTN_DEFAULT_CAPACITY, RECENTN_HISTORY, RECENTN_BODY_LIMIT_BYTES, RECENTN_POOL_SIZE,
RECENTN_PASSWORD_COMMAND for a command that prints the database's password, run for each new connection,
RECENTN_SHUTDOWN_SECONDS, RECENTN_DRAIN_SECONDS, RECENTN_MAX_QUEUES_PER_PREFIX and so for SCHEDULES, POLICIES and FEEDS,
RECENTN_CORS_ORIGIN for a list of origins whose pages may read the answers; RECENTN_LOG_FORMAT (text, json),
RECENTN_LOG_LEVEL (debug, info, warn, error), RECENTN_ACCESS_LOG=1 for a line a request.
Once API keys exist (recentn keys), every request needs one. Without keys the server listens on a loopback address only,
and accepts local requests only. RECENTN_ALLOW_ANONYMOUS=1 lifts both: every client may do everything.
On SIGTERM or SIGINT the server finishes the accepted requests and stops.
`

const MIGRATE_DETAILS = `
Any number of processes may run this at the same time: one migrates, the others wait. In a MySQL group with several primaries it
must run on one member, which it names. The command refuses a database that
newer code has migrated, and one in which another table has a name that recentn needs: RECENTN_TABLE_PREFIX sets the prefix
of the names. recentn serve migrates by itself; use this command to do it beforehand, as another user of the database.
`

const DOCTOR_DETAILS = `
Changes nothing. Checks the connection, the schema, and the messages and entries that wait in queues and feeds. On MySQL and
MariaDB also: the version, transaction isolation, character sets, SKIP LOCKED, durability settings, the clock, locks that are
held on recentn's tables (the user needs PROCESS for it, and on MySQL SELECT on performance_schema.data_locks), the free
connections, and whether the server is read-only or part of a cluster. Exits with 1 when something is wrong.
`

const EXIT_CODES = `
Exit codes: 0 done, 1 failed, 2 used wrongly, 3 not found, 4 not reachable.
`

export function program(): Command {
  const root = new Command('recentn')
    .description('The last N of everything, work queues and change feeds, on the SQL database you already run.')
    .version(packageVersion())
    .exitOverride()
    .configureOutput({
      outputError: (text, write) => write(withoutSecretsIn(withoutValue(text))),
    })
    .showHelpAfterError('(add --help for the arguments and options)')
    .configureHelp({ helpWidth: Math.min(process.stdout.columns ?? 100, 120) })
    .addHelpText('after', EXIT_CODES)
  described(root, 'serve', 'run the HTTP server')
    .option('--port <number>', 'port; 0 takes any free one (default: PORT, or 3000)')
    .option('--host <address>', 'address to listen on (default: HOST, or 127.0.0.1)')
    .addOption(databaseOption())
    .addHelpText('after', SERVE_DETAILS)
    .action(serve)
  root
    .command('migrate')
    .summary('create or upgrade the tables')
    .description("Create recentn's tables in the database or upgrade them, and say their version.")
    .addOption(databaseOption())
    .addHelpText('after', MIGRATE_DETAILS)
    .action(migrate)
  const kit = { databaseOption, configOf: databaseConfig }
  addNouns(root, kit)
  addKeysCommand(root, kit)
  addBackupCommands(root, kit)
  described(root, 'procedures', 'print stored procedures for MySQL and MariaDB that send and append').action(procedures)
  root
    .command('doctor')
    .summary('check the database and say what to fix')
    .description('Check whether the database is fit for recentn, and say what to fix.')
    .addOption(databaseOption())
    .option('--json', 'print the findings as JSON')
    .addHelpText('after', DOCTOR_DETAILS)
    .action(doctor)
  return root
}

/** The message of commander without the value that was given: the user who gave it knows it, and it may be a secret. */
function withoutValue(text: string): string {
  return text
    .replace(/(unknown option '[^'=]*)=[^']*/, '$1')
    .replace(/ (argument|value) '.*?' is invalid/s, ' $1 is invalid')
}

/** Errors that were foreseen, also by the system or the database (no such file), as a sentence; others with the stack. */
function sentenceOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  if (error instanceof RecentnError && error.faults.length > 3) {
    // The message names only the first faults.
    return error.faults.map(({ parameter, pointer, detail }) => `${parameter ?? pointer}: ${detail}`).join('; ')
  }
  const foreseen =
    (error instanceof RecentnError && error.code !== 'internal') || 'syscall' in error || 'sqlState' in error
  return foreseen ? withCause(error) : (error.stack ?? error.message)
}

function complain(text: string): void {
  process.stderr.write(`recentn: ${withoutSecretsIn(text)}\n`)
}

/** 1 failed, 2 used wrongly, 3 not found, 4 not reachable. */
function exitCodeOf(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2
  if (!(error instanceof RecentnError)) return 1
  const { code, status } = error
  if (code.endsWith('_not_found') || (status === 404 && code === 'invalid_input')) return 3
  if (code === 'invalid_input' || code === 'malformed_json') return 2
  return code === 'unreachable' || code === 'database_unavailable' ? 4 : 1
}

const NPX_CHECK_MS = 250

/**
 * A signal to npx ends npx and the shell between, but does not reach this process: the server would continue, and keep its
 * port. So the end of that shell becomes a SIGTERM for this process. Does nothing if npx has not started it.
 */
function endWithNpx(): void {
  if (process.env.npm_command !== 'exec') return
  const parent = process.ppid
  const timer = setInterval(() => {
    if (process.ppid === parent) return
    clearInterval(timer)
    process.kill(process.pid, 'SIGTERM')
  }, NPX_CHECK_MS)
  timer.unref()
}

/** Runs a command: `args` as the shell gives them. Its errors are written, and set the exit code. */
export async function main(args: readonly string[], root = program()): Promise<void> {
  try {
    await root
      .hook('preAction', (_root, command) => {
        const fault = nodeFault()
        if (fault !== null) complain(fault)
        if (command.name() === 'serve') return endWithNpx()
        // A reader that closes the pipe early, such as `head`, is not an error; a server continues without a reader.
        process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1))
        process.removeAllListeners('warning').on('warning', ({ message }) => complain(message))
      })
      .parseAsync(args, { from: 'user' })
  } catch (error) {
    process.exitCode = exitCodeOf(error)
    // Commander has written its own.
    if (error instanceof CommanderError) return
    complain(sentenceOf(error))
  }
}

if (require.main === module) main(process.argv.slice(2))

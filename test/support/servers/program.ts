/**
 * A `mariadbd` or `mysqld` program, run as whoever runs the tests: on a free port of 127.0.0.1, with a new data folder
 * among the temporary files. Nothing that is already running or stored on the machine is touched.
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { findProgram } from './find-program'
import { whenKilled } from './guard'
import { memoryFolder } from './memory'
import { awaitVersion, type BreakableServer, type DataPlace, engineOf, messageOf, type ServerEngine } from './server'

const run = promisify(execFile)
const ACCOUNT = 'recentn'

/** The program and what it needs to run from where it is. */
export interface Installation {
  engine: ServerEngine
  program: string
  origin: string
  /** mariadb-install-db, which MariaDB's data folder is made with. */
  installer: string | null
  /** Options for both, such as `--basedir`. */
  options: string[]
  env: NodeJS.ProcessEnv
}

/** `settings` are further options of the server, such as `--innodb-buffer-pool-size=1G`. */
export async function programServer(
  engine: ServerEngine,
  settings: string[] = [],
  place: DataPlace = {},
): Promise<BreakableServer> {
  const names = engine === 'mariadb' ? ['mariadbd', 'mysqld'] : ['mysqld']
  for (const name of names) {
    const program = findProgram(name)
    if (program === null) continue
    const { stdout } = await run(program, ['--no-defaults', '--version'])
    if (engineOf(stdout) !== engine) continue
    const installer = findProgram('mariadb-install-db', 'mysql_install_db')
    const installation = { engine, program, origin: program, installer, options: [], env: process.env }
    return startPrivately(installation, settings, place)
  }
  throw new Error(`no ${names.join(' or ')} of ${engine === 'mariadb' ? 'MariaDB' : 'MySQL'} on this machine`)
}

export async function startPrivately(
  installation: Installation,
  settings: string[],
  { memory, megabytes, env }: DataPlace,
): Promise<BreakableServer> {
  if (megabytes !== undefined) throw new Error(`${installation.origin}: only a container has a small disk`)
  // Short: the path of a Unix socket in it may have about a hundred characters.
  const folder = mkdtempSync(join((memory && memoryFolder()) || tmpdir(), `recentn-${installation.engine}-`))
  try {
    await makeData(installation, join(folder, 'data'), settings)
    return await serve({ ...installation, env: { ...installation.env, ...env } }, folder, settings)
  } catch (error) {
    rmSync(folder, { recursive: true, force: true })
    throw new Error(`${installation.program} did not start: ${messageOf(error)}`)
  }
}

async function makeData(installation: Installation, data: string, settings: string[]): Promise<void> {
  const { engine, program, installer, options, env } = installation
  const common = ['--no-defaults', ...options, `--datadir=${data}`, ...asRoot()]
  if (engine === 'mysql') {
    // Not --initialize-insecure: root gets a random password that is not needed.
    // MySQL starts only with the case of names that its data was made with.
    const cases = settings.filter((one) => one.startsWith('--lower-case-table-names'))
    await run(program, [...common, ...cases, '--initialize'], { env })
    return
  }
  if (installer === null) throw new Error('mariadb-install-db is missing')
  // By socket, as the user we are: no account without a password comes into being.
  const root = ['--auth-root-authentication-method=socket', `--auth-root-socket-user=${userInfo().username}`]
  await run(installer, [...common, ...root, '--skip-test-db'], { env })
}

/** Both programs refuse to run as root unless that is asked for by name. */
function asRoot(): string[] {
  return process.getuid?.() === 0 ? ['--user=root'] : []
}

async function serve(installation: Installation, folder: string, settings: string[]): Promise<BreakableServer> {
  const port = await freePort()
  const password = randomBytes(12).toString('hex')
  const url = `mysql://${ACCOUNT}:${password}@127.0.0.1:${port}/`
  let child = spawnServer(installation, folder, port, password, settings)
  const answers = () =>
    awaitVersion(url, 60, () => (ended(child) ? `it ended: ${lastLines(join(folder, 'log'))}` : null)).then(() => {})
  const release = whenKilled('kill -9 "$(cat "$1/pid")"; rm -rf "$1"', [folder])
  const stop = async () => {
    await terminate(child)
    release()
    rmSync(folder, { recursive: true, force: true })
  }
  try {
    await answers()
  } catch (error) {
    await stop()
    throw error
  }
  return {
    url,
    origin: installation.origin,
    stop,
    kill: () => terminate(child),
    start: () => {
      child = spawnServer(installation, folder, port, password, settings)
      return answers()
    },
    freeze: async () => void child.kill('SIGSTOP'),
    thaw: async () => void child.kill('SIGCONT'),
  }
}

function spawnServer(
  installation: Installation,
  folder: string,
  port: number,
  password: string,
  settings: string[],
): ChildProcess {
  const setup = join(folder, 'setup.sql')
  const account = `'${ACCOUNT}'@'127.0.0.1'`
  writeFileSync(
    setup,
    `CREATE USER IF NOT EXISTS ${account} IDENTIFIED BY '${password}';\nGRANT ALL ON *.* TO ${account} WITH GRANT OPTION;\n`,
  )
  const args = ['--no-defaults', ...installation.options, ...asRoot()]
  args.push(`--datadir=${join(folder, 'data')}`, `--socket=${join(folder, 'socket')}`, `--tmpdir=${folder}`)
  args.push(`--pid-file=${join(folder, 'pid')}`, `--log-error=${join(folder, 'log')}`, `--init-file=${setup}`)
  args.push(`--port=${port}`, '--bind-address=127.0.0.1', '--skip-name-resolve', '--max-connections=500')
  if (installation.engine === 'mysql') args.push('--mysqlx=OFF', '--secure-file-priv=NULL')
  args.push(...settings)
  // Another session: Ctrl-C is for the test run, and the guard then ends the server.
  const child = spawn(installation.program, args, { env: installation.env, stdio: 'ignore', detached: true })
  child.on('error', () => {})
  child.unref()
  return child
}

export function ended(child: ChildProcess): boolean {
  return child.pid === undefined || child.exitCode !== null || child.signalCode !== null
}

/** Ends a server whose data goes with it. */
export async function terminate(child: ChildProcess): Promise<void> {
  if (ended(child)) return
  // Else a process that has nothing more to do would end in the middle of this.
  child.ref()
  const exit = once(child, 'exit')
  // Its data goes with it, so there is nothing to shut down cleanly.
  child.kill('SIGKILL')
  await exit
}

let asked = 0

/**
 * A free port of 127.0.0.1. The system gives it to no one else before it is used: it gives out ports above 32,767. Each
 * process begins elsewhere.
 */
export async function freePort(): Promise<number> {
  const port = 10_000 + ((40 * process.pid + asked++) % 20_000)
  const probe = createServer().listen(port, '127.0.0.1')
  const isFree = await once(probe, 'listening').then(
    () => true,
    () => false,
  )
  if (!isFree) return freePort()
  probe.close()
  await once(probe, 'close')
  return port
}

/** The end of a log: its errors, where it has some. */
export function lastLines(path: string): string {
  try {
    const lines = readFileSync(path, 'utf8').trimEnd().split('\n')
    return (
      lines
        .filter((line) => /error/i.test(line))
        .slice(-3)
        .join(' | ') || lines.slice(-3).join(' | ')
    )
  } catch {
    return 'without a log'
  }
}

/** A private PostgreSQL at its durable defaults. It refuses to run as root, and then runs as another account. */
import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { chmodSync, chownSync, readdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { Client } from 'pg'
import { freePort, lastLines } from '../../test/support/servers/program'
import { messageOf } from '../../test/support/servers/server'
import type { ServerFacts } from '../types'
import { getProgram, type Program, startProgram, temporaryFolder, untilReady } from './program'

const run = promisify(execFile)
const WANTED = { label: 'postgresql', main: 'postgresql', others: [] }

export async function startPostgres(): Promise<ServerFacts> {
  const program = await getProgram('postgres', WANTED, programIn)
  program.path = realpathSync(program.path)
  const folder = temporaryFolder('postgres')
  const account = unprivileged()
  if (account.uid !== undefined) chownSync(folder, account.uid, account.gid ?? account.uid)
  chmodSync(folder, 0o700)
  const password = randomBytes(12).toString('hex')
  await makeData(program, folder, password, account)
  const port = await freePort()
  const args = ['-D', join(folder, 'data'), '-p', String(port), '-h', '127.0.0.1', '-k', folder]
  const running = startProgram(program, [...args, '-c', 'max_connections=200'], folder, account)
  const url = `postgres://recentn:${password}@127.0.0.1:${port}/postgres`
  try {
    await untilReady(running, 30, () => withClient(url, (client) => client.query('SELECT 1')))
    return { url, origin: program.origin, stop: running.stop, ...(await withClient(url, factsOf)) }
  } catch (error) {
    const log = lastLines(running.log)
    await running.stop()
    throw new Error(`${program.path} did not start: ${messageOf(error)} (${log})`)
  }
}

function programIn(root: string): string {
  const versions = readdirSync(join(root, 'usr/lib/postgresql')).sort((a, b) => Number(a) - Number(b))
  return join(root, 'usr/lib/postgresql', versions.at(-1) ?? '', 'bin/postgres')
}

function unprivileged(): { uid?: number; gid?: number } {
  if (process.getuid?.() !== 0) return {}
  const accounts = readFileSync('/etc/passwd', 'utf8')
  for (const name of ['postgres', 'nobody']) {
    const found = new RegExp(`^${name}:[^:]*:(\\d+):(\\d+):`, 'm').exec(accounts)
    if (found) return { uid: Number(found[1]), gid: Number(found[2]) }
  }
  throw new Error('PostgreSQL does not run as root, and there is no account postgres or nobody')
}

async function makeData(program: Program, folder: string, password: string, account: { uid?: number; gid?: number }) {
  const file = join(folder, 'password')
  writeFileSync(file, password, { mode: 0o600 })
  if (account.uid !== undefined) chownSync(file, account.uid, account.gid ?? account.uid)
  const args = ['-D', join(folder, 'data'), '-U', 'recentn', '-A', 'scram-sha-256', `--pwfile=${file}`]
  args.push('--no-locale', '-E', 'UTF8')
  await run(join(dirname(program.path), 'initdb'), args, { env: program.env, cwd: folder, ...account })
}

async function withClient<T>(url: string, work: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ connectionString: url })
  client.on('error', () => {})
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}

async function factsOf(client: Client): Promise<{ version: string; durability: string }> {
  const show = async (name: string) => String((await client.query(`SHOW ${name}`)).rows[0]?.[name])
  const [fsync, commit] = [await show('fsync'), await show('synchronous_commit')]
  const how = fsync === 'on' && commit === 'on' ? 'fsync each commit' : 'NOT durable'
  return {
    version: `PostgreSQL ${(await show('server_version')).replace(/ .*/, '')}`,
    durability: `${how} (fsync=${fsync}, synchronous_commit=${commit})`,
  }
}

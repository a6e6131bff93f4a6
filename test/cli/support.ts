/** Shared by the tests of the command line: running it. */
import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { openStore } from '../../src/store/open'
import type { Store } from '../../src/store/types'
import { foreignVariables, type RunningServer, type Script, spawnScript, startServer } from '../support/processes'

const CLI = resolve(__dirname, '../../dist/src/cli.js')

export interface Ran {
  code: number | null
  stdout: string
  stderr: string
}

export interface Running {
  process: ChildProcess
  /** Resolves when it has written this to standard output or error; throws when it ends before. */
  said(pattern: RegExp): Promise<RegExpExecArray>
  ended: Promise<Ran>
}

export interface RunOptions {
  cwd?: string
  env?: Record<string, string>
}

const running = new Set<ChildProcess>()

afterAll(() => {
  for (const child of running) child.kill('SIGKILL')
})

const environmentWith = (env: RunOptions['env']) => ({ ...foreignVariables(), ...env })

/** Starts the built command line, with nothing of this process's configuration. */
export function start(args: readonly string[], options: RunOptions = {}): Running {
  if (!existsSync(CLI)) throw new Error('the command line is not built: npm run build')
  const child = spawn(process.execPath, [CLI, ...args], { cwd: options.cwd, env: environmentWith(options.env) })
  running.add(child)
  child.on('close', () => running.delete(child))
  const ran: Ran = { code: null, stdout: '', stderr: '' }
  child.stdout.on('data', (chunk) => {
    ran.stdout += chunk
  })
  child.stderr.on('data', (chunk) => {
    ran.stderr += chunk
  })
  child.stdin.on('error', () => {}) // it may end without having read everything
  const ended = new Promise<Ran>((done) => child.on('close', (code) => done({ ...ran, code })))
  const said = async (pattern: RegExp): Promise<RegExpExecArray> => {
    let over = false
    ended.then(() => {
      over = true
    })
    for (;;) {
      const match = pattern.exec(ran.stdout + ran.stderr)
      if (match) return match
      if (over) throw new Error(`ended without saying ${pattern}: ${ran.stdout}${ran.stderr}`)
      await new Promise((done) => setTimeout(done, 10))
    }
  }
  return { process: child, said, ended }
}

/** Runs the built command line to its end, as a process. */
export function run(args: readonly string[], options: RunOptions = {}): Promise<Ran> {
  const running = start(args, options)
  running.process.stdin?.end()
  return running.ended
}

let commands: Script | undefined
let last: Promise<unknown> = Promise.resolve()

/** Runs a command to its end as `run` does, in one process with all others of the test file, one after another. */
export function command(args: readonly string[], env: Record<string, string> = {}): Promise<Ran> {
  commands ??= spawnScript('test/cli/commands-child.mjs')
  const { send, next } = commands
  send({ args, env: environmentWith(env) })
  const ran = last.then(next) as Promise<Ran>
  last = ran
  return ran
}

/** A folder for one test file. */
export function temporaryFolder(): { path: string; remove(): void } {
  const path = mkdtempSync(join(tmpdir(), 'recentn-cli-'))
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) }
}

/** A database, and a running server of it: commands that work on either, as an operator. */
export function operated() {
  const folder = temporaryFolder()
  const databaseUrl = `sqlite:${join(folder.path, 'operated.db')}`
  const withStore = async <T>(work: (store: Store) => Promise<T>): Promise<T> => {
    const store = await openStore({ url: databaseUrl, sweep: false })
    return work(store).finally(() => store.close())
  }
  let server: RunningServer & { key: string }
  beforeAll(async () => {
    const { key } = await withStore(({ keys }) => keys.create({ label: 'operator', scopes: ['admin'] }))
    server = Object.assign(await startServer({ DATABASE_URL: databaseUrl }), { key })
  })
  afterAll(async () => {
    await server.stop()
    folder.remove()
  })
  return {
    databaseUrl,
    withStore,
    server: () => server,
    onDatabase: (...args: string[]) => command(args, { DATABASE_URL: databaseUrl }),
    onServer: (...args: string[]) => command([...args, '--url', server.url], { RECENTN_KEY: server.key }),
  }
}

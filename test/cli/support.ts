/** Shared by the tests of the command line: running it. */
import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { openStore } from '../../src/store/open'
import type { Store } from '../../src/store/types'
import { type RunningServer, startServer } from '../support/processes'

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

/** Starts the built command line, with nothing of this process's configuration. */
export function start(args: readonly string[], options: RunOptions = {}): Running {
  if (!existsSync(CLI)) throw new Error('the command line is not built: npm run build')
  const foreign = Object.entries(process.env).filter(([name]) => !/^(RECENTN_.*|DATABASE_URL|HOST|PORT)$/.test(name))
  const env = { ...Object.fromEntries(foreign), ...options.env }
  const child = spawn(process.execPath, [CLI, ...args], { cwd: options.cwd, env })
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

/** Runs the built command line to its end. */
export function run(args: readonly string[], options: RunOptions & { stdin?: string | Buffer } = {}): Promise<Ran> {
  const running = start(args, options)
  running.process.stdin?.end(options.stdin ?? '')
  return running.ended
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
    onDatabase: (...args: string[]) => run(args, { env: { DATABASE_URL: databaseUrl } }),
    onServer: (...args: string[]) => run([...args, '--url', server.url], { env: { RECENTN_KEY: server.key } }),
  }
}

/**
 * Child processes for the tests: scripts that work on a database at the same time, and the server itself. They run
 * what is built in `dist`. Whatever a test file leaves running is killed at its end.
 */
import { type ChildProcess, type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'

export const ROOT = resolve(__dirname, '../..')
const START_SECONDS = 30

type Variables = Record<string, string | undefined>

const running = new Set<ChildProcess>()

afterAll(async () => {
  await Promise.all([...running].map((child) => end(child, 'SIGKILL')))
})

export interface Exit {
  code: number | null
  signal: NodeJS.Signals | null
}

/** A running script. Every line of its standard output is one JSON value. */
export interface Script {
  process: ChildProcess
  /** The values so far. */
  lines: unknown[]
  /** The next value that `next` has not given yet, when it is there; rejects when the script ends without one. */
  next(): Promise<unknown>
  /** Writes one line of JSON to the script's standard input. */
  send(value: unknown): void
  /** All values, when the script has ended with exit code 0; otherwise rejects with its output. */
  finished: Promise<unknown[]>
  /** Sends the signal (SIGTERM when left out) and waits for the end. */
  stop(signal?: NodeJS.Signals): Promise<Exit>
}

/**
 * Starts a script in another Node process: JavaScript, or TypeScript whose imports from `src` get what is built
 * in `dist`. `path` is relative to the project.
 */
export function spawnScript(path: string, args: readonly string[] = [], env: Variables = {}): Script {
  const loader = path.endsWith('.ts') ? ['--require', join(__dirname, 'run-typescript.cjs')] : []
  const child = spawnNode([...loader, resolve(ROOT, path), ...args], { ...process.env, ...env })
  const output = collect(child)
  const lines: unknown[] = []
  const strays: string[] = []
  const reader = createInterface({ input: child.stdout })
  reader.on('line', (line) => {
    if (isJson(line)) lines.push(JSON.parse(line))
    else strays.push(line)
  })
  const closed = once(child, 'close') as Promise<[number | null, NodeJS.Signals | null]>
  const finished = closed.then(([code, signal]) => {
    if (code === 0 && strays.length === 0) return lines
    throw new Error(`${path} ended with ${code ?? signal}${code === 0 ? ', not only JSON' : ''}:\n${output()}`)
  })
  // A caller that only looks at the exit code of `stop` must not be killed by a rejection.
  finished.catch(() => {})
  let given = 0
  return {
    process: child,
    lines,
    finished,
    next: async () => {
      while (lines.length <= given) await Promise.race([once(reader, 'line'), finished.then(refuseMore)])
      return lines[given++]
    },
    send: (value) => child.stdin.write(`${JSON.stringify(value)}\n`),
    stop: (signal = 'SIGTERM') => end(child, signal),
  }
}

function isJson(line: string): boolean {
  try {
    JSON.parse(line)
    return true
  } catch {
    return false
  }
}

function refuseMore(): never {
  throw new Error('the script has ended, and there is no further line')
}

export interface RunningServer {
  /** Such as `http://127.0.0.1:40123`. */
  url: string
  process: ChildProcess
  /** Its text on both outputs so far. */
  output(): string
  /** Sends the signal (SIGTERM when left out) and waits for the end. */
  stop(signal?: NodeJS.Signals): Promise<Exit>
}

/**
 * Starts the built server on a free port and waits for the line that says it is ready. Without a `DATABASE_URL` in
 * `env` it gets an in-memory database; of the variables of this process, it gets none that configures it.
 * Rejects with its output when it ends first, or isn't ready within 30 s.
 */
export async function startServer(env: Variables = {}): Promise<RunningServer> {
  const main = join(ROOT, 'dist/src/main.js')
  if (!existsSync(main)) throw new Error(`${main} is missing: npm run build makes it`)
  const child = spawnNode([main], { ...foreignVariables(), DATABASE_URL: 'sqlite::memory:', PORT: '0', ...env })
  const output = collect(child)
  const url = await readyUrl(child, output)
  return { url, process: child, output, stop: (signal = 'SIGTERM') => end(child, signal) }
}

/** The variables of this process without those that configure recentn. */
export function foreignVariables(): Variables {
  const ours = /^(RECENTN_.*|DATABASE_URL|HOST|PORT)$/
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !ours.test(name)))
}

async function readyUrl(child: ChildProcessWithoutNullStreams, output: () => string): Promise<string> {
  let timer: NodeJS.Timeout | undefined
  try {
    return await new Promise<string>((resolve, reject) => {
      const fail = (why: string) => reject(new Error(`the server ${why}:\n${output()}`))
      timer = setTimeout(() => fail(`was not ready within ${START_SECONDS} s`), START_SECONDS * 1000)
      child.once('close', (code, signal) => fail(`ended with ${code ?? signal}`))
      createInterface({ input: child.stdout }).on('line', (line) => {
        const url = /https?:\/\/[^\s/]+:\d+/.exec(line)?.[0]
        if (url !== undefined) resolve(url)
      })
    })
  } catch (error) {
    await end(child, 'SIGKILL')
    throw error
  } finally {
    clearTimeout(timer)
  }
}

function spawnNode(args: string[], env: Variables): ChildProcessWithoutNullStreams {
  const child = spawn(process.execPath, args, { cwd: ROOT, env: env as NodeJS.ProcessEnv, stdio: 'pipe' })
  running.add(child)
  child.once('close', () => running.delete(child))
  // A child that is gone must not take the test with it; its exit code is known anyway.
  child.stdin.on('error', () => {})
  return child
}

function collect(child: ChildProcessWithoutNullStreams): () => string {
  const chunks: Buffer[] = []
  child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk))
  child.stderr.on('data', (chunk: Buffer) => chunks.push(chunk))
  return () => Buffer.concat(chunks).toString('utf8')
}

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<Exit> {
  if (running.has(child)) {
    const closed = once(child, 'close')
    child.kill(signal)
    await closed
  }
  return { code: child.exitCode, signal: child.signalCode }
}

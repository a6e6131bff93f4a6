/** Steps that say how they went and are counted, and programs run with a time limit. */
import { spawn } from 'node:child_process'

export const count = { passed: 0, failed: 0 }

export function say(line) {
  process.stdout.write(`package: ${line}\n`)
}

/** Runs `work`, says how it went, and resolves to its result; null when it failed. Steps that depend on it are then left out. */
export async function step(name, work) {
  const start = Date.now()
  try {
    const result = await work()
    count.passed += 1
    say(`${name}: good (${((Date.now() - start) / 1000).toFixed(1)} s)`)
    return result ?? true
  } catch (error) {
    count.failed += 1
    say(`${name}: FAILED\n${error instanceof RunFailed ? error.message : error.stack}`)
    return null
  }
}

export class RunFailed extends Error {
  constructor(what, reason, output) {
    super(`${what}: ${reason}\n${output.trimEnd()}`)
    this.output = output
  }
}

/**
 * Runs a program and resolves to what it printed, both streams in one; rejects when its exit code is another than
 * `code`, or after `seconds`.
 */
export function run(program, args, { cwd, env = cleanEnvironment(), code: wanted = 0, seconds = 60 } = {}) {
  return new Promise((resolve, reject) => {
    const child = start(program, args, { cwd, env })
    const timer = setTimeout(() => child.end('SIGKILL'), seconds * 1000)
    child.process.on('close', (code, signal) => {
      clearTimeout(timer)
      if (code === wanted) return resolve(child.output())
      reject(
        new RunFailed(`${program} ${args.join(' ')}`, `ended with ${signal ?? code}, not ${wanted}`, child.output()),
      )
    })
  })
}

const running = new Set()
process.on('exit', () => {
  for (const child of running) child.end('SIGKILL')
})
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1))

/** A process in its own group, so that nothing of it outlives this one. */
export function start(program, args, { cwd, env = cleanEnvironment() }) {
  const child = spawn(program, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'], detached: true })
  let output = ''
  const collect = (chunk) => {
    output += chunk
  }
  child.stdout.setEncoding('utf8').on('data', collect)
  child.stderr.setEncoding('utf8').on('data', collect)
  child.on('error', (error) => collect(String(error)))
  const handle = {
    process: child,
    output: () => output,
    end(signal) {
      try {
        process.kill(-child.pid, signal)
      } catch {
        // It has ended.
      }
    },
  }
  running.add(handle)
  child.on('close', () => running.delete(handle))
  return handle
}

/** Without what `npm run` adds for its own scripts: the npm in a scratch project is to find its own project. */
export function cleanEnvironment(more = {}) {
  const ours =
    /^(npm_(package|lifecycle|command|execpath|node_execpath)|npm_config_(local_prefix|noproxy|node_gyp)|INIT_CWD)/
  const kept = Object.entries(process.env).filter(([name]) => !ours.test(name))
  const { DATABASE_URL: _url, HOST: _host, PORT: _port, NODE_PATH: _path, ...rest } = Object.fromEntries(kept)
  return { ...rest, ...more }
}

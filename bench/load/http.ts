/** A server in a process of its own, and wrk in front of it. */
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'
import { databaseUrl } from '../peers/recentn'
import type { Contender, Job, Urls } from '../types'

const run = promisify(execFile)
const ROOT = resolve(__dirname, '../..')
const LOADER = join(ROOT, 'test/support/run-typescript.cjs')
const SCRIPT = join(__dirname, 'wrk.lua')

export const CONNECTIONS = 64
export const GROUPS = 1000
export const BULK = 100

/** Where the n-th append goes: as in wrk.lua. */
export function groupOf(op: number): number {
  return (op * 617) % GROUPS
}

export interface HttpServer {
  url: string
  stop(): Promise<void>
}

/** recentn as `npm start` runs it; a peer as an Express app. */
export function startHttp(job: Job, contender: Contender): Promise<HttpServer> {
  if (contender.name === 'recentn') return startRecentn(job.urls)
  return start(['--require', LOADER, join(ROOT, 'bench/app.ts'), job.engine, contender.name], job.urls)
}

export function startRecentn(urls: Urls): Promise<HttpServer> {
  return start([join(ROOT, 'dist/src/main.js')], urls)
}

async function start(args: string[], urls: Urls): Promise<HttpServer> {
  const env = {
    ...process.env,
    NODE_ENV: 'production',
    BENCH_URLS: JSON.stringify(urls),
    DATABASE_URL: databaseUrl(urls.engine),
    PORT: '0',
    HOST: '127.0.0.1',
  }
  const child = spawn(process.execPath, args, { env, cwd: ROOT, stdio: ['ignore', 'pipe', 'inherit'] })
  const kill = () => child.kill('SIGKILL')
  process.on('exit', kill)
  const url = await readyUrl(child)
  const stop = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return
    const closed = once(child, 'exit')
    child.kill('SIGTERM')
    await closed
    process.off('exit', kill)
  }
  return { url, stop }
}

function readyUrl(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    child.once('exit', (code) => reject(new Error(`the server ended with ${code}`)))
    createInterface({ input: child.stdout as NodeJS.ReadableStream }).on('line', (line) => {
      const url = /http:\/\/[^\s/]+:\d+/.exec(line)?.[0]
      if (url !== undefined) resolve(url)
    })
  })
}

export interface Load {
  requests: number
  microseconds: number
  bytes: number
  /** Answers of status 400 or more. */
  refused: number
  /** Connections that failed, answers that did not come. */
  broken: number
  p50: number
  p99: number
}

export async function wrk(job: Job, url: string, ms: number, mode: string, prefix: string): Promise<Load> {
  if (job.wrk === undefined) throw new Error('wrk is missing')
  const seconds = Math.max(1, Math.round(ms / 1000))
  const args = ['-t1', `-c${CONNECTIONS}`, `-d${seconds}s`, '-s', SCRIPT, url, '--', mode, prefix, String(GROUPS)]
  const env = job.wrk.libraryPath === undefined ? process.env : { ...process.env, LD_LIBRARY_PATH: job.wrk.libraryPath }
  const { stdout } = await run(job.wrk.path, args, { env })
  const found = /^result (.+)$/m.exec(stdout)?.[1]
  if (found === undefined) throw new Error(`wrk said nothing of use: ${stdout}`)
  return JSON.parse(found) as Load
}

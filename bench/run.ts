/** Runs jobs, each in a fresh process: nobody's garbage or optimised code is another's. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join, resolve } from 'node:path'
import type { Job, Outcome } from './types'

const LOADER = resolve(__dirname, '../test/support/run-typescript.cjs')

export async function runJob(job: Job): Promise<Outcome> {
  const env = { ...process.env, BENCH_JOB: JSON.stringify(job), NODE_ENV: 'production' }
  const child = spawn(process.execPath, ['--require', LOADER, join(__dirname, 'job.ts')], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const kill = () => child.kill()
  process.on('exit', kill)
  let text = ''
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk
  })
  const [code, signal] = (await once(child, 'close')) as [number | null, string | null]
  process.off('exit', kill)
  try {
    return JSON.parse(text.trim().split('\n').at(-1) as string) as Outcome
  } catch {
    const fault = `its process ended with ${code ?? signal}`
    return { figure: null, faults: [fault], note: `FAILED: ${fault}` }
  }
}

export function median(figures: readonly number[]): number {
  const sorted = [...figures].sort((a, b) => a - b)
  const middle = sorted.length / 2
  return sorted.length % 2 === 1
    ? (sorted[Math.floor(middle)] as number)
    : ((sorted[middle - 1] as number) + (sorted[middle] as number)) / 2
}

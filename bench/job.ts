/** One run of one contender in a process of its own: `node job.js`, the job in BENCH_JOB, the outcome as JSON. */
import type { Job, Outcome } from './types'
import { runHere } from './workloads'

async function main(): Promise<void> {
  const job = JSON.parse(process.env.BENCH_JOB as string) as Job
  let outcome: Outcome
  try {
    outcome = await runHere(job)
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error)
    outcome = { figure: null, faults: [text], note: `FAILED: ${text}` }
    process.stderr.write(`${error instanceof Error ? error.stack : text}\n`)
  }
  process.stdout.write(`${JSON.stringify(outcome)}\n`)
  // A pool that a failed run left open must not keep the process.
  process.exit(0)
}

void main()

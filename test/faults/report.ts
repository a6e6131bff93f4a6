/** The report of a run: a line of JSON for each thing that was tried, which scripts/faults.mjs prints as tables. */
import { appendFileSync } from 'node:fs'

export interface FaultLine {
  type: 'fault'
  engine: string
  fault: string
  seconds: number
  /** Calls that were acknowledged while it lasted and until all was good again. */
  acknowledged: number
  /** Calls that were refused, by code. */
  refused: Record<string, number>
  /** The longest that a call waited for its refusal, and how long it was until calls of every kind were good again. */
  slowestErrorMs: number
  goodAgainMs: number
}

export interface VerdictLine {
  type: 'verdict'
  engine: string
  acknowledged: number
  lost: number
  twice: number
  gaps: number
  together: number
  missed: number
  raw: number
  unhandled: number
  leaked: number
  growthPercent: number
}

/** Another run, whose own test judges it: that it is in the report says that it was good. */
export interface RunLine {
  type: 'run'
  engine: string
  what: string
  text: string
}

/** Notes it in the file that RECENTN_FAULTS_REPORT names, and says it. */
export function report(line: FaultLine | VerdictLine | RunLine): void {
  const file = process.env.RECENTN_FAULTS_REPORT
  if (file) appendFileSync(file, `${JSON.stringify(line)}\n`)
  const { type, engine, ...rest } = line
  const text = type === 'run' ? `${line.what}: ${line.text}` : `${type} ${JSON.stringify(rest)}`
  process.stdout.write(`${engine}: ${text}\n`)
}

/** The password of the database that a command prints. Connections that are made at once share a run of it. */
import { execFile } from 'node:child_process'

/** As long as a store waits for a password. */
const RUN_MS = 5000

export function outputOf(command: string | undefined): (() => Promise<string>) | undefined {
  if (command === undefined) return undefined
  let running: Promise<string> | null = null
  return () => {
    running ??= run(command).finally(() => {
      running = null
    })
    return running
  }
}

/** Resolves without the end of the line. The error quotes no part of the command, which may have a secret. */
function run(command: string): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile('sh', ['-c', command], { timeout: RUN_MS, killSignal: 'SIGKILL' }, (error, output, said) => {
      const reason = said.trim() || `exit code ${error?.code ?? error?.signal}`
      if (error) reject(new Error(`RECENTN_PASSWORD_COMMAND: ${reason}`))
      else resolve(output.replace(/\r?\n$/, ''))
    })
  })
}

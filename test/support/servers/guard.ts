/**
 * Cleaning up after a test run that was killed. A small shell in another session waits for the end of a pipe
 * from this process, which comes however this process ends, and then runs a command.
 */
import { spawn } from 'node:child_process'

/** Runs `script` (POSIX shell, with `args` as $1, $2 …) when this process is gone; the answer calls that off. */
export function whenKilled(script: string, args: string[]): () => void {
  const guard = spawn('sh', ['-c', `cat >/dev/null; ${script}`, 'guard', ...args], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  // No shell, no guard: the tests themselves don't need it.
  guard.on('error', () => {})
  guard.unref()
  // A pipe is a socket here, which the types don't say; it must not keep a finished run from ending.
  ;(guard.stdin as unknown as { unref(): void }).unref()
  return () => guard.kill('SIGKILL')
}

/** The end of a server that npx has started. */

const LOOK_MS = 250

/**
 * A signal to npx ends npx and the shell between, but does not reach this process: the server would go on, and keep its
 * port. So the end of that shell becomes a SIGTERM for this process. Does nothing if npx has not started it.
 */
export function endWithNpx(environment: NodeJS.ProcessEnv): void {
  if (environment.npm_command !== 'exec') return
  const parent = process.ppid
  const timer = setInterval(() => {
    if (process.ppid === parent) return
    clearInterval(timer)
    process.kill(process.pid, 'SIGTERM')
  }, LOOK_MS)
  timer.unref()
}

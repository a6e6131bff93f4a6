/** What `npx recentn serve` needs that a program started by itself does not. */

const LOOK_MS = 250

/** Whether npx has started this process. */
export function isByNpx(environment: NodeJS.ProcessEnv): boolean {
  return environment.npm_command === 'exec'
}

/**
 * A signal to npx ends npx and the shell between, and does not come here: the server would go on, and keep its port.
 * So that it ends in order too, the end of that shell is one's own SIGTERM. Does nothing where npx has not started us.
 */
export function endWithNpx(environment: NodeJS.ProcessEnv): void {
  if (!isByNpx(environment)) return
  const parent = process.ppid
  const timer = setInterval(() => {
    if (process.ppid === parent) return
    clearInterval(timer)
    process.kill(process.pid, 'SIGTERM')
  }, LOOK_MS)
  timer.unref()
}

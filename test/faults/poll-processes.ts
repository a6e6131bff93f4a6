/** The processes under fire, whose number stays the same, however often one is killed. */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'

export class Processes {
  readonly #script: string
  readonly #arguments: string[]
  readonly #alive = new Map<number, ChildProcess>()
  readonly #onKilled: (pid: number) => void
  #isEnding = false
  kills = 0
  /** How processes ended that were not killed. */
  readonly crashes: string[] = []

  constructor(args: string[], onKilled: (pid: number) => void, script = 'poll-fire-child.mjs') {
    this.#script = script
    this.#arguments = args
    this.#onKilled = onKilled
  }

  async start(count: number): Promise<void> {
    const children = Array.from({ length: count }, () => this.#spawn())
    await Promise.all(children.map((child) => once(child, 'message')))
  }

  #spawn(): ChildProcess {
    const child = fork(path.join(__dirname, this.#script), this.#arguments, { execArgv: [] })
    const pid = child.pid as number
    this.#alive.set(pid, child)
    child.on('exit', (code, signal) => {
      this.#alive.delete(pid)
      if (signal === 'SIGKILL') this.#onKilled(pid)
      // A process that has only just begun ends by the signal itself.
      else if (!(this.#isEnding && (code === 0 || signal === 'SIGTERM'))) this.crashes.push(`${signal ?? code}`)
      if (!this.#isEnding) this.#spawn()
    })
    return child
  }

  /** One of these, if there is one, otherwise any. */
  kill(pids: readonly number[]): void {
    const among = pids.filter((pid) => this.#alive.has(pid))
    const choice = among.length > 0 ? among : [...this.#alive.keys()]
    const pid = choice[Math.floor(Math.random() * choice.length)]
    if (pid !== undefined && this.#alive.get(pid)?.kill('SIGKILL')) this.kills++
  }

  async end(signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    this.#isEnding = true
    const children = [...this.#alive.values()]
    const exits = children.map((child) => once(child, 'exit'))
    for (const child of children) child.kill(signal)
    await Promise.all(exits)
  }
}

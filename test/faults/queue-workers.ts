/** Processes that work on a queue under fire: queue-fire-child.mjs, killed at random and started again. */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'

/** The workers, whose number stays the same, however often one is killed. */
export class QueueWorkers {
  readonly #arguments: string[]
  readonly #count: number
  readonly #alive = new Set<ChildProcess>()
  #ending = false
  kills = 0
  /** How processes ended that were not killed. */
  readonly crashes: string[] = []

  /** `options` are the workers'; queue-fire-child.mjs says which. */
  constructor(count: number, at: { url: string; queue: string; ledger: string }, options: object) {
    this.#count = count
    this.#arguments = [at.url, at.queue, at.ledger, JSON.stringify(options)]
  }

  async start(): Promise<void> {
    const children = Array.from({ length: this.#count }, () => this.#spawn())
    await Promise.all(children.map((child) => once(child, 'message')))
  }

  #spawn(): ChildProcess {
    const child = fork(path.join(__dirname, 'queue-fire-child.mjs'), this.#arguments, { execArgv: [] })
    this.#alive.add(child)
    child.on('exit', (code, signal) => {
      this.#alive.delete(child)
      if (signal !== 'SIGKILL' && !(this.#ending && code === 0)) this.crashes.push(`${signal ?? code}`)
      if (!this.#ending) this.#spawn()
    })
    return child
  }

  /** One of them, at any moment of its life. */
  killOne(): void {
    const one = [...this.#alive][Math.floor(Math.random() * this.#alive.size)]
    if (one?.kill('SIGKILL')) this.kills++
  }

  async end(signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    this.#ending = true
    const exits = [...this.#alive].map((child) => once(child, 'exit'))
    for (const child of this.#alive) child.kill(signal)
    await Promise.all(exits)
  }
}

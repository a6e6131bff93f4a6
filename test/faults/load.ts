/** The processes of the load: an ordinary one, and one that faults may kill. */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import { pause } from '../support/timing'

export const POOL_SIZE = 10
export const GROUPS = 40
export const VISIBILITY_SECONDS = 10
/** The settings of a user whose calls may not hang. A statement then waits for a lock for 3 seconds at most. */
export const STATEMENT_SECONDS = 5

export interface Measured {
  heapBytes: number
  waiting: number
  /** Connections that were never free any more: their numbers, here and at the server, and whether they are closed. */
  busy: string[]
}

type Command = 'calm' | 'clock' | 'autumn' | 'hog' | 'measure' | 'stop'

export class Load {
  readonly #children = new Map<string, ChildProcess>()
  readonly #ending = new Set<ChildProcess>()
  readonly #url: string
  readonly #file: string
  /** How processes ended that were not killed. */
  readonly crashes: string[] = []

  constructor(url: string, file: string) {
    this.#url = url
    this.#file = file
  }

  get names(): string[] {
    return [...this.#children.keys()]
  }

  /** Resolves when it is at work. */
  async start(label: string): Promise<void> {
    const task = {
      label,
      url: this.#url,
      file: this.#file,
      poolSize: POOL_SIZE,
      groups: GROUPS,
      statementTimeoutSeconds: STATEMENT_SECONDS,
      visibilitySeconds: VISIBILITY_SECONDS,
    }
    const child = fork(path.join(__dirname, 'load-child.mjs'), [JSON.stringify(task)], { execArgv: ['--expose-gc'] })
    this.#children.set(label, child)
    const ended = once(child, 'exit').then(([code, signal]) => {
      if (!this.#ending.has(child)) this.crashes.push(`${label}: ${signal ?? code}`)
    })
    await Promise.race([once(child, 'message'), ended])
  }

  async kill(label: string): Promise<void> {
    const child = this.#children.get(label)
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return
    this.#ending.add(child)
    const exit = once(child, 'exit')
    child.kill('SIGKILL')
    await exit
  }

  tell(command: Command, value: number | null = null, only?: string): void {
    for (const [label, child] of this.#children) {
      if (only === undefined || only === label) child.send({ command, value }, () => {})
    }
  }

  async measure(label: string): Promise<Measured> {
    const child = this.#children.get(label) as ChildProcess
    const answer = once(child, 'message') as Promise<[Measured]>
    child.send({ command: 'measure', value: null })
    return (await answer)[0]
  }

  /** Ends all loops, closes the stores and lets the processes end by themselves. */
  async stop(): Promise<Measured[]> {
    const children = [...this.#children.values()]
    for (const child of children) this.#ending.add(child)
    const ends = children.map(async (child) => {
      const answer = once(child, 'message') as Promise<[Measured]>
      const exit = once(child, 'exit') as Promise<[number | null]>
      child.send({ command: 'stop', value: null })
      const [measured] = await answer
      const [code] = await exit
      if (code !== 0) this.crashes.push(`at its end: ${code}`)
      return measured
    })
    return Promise.all(ends)
  }

  async killAll(): Promise<void> {
    await Promise.all(this.names.map((label) => this.kill(label)))
    await pause(0)
  }
}

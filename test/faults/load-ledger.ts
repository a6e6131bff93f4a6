/**
 * The lines of the processes of the load. Times are milliseconds of the clock that all processes share. The lines:
 * - `append|send|put|settle|receive|read|consume <process> <asked> <answered> …`: a call that was acknowledged, with
 *   `<group> <id> <member>`, `<queue/id> <what> <priority>`, `<key> <n> <version>`, `<queue/id> <receive count>`, and for a consumer
 *   its life and its cursor
 * - `start <queue/id> <what> <receive count> <now> <until>`, `end <queue/id> <receive count> <now>`: a handler; until
 *   when no other process may have the message
 * - `seen <life> <sync id> <key> <n> <what>`: a consumer was given this change, which that put has made
 * - `refused <kind> <process> <asked> <answered> <code> <what> <text>`, `unhandled <process> <text>`
 * - `starved <process> <from> <to> <ms>`: so long of that time the process was late, without computing
 */
import { closeSync, openSync, readSync } from 'node:fs'

/** The kinds of calls whose first good answer after a fault is waited for. */
export const KINDS = ['append', 'send', 'put', 'settle', 'receive', 'read', 'consume'] as const
export type Kind = (typeof KINDS)[number]

export interface Good {
  kind: Kind
  process: string
  asked: number
  answered: number
  words: string[]
}

export interface Refused {
  kind: string
  process: string
  asked: number
  answered: number
  code: string
  what: string
  text: string
}

interface Starved {
  process: string
  from: number
  to: number
  ms: number
}

export interface Handled {
  message: string
  what: string
  receiveCount: number
  start: number
  /** Until then no other process may have it. */
  until: number
  end: number | null
}

export const ALLOWED = ['conflict', 'overloaded', 'database_unavailable', 'outcome_unknown']

const isKind = (word: string): word is Kind => (KINDS as readonly string[]).includes(word)

/** Milliseconds of the clock by which the processes write down when something happened. */
export const clock = (): number => Number(process.hrtime.bigint() / 1000n) / 1000

/** Reads what was added to the ledger since the last look. */
export class LoadLedger {
  readonly good: Good[] = []
  readonly refused: Refused[] = []
  readonly handled: Handled[] = []
  readonly seen = new Map<string, { syncId: bigint; key: string; n: number; what: string }[]>()
  readonly unhandled: string[] = []
  readonly #starved: Starved[] = []
  readonly #open = new Map<string, Handled>()
  readonly #file: number
  #rest = ''

  constructor(file: string) {
    this.#file = openSync(file, 'a+')
  }

  close(): void {
    closeSync(this.#file)
  }

  read(): void {
    const bytes = Buffer.alloc(1024 * 1024)
    for (;;) {
      const length = readSync(this.#file, bytes, 0, bytes.length, null)
      if (length === 0) return
      const lines = (this.#rest + bytes.toString('latin1', 0, length)).split('\n')
      this.#rest = lines.pop() ?? ''
      for (const line of lines) if (line.endsWith(' .')) this.#take(line.split(' ').slice(0, -1))
    }
  }

  /** How long the process of the call had no processor while the call ran. */
  starvedMs({ process, asked, answered }: Pick<Refused, 'process' | 'asked' | 'answered'>): number {
    let ms = 0
    for (const one of this.#starved) if (one.process === process && one.to > asked && one.from < answered) ms += one.ms
    return ms
  }

  #take([word = '', ...rest]: string[]): void {
    const [first = '', second = '', third = '', fourth = '', fifth = '', sixth = ''] = rest
    if (isKind(word)) {
      const [asked, answered] = [Number(second), Number(third)]
      this.good.push({ kind: word, process: first, asked, answered, words: rest.slice(3) })
    } else if (word === 'start') {
      const [receiveCount, start, until] = [Number(third), Number(fourth), Number(fifth)]
      const handled: Handled = { message: first, what: second, receiveCount, start, until, end: null }
      this.handled.push(handled)
      this.#open.set(`${first} ${third}`, handled)
    } else if (word === 'end') {
      const handled = this.#open.get(`${first} ${second}`)
      if (handled) handled.end = Number(third)
    } else if (word === 'seen') {
      const list = this.seen.get(first) ?? []
      list.push({ syncId: BigInt(second), key: third, n: Number(fourth), what: fifth })
      this.seen.set(first, list)
    } else if (word === 'unhandled') this.unhandled.push(rest.join(' '))
    else if (word === 'starved') {
      this.#starved.push({ process: first, from: Number(second), to: Number(third), ms: Number(fourth) })
    } else if (word === 'refused') {
      const [asked, answered] = [Number(third), Number(fourth)]
      const text = rest.slice(6).join(' ')
      this.refused.push({ kind: first, process: second, asked, answered, code: fifth, what: sixth, text })
    }
  }
}

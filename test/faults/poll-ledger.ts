/**
 * The ledger that handlers under fire keep outside of the database, a file that all processes append to, a line each time:
 * - `start <table> <n> <claim> <attempt> <now, ms>`, then one of
 * - `end <table> <n> <claim> <attempt> <now>`, `failed …`, or nothing when the process was killed in between
 * - `lost <table> <n> <claim> <now>`: the handler learned that its claim is lost
 * - `killed <pid>`: by the test, when the process was gone
 * - `fault <code> <text>`: an error of the database that a poller reported
 *
 * A process that lives holds its claims, so that a row which two had at once is seen by the order of the lines. A second
 * `start` before the `end` of one whose process was not killed.
 */
import { linesOf } from './ledger-lines'

export interface Handling {
  /** `<pid>-<number>` */
  claim: string
  attempt: number
  startedAt: number
  isOver: boolean
  /** Null: it runs, or it was cut off. */
  outcome: 'end' | 'failed' | null
}

export class Ledger {
  /** By `<table> <n>`, in the order of their beginnings. */
  readonly handlings = new Map<string, Handling[]>()
  readonly faults: string[] = []
  readonly twice: string[] = []
  readonly kills: number[] = []
  /** Claims whose handlers, or what came after them, learned that they are lost. */
  readonly lost = new Set<string>()
  readonly #open = new Map<string, Handling>()

  constructor(file: string) {
    for (const words of linesOf(file)) this.#read(words)
  }

  #read(words: string[]): void {
    const [word, table, n, claim = '', attempt, at] = words
    const row = `${table} ${n}`
    if (word === 'start') {
      const all = this.handlings.get(row) ?? []
      this.handlings.set(row, all)
      const held = all.find(({ isOver }) => !isOver)
      if (held) this.twice.push(`${row}: ${claim} beside ${held.claim}`)
      const one: Handling = { claim, attempt: Number(attempt), startedAt: Number(at), isOver: false, outcome: null }
      all.push(one)
      this.#open.set(claim, one)
    } else if (word === 'end' || word === 'failed') {
      Object.assign(this.#open.get(claim) as Handling, { isOver: true, outcome: word })
      this.#open.delete(claim)
    } else if (word === 'killed') {
      // Its claims belong to no process.
      this.kills.push(Number(table))
      for (const [key, one] of this.#open) {
        if (!key.startsWith(`${table}-`)) continue
        one.isOver = true
        this.#open.delete(key)
      }
    } else if (word === 'lost') this.lost.add(claim)
    else if (word === 'fault') this.faults.push(words.join(' '))
  }

  of(table: string): Map<string, Handling[]> {
    const rows = [...this.handlings].filter(([row]) => row.startsWith(`${table} `))
    return new Map(rows.map(([row, all]) => [row.slice(table.length + 1), all]))
  }

  /** For each table: how many handlings were cut off. */
  cuts(): Map<string, number> {
    const cuts = new Map<string, number>()
    for (const [row, all] of this.handlings) {
      const table = row.split(' ')[0] as string
      const cut = all.filter(({ isOver, outcome }) => isOver && outcome === null).length
      cuts.set(table, (cuts.get(table) ?? 0) + cut)
    }
    return cuts
  }

  /** Processes that run a handler of this table now. */
  pidsIn(table: string): number[] {
    const open = [...this.of(table).values()].flat().filter(({ isOver }) => !isOver)
    return [...new Set(open.map(({ claim }) => Number(claim.split('-')[0])))]
  }
}

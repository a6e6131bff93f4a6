/** What the parts of the bench tell each other. */

export const ENGINES = ['mariadb', 'sqlite', 'mysql'] as const
export type EngineName = (typeof ENGINES)[number]

/** A running server, with what it says about itself. */
export interface ServerFacts {
  url: string
  version: string
  origin: string
  durability: string
  stop(): Promise<void>
}

/** Where a contender finds its server: `engine` is recentn's own, and that of the SQL recipes. */
export interface Urls {
  engine: string
  redis?: string
  redisAlways?: string
  postgres?: string
}
export type ServerName = keyof Urls

/** The same for every contender. */
export interface NewItem {
  member: string
  payload?: unknown
  score?: number
}

export interface StoredItem {
  member: string | null
  payload: unknown
  /** In groups of the highest scores. */
  score?: number | null
}

/** A ring of the last 10 in each group, as a contender keeps it. */
export interface Ring {
  /**
   * Appends one; gives the number that orders it among its group's items, or -1 where it was refused in a way that
   * the contender is known for.
   */
  append(group: string, item: NewItem): Promise<number>
  /** Appends many in one request; `null` where the contender has no way to. */
  appendMany: ((items: readonly (NewItem & { group: string })[]) => Promise<void>) | null
  /** Newest first, at most 10. */
  recent(group: string): Promise<StoredItem[]>
  /** In the order asked. */
  recentMany(groups: readonly string[]): Promise<StoredItem[][]>
  /** How many appends the store says it took; where it counts them. */
  taken?(): Promise<number>
  /** Erases a member everywhere; how many items that were. */
  erase?(member: string): Promise<number>
  close(): Promise<void>
}

/** What a ring is wanted for: some contenders keep other tables or keys for it. */
export type Purpose = 'history' | 'distinct' | 'top' | 'erase'

export interface OpenRing {
  urls: Urls
  purpose: Purpose
  /** Throws away what is there. */
  fresh: boolean
}

/** Who takes part in a workload. */
export interface Participant {
  name: string
  /** For the table. */
  title: string
  server: ServerName
  /** How it works, for the report. */
  how: string
}

export interface Contender extends Participant {
  /** Ids are 0, 1, 2 … in each group. */
  gapless: boolean
  /** It is known to lose or refuse appends: its figure counts what is truly there, flagged. */
  unsound: boolean
  open(options: OpenRing): Promise<Ring>
}

/** What a message says: the same for every contender. */
export interface Letter {
  to: string
  subject: string
  text: string
  /** Which message this is. */
  mark: number
}

/** A running worker. */
export interface Work {
  /** Resolves when everything that was handled is settled. */
  stop(): Promise<void>
}

/** A work queue, as a contender keeps it: messages are gone once they are handled. */
export interface WorkQueue {
  send(letter: Letter): Promise<unknown>
  /** All in one call. */
  sendMany(letters: readonly Letter[]): Promise<unknown>
  /** Runs `handle` on each message, as concurrently as the contender's settings say. Faults are for the report. */
  work(handle: (letter: unknown) => void, fault: (text: string) => void): Promise<Work>
  /** After many sends: what the server would do by itself within a minute, and a short run must not wait for. */
  rested?(): Promise<unknown>
  /** How many messages are there still, handled or not. */
  left(): Promise<number>
  close(): Promise<void>
}

export interface QueueContender extends Participant {
  /** An empty queue; what was there is thrown away. */
  open(urls: Urls): Promise<WorkQueue>
}

export interface Job {
  workload: string
  contender: string
  urls: Urls
  engine: EngineName
  /** Measured time. */
  ms: number
  warmUpMs: number
  /** Smaller everywhere: a smoke run. */
  quick: boolean
  /** Path of wrk and its environment's library path. */
  wrk?: { path: string; libraryPath: string | undefined }
}

export interface Outcome {
  /** In the workload's unit; null where a check failed. */
  figure: number | null
  /** Milliseconds. */
  p50?: number
  p99?: number
  /** What the checks found wrong. */
  faults: string[]
  /** What was checked, or lost, in words. */
  note: string
}

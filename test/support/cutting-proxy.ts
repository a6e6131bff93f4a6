/**
 * A TCP proxy before a MySQL or MariaDB server that cuts connections, at a chosen moment of a statement or at any. It
 * reads along in what the client sends, as far as it needs to see a COMMIT: packets of 3 bytes of length, 1 of sequence,
 * and a body that for a query is 0x03, perhaps two bytes of query attributes, and the statement.
 */
import { connect, createServer, type Server, type Socket } from 'node:net'
import { freePort } from './servers/program'
import { pause } from './timing'

/**
 * When a statement is cut: before the server gets it; when half of its packet has been sent on; when all of it has,
 * whatever becomes of it; once the server's answer is there, which the client never sees. `between`: of a packet of several
 * statements the client sees the first answer, and then nothing; the connection stands.
 */
export type Moment = 'before' | 'half' | 'during' | 'after' | 'between'

interface Pair {
  client: Socket
  server: Socket
}

export class CuttingProxy {
  readonly #server: Server
  readonly #target: { host: string; port: number }
  readonly #pairs = new Set<Pair>()
  readonly #swallowed = new WeakSet<Pair>()
  /** The moments of the statements to come that are cut; those beyond are let through. */
  #moments: Moment[] = []
  #isIt: (sql: string) => boolean = isCommit
  #cut: () => void = () => {}
  #recorded: string[] | null = null
  readonly #rewriting = new Map<string, { from: Buffer; to: Buffer; times: number }>()
  #refusing = false
  #stalled = false
  #delayMs = 0
  #port = 0

  private constructor(target: { host: string; port: number }) {
    this.#target = target
    this.#server = createServer((client) => this.#accept(client))
  }

  /** A proxy before the server of a database URL. */
  static async before(url: string): Promise<CuttingProxy> {
    const { hostname, port } = new URL(url)
    const proxy = new CuttingProxy({ host: hostname, port: Number(port || 3306) })
    // No other process may get it while the proxy refuses connections.
    proxy.#port = await freePort()
    await proxy.#listen()
    return proxy
  }

  /** The same database, by way of the proxy. */
  through(url: string): string {
    const own = new URL(url)
    own.hostname = '127.0.0.1'
    own.port = String(this.#port)
    return own.toString()
  }

  /** How many connections there are. */
  get size(): number {
    return this.#pairs.size
  }

  /** Cuts the next COMMITs, one for each moment; resolves when the last of them was cut. */
  cutCommits(...moments: Moment[]): Promise<void> {
    return this.cutStatements(isCommit, ...moments)
  }

  /** The same of the statements that are meant, where they come in one piece. */
  cutStatements(isIt: (sql: string) => boolean, ...moments: Moment[]): Promise<void> {
    this.#isIt = isIt
    this.#moments = moments
    if (moments.length === 0) return Promise.resolve()
    return new Promise((resolve) => {
      this.#cut = resolve
    })
  }

  /**
   * Puts other words of the same length into what clients send from now on, so many times: a server that understands
   * something else. Words that come in two pieces are let through.
   */
  rewrite(from: string, to: string, times = Number.POSITIVE_INFINITY): void {
    if (to.length > from.length) throw new Error('the length of a packet stays as it is')
    this.#rewriting.set(from, { from: Buffer.from(from), to: Buffer.from(to.padEnd(from.length)), times })
  }

  /** The packets that clients send from now on: one for each round trip. */
  record(): string[] {
    this.#recorded = []
    return this.#recorded
  }

  /** Lets nothing through any more, either way, while all connections stand: a server that hangs. For good. */
  stall(): void {
    this.#stalled = true
    for (const { client, server } of this.#pairs) for (const socket of [client, server]) socket.pause()
  }

  /** The same, while the server ends what it had begun on the connections: it keeps none of their locks. */
  hang(): void {
    this.stall()
    for (const { server } of this.#pairs) {
      // Its end would end the client's half, too.
      server.removeAllListeners('close')
      server.destroy()
    }
  }

  /** Swallows everything on the connections that there are, which stand: half-open ones. New connections are fine. */
  swallow(): void {
    for (const pair of this.#pairs) {
      for (const socket of [pair.client, pair.server]) socket.pause()
      this.#swallowed.add(pair)
    }
  }

  /** The server hears at last that those connections are gone, as by its keep-alive. */
  endSwallowed(): void {
    for (const pair of this.#pairs) if (this.#swallowed.has(pair)) this.#end(pair)
  }

  /** Everything arrives so many milliseconds later, either way. */
  delay(ms: number): void {
    this.#delayMs = ms
  }

  /** Cuts one of the connections; `at` from 0 to 1 chooses. */
  cutOne(at: number): void {
    const pair = [...this.#pairs][Math.floor(at * this.#pairs.size)]
    if (pair) this.#end(pair)
  }

  /** Cuts all connections and refuses new ones, until `accept`. */
  refuse(): void {
    this.#refusing = true
    this.#server.close()
    for (const pair of this.#pairs) this.#end(pair)
  }

  async accept(): Promise<void> {
    this.#refusing = false
    await this.#listen()
  }

  /**
   * For `ms` milliseconds, pauses between `least` and `most` of them and then has something cut; every tenth time it
   * cuts all connections before, and refuses new ones for longer than what is tried again twice. Resolves to how
   * often there was a connection to cut.
   */
  async cutFor(ms: number, [least, most]: [number, number], cut: (step: number) => void): Promise<number> {
    let cuts = 0
    const end = performance.now() + ms
    for (let step = 1; performance.now() < end; step++) {
      await pause(least + Math.random() * (most - least))
      if (step % 10 === 0) {
        this.refuse()
        await pause(500)
        await this.accept()
      }
      if (this.size > 0) cuts++
      cut(step)
    }
    await this.cutCommits()
    return cuts
  }

  async close(): Promise<void> {
    if (!this.#refusing) this.refuse()
  }

  #listen(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#server.once('error', reject)
      this.#server.listen(this.#port, '127.0.0.1', resolve)
    })
  }

  #accept(client: Socket): void {
    // A connection may still come out of the queue of a server that is closing.
    if (this.#refusing) {
      client.destroy()
      return
    }
    const pair = { client, server: connect({ ...this.#target, noDelay: true }) }
    client.setNoDelay(true)
    this.#pairs.add(pair)
    const end = () => this.#end(pair)
    for (const socket of [client, pair.server]) socket.on('error', end).on('close', end)
    let isLost = false
    let isLeftBetween: boolean | null = null
    const isMet = statementFinder((sql) => {
      this.#recorded?.push(sql)
      return this.#moments.length > 0 && this.#isIt(sql)
    })
    client.on('data', (chunk) => {
      const moment = isMet(chunk) ? this.#moments.shift() : undefined
      if (moment === 'half') pair.server.write(chunk.subarray(0, chunk.length >> 1))
      else if (moment !== 'before') this.#pass(this.#rewritten(chunk), pair.server)
      if (moment === 'after') isLost = true
      else if (moment === 'between') isLeftBetween = false
      else if (moment !== undefined) this.#cutNow(pair)
    })
    pair.server.on('data', (chunk) => {
      if (isLost) this.#cutNow(pair)
      else if (isLeftBetween === false) {
        isLeftBetween = true
        this.#pass(chunk.subarray(0, 4 + chunk.readUIntLE(0, 3)), client)
        if (this.#moments.length === 0) this.#cut()
      } else if (isLeftBetween) return
      else this.#pass(chunk, client)
    })
    if (this.#stalled) this.stall()
  }

  #pass(chunk: Buffer, to: Socket): void {
    if (this.#delayMs === 0) to.write(chunk)
    else setTimeout(() => to.writable && to.write(chunk), this.#delayMs)
  }

  #rewritten(chunk: Buffer): Buffer {
    if (this.#rewriting.size === 0) return chunk
    const copy = Buffer.from(chunk)
    for (const words of this.#rewriting.values()) {
      for (let at = copy.indexOf(words.from); at >= 0 && words.times > 0; at = copy.indexOf(words.from, at)) {
        words.to.copy(copy, at)
        words.times--
      }
    }
    return copy
  }

  #cutNow(pair: Pair): void {
    this.#end(pair)
    if (this.#moments.length === 0) this.#cut()
  }

  #end(pair: Pair): void {
    // Bytes that were written to the server still go out; the client sees a reset or an end.
    // A stalled socket that is not read would never see its end.
    if (this.#stalled || this.#swallowed.has(pair)) pair.server.destroy()
    else pair.server.end()
    pair.server.unref()
    pair.client.destroy()
    this.#pairs.delete(pair)
  }
}

/** Whether such a statement comes to its end in a chunk of what a client sends. */
function statementFinder(isIt: (sql: string) => boolean): (chunk: Buffer) => boolean {
  let rest = Buffer.alloc(0)
  let skip = 0
  return (chunk) => {
    let found = false
    let at = Math.min(skip, chunk.length)
    skip -= at
    const bytes = rest.length === 0 ? chunk.subarray(at) : Buffer.concat([rest, chunk])
    at = 0
    while (at + 4 <= bytes.length) {
      const end = at + 4 + bytes.readUIntLE(at, 3)
      // Only of what could be a packet with a COMMIT the rest is waited for.
      if (end > bytes.length && end - at > LONGEST_COMMIT) {
        skip = end - bytes.length
        at = bytes.length
        break
      }
      if (end > bytes.length) break
      if (bytes[at + 4] === QUERY && isIt(bytes.toString('latin1', at + 5, end).replace(ATTRIBUTES, ''))) found = true
      at = end
    }
    rest = Buffer.from(bytes.subarray(at))
    return found
  }
}

/** A COMMIT by itself, or behind the statements that were sent with it. */
const isCommit = (sql: string) => sql === 'COMMIT' || sql.endsWith(';\nCOMMIT')

const QUERY = 0x03
/** MySQL's query attributes come first: none of them, in one set. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what the protocol has there
const ATTRIBUTES = /^\x00\x01/
const LONGEST_COMMIT = 1024 * 1024

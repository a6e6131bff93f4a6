/**
 * A network in a process of its own, so that it takes no time from the event loop that is measured: TCP proxies that pass
 * on each chunk a fixed time after it came, in each direction. The parent sends the delay and the targets, and gets the
 * ports; the process ends with the parent.
 *
 * All chunks have the same delay, so the order in which they came is the order in which they are due, for all connections
 * together: one queue is enough, and no chunk waits for another one. The queue holds as much as the delay lasts, so that
 * bandwidth stays what it is.
 */
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { constants, setPriority } from 'node:os'
import { performance } from 'node:perf_hooks'
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'

export interface Target {
  host: string
  port: number
}

export interface Wish {
  /** Milliseconds each way. */
  ms: number
  targets: Target[]
}

interface Chunk {
  dueMs: number
  from: Socket
  to: Socket
  /** Null for the end of what `from` sends. */
  bytes: Buffer | null
}

/** What may wait for a target that does not read. Its sender is not read meanwhile. */
const MAX_UNREAD_BYTES = 8 * 2 ** 20
/** How late the alarm rings, about: for the rest of the time the event loop turns, which keeps sockets read. */
const LATE_MS = 0.15
/** The first cell is what the alarm clock is to wait, in microseconds; nothing changes the second one. */
const CELLS = 2

/**
 * An alarm clock in a thread: Node's timers count in whole milliseconds, and waiting in a loop would take a core from the
 * servers. A wait for a cell of shared memory ends a tenth of a millisecond late.
 */
function waitForAlarms(cells: Int32Array): void {
  for (;;) {
    Atomics.wait(cells, 0, 0)
    Atomics.wait(cells, 1, 0, Atomics.exchange(cells, 0, 0) / 1000)
    parentPort?.postMessage(null)
  }
}

class Delay {
  readonly #ms: number
  readonly #cells = new Int32Array(new SharedArrayBuffer(CELLS * Int32Array.BYTES_PER_ELEMENT))
  #queue: Chunk[] = []
  #first = 0
  #isSet = false

  constructor(ms: number) {
    this.#ms = ms
    new Worker(__filename, { workerData: this.#cells }).on('message', this.#ring)
  }

  readonly #ring = (): void => {
    this.#isSet = false
    this.#passOn()
    this.#setAlarm()
  }

  add(from: Socket, to: Socket, bytes: Buffer | null): void {
    this.#queue.push({ dueMs: performance.now() + this.#ms, from, to, bytes })
    this.#setAlarm()
  }

  #setAlarm(): void {
    const next = this.#queue[this.#first]
    if (this.#isSet || next === undefined) return
    this.#isSet = true
    const microseconds = Math.floor((next.dueMs - performance.now() - LATE_MS) * 1000)
    if (microseconds < 1) {
      setImmediate(this.#ring)
      return
    }
    Atomics.store(this.#cells, 0, microseconds)
    Atomics.notify(this.#cells, 0)
  }

  #passOn(): void {
    const now = performance.now()
    for (let next = this.#queue[this.#first]; next && next.dueMs <= now; next = this.#queue[++this.#first]) send(next)
    if (this.#first < this.#queue.length / 2) return
    this.#queue = this.#queue.slice(this.#first)
    this.#first = 0
  }
}

function send({ from, to, bytes }: Chunk): void {
  if (bytes === null) to.end()
  else if (!to.destroyed && !to.write(bytes) && to.writableLength > MAX_UNREAD_BYTES && !from.isPaused()) {
    from.pause()
    to.once('drain', () => from.resume())
  }
}

function proxyOf({ host, port }: Target, delay: Delay): Promise<number> {
  const server = createServer({ allowHalfOpen: true, noDelay: true }, (client) => {
    const target = connect({ host, port, allowHalfOpen: true, noDelay: true })
    for (const [from, to] of [
      [client, target],
      [target, client],
    ] as const) {
      from.on('data', (bytes) => delay.add(from, to, bytes as Buffer))
      from.on('end', () => delay.add(from, to, null))
      from.on('error', () => to.destroy())
    }
  })
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port))
  })
}

/** A network does not wait for a core: where it is allowed to, the proxy goes before the others. */
function goFirst(): void {
  try {
    setPriority(constants.priority.PRIORITY_HIGHEST)
  } catch {
    // Then a round trip takes a little longer, as is measured and printed.
  }
}

if (isMainThread) {
  goFirst()
  process.once('message', async ({ ms, targets }: Wish) => {
    const delay = new Delay(ms)
    process.send?.(await Promise.all(targets.map((target) => proxyOf(target, delay))))
  })
  process.once('disconnect', () => process.exit(0))
} else {
  waitForAlarms(workerData as Int32Array)
}

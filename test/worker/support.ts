/** Shared by the tests of workers. */
import { openStore, type Store } from '../../src'
import type { Handler } from '../../src/shared/handler-types'
import type { Message, MessageState } from '../../src/shared/queue-types'
import type { Worker, WorkOptions } from '../../src/store/worker/types'
import { type Database, describeEngine, type EngineName, freshDatabase } from '../support/engines'
import { eventually } from '../support/timing'

export { pause as sleep } from '../support/timing'

/** Resolves when it holds; rejects when it doesn't within `ms`. */
export function until(what: string, holds: () => boolean | Promise<boolean>, ms = 20_000): Promise<void> {
  return eventually(ms, what, holds, 10)
}

/** As `until`, for as long as something moves on: rejects when `moved` has stayed the same for `ms`. */
export async function untilDone(what: string, holds: () => Promise<boolean>, moved: () => unknown, ms = 20_000) {
  for (let isDone = false; !isDone; ) {
    const seen = moved()
    const look = async () => {
      isDone = await holds()
      return isDone || moved() !== seen
    }
    await until(what, look, ms)
  }
}

/** Something that a test opens, and that everybody waits for till then. */
export class Barrier {
  open: () => void = () => {}
  readonly opened = new Promise<void>((resolve) => {
    this.open = resolve
  })
}

export async function sendNumbers(store: Store, queue: string, count: number, from = 0): Promise<void> {
  for (let start = 0; start < count; start += 500) {
    const length = Math.min(500, count - start)
    await store.queues.sendMany(
      queue,
      Array.from({ length }, (_, at) => ({ body: from + start + at })),
    )
  }
}

export async function inState(store: Store, queue: string, state: MessageState): Promise<number> {
  return (await store.queues.peek(queue, { state, limit: 1000 })).messages.length
}

export async function isEmpty(store: Store, queue: string): Promise<boolean> {
  // In both orders, for a message may move on between two looks.
  for (const state of ['ready', 'in-flight', 'delayed', 'in-flight', 'ready'] as const) {
    if ((await inState(store, queue, state)) > 0) return false
  }
  return true
}

export function numbers(messages: readonly Message[]): number[] {
  return messages.map(({ body }) => body as number).sort((a, b) => a - b)
}

export function upTo(count: number): number[] {
  return Array.from({ length: count }, (_, n) => n)
}

export interface WorkerContext {
  store: Store
  /** A queue of the test's own. */
  queue: string
  url: string
  /** A worker that is stopped when the test is over. */
  work(handler: Handler, settings?: WorkOptions): Worker
  /** Stops it when the test is over. */
  runs(worker: Worker): Worker
}

/** `describe` with a store, and with a new queue for each test. */
export function describeWithWorkers(
  engine: EngineName,
  title: string,
  options: { memory?: boolean },
  body: (context: WorkerContext) => void,
): void {
  describeEngine(engine, `${title}${options.memory ? ', in memory' : ''}`, () => {
    let database: Database
    let tests = 0
    const workers: Worker[] = []
    const context = {
      work: (handler, settings) => context.runs(context.store.queues.work(context.queue, handler, settings)),
      runs: (worker) => {
        workers.push(worker)
        return worker
      },
    } as WorkerContext

    beforeAll(async () => {
      database = await freshDatabase(engine, options)
      context.url = database.url
      context.store = await openStore({ url: database.url })
    })

    beforeEach(async () => {
      context.queue = `work-${++tests}`
      await context.store.queues.put(context.queue)
    })

    afterEach(async () => {
      await Promise.all(workers.splice(0).map((worker) => worker.stop({ timeoutSeconds: 0 })))
    })

    afterAll(async () => {
      await context.store?.close()
      await database?.drop()
    })

    body(context)
  })
}

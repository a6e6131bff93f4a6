/**
 * The queues that there are: their attributes and counts, and what is remembered of them. The base of `QueueRepository`,
 * which adds the messages.
 */
import type { DataSource, EntityManager } from 'typeorm'
import type { Session, Tx } from '../../database/engine'
import { sessionOf } from '../../database/session'
import { RecentnError } from '../../errors'
import { checkedPage, PREFIX_PAGE_RULES } from '../../fields/rules'
import { asQueue, asQueueStatus } from '../../results/queues'
import type { Page } from '../types'
import * as check from './check'
import type { OnReady, QueueContext } from './context'
import { Counts } from './counts'
import { queueOf } from './heads'
import { QueueMemory } from './memory'
import {
  dropQueue,
  ensureQueue,
  listHeads,
  type NamedHead,
  namedHead,
  pauseQueue,
  putQueue,
  updateQueue,
} from './queues'
import { promoteDue } from './receiving'
import type * as Queue from './types'

export class QueueCatalog {
  protected readonly session: Session
  protected readonly memory: QueueMemory
  protected readonly own: Omit<QueueContext, 'onReady'>
  readonly #counts: Counts
  readonly #isInside: boolean

  /** On a DataSource each call has transactions of its own; on an EntityManager it is part of that manager's. */
  constructor(source: DataSource | EntityManager | Session, isInside = !('read' in source) && 'queryRunner' in source) {
    this.session = sessionOf(source)
    this.memory = new QueueMemory(isInside)
    this.own = { session: this.session, memory: this.memory }
    this.#counts = new Counts()
    this.#isInside = isInside
  }

  async get(queue: string): Promise<Queue.QueueStatus | null> {
    check.checkQueue(queue)
    const named = await this.session.read((reader) => namedHead(reader, queue))
    if (named === null) return null
    // Its name may be another queue's by now; then there is nothing to promote for this one.
    await this.promoted(queue).catch((error: unknown) => {
      if (!(error instanceof RecentnError && error.code === 'queue_not_found')) throw error
    })
    return this.#statusOf(named)
  }

  async put(queue: string, settings: Queue.QueueSettings = {}): Promise<Queue.Queue & { created: boolean }> {
    check.checkSettings(queue, settings)
    return this.#set(queue, (tx) => putQueue(tx, queue, settings))
  }

  async ensure(queue: string, settings: Queue.QueueSettings = {}): Promise<Queue.Queue & { created: boolean }> {
    check.checkSettings(queue, settings)
    // The queue usually exists: reading it first takes no lock that senders would wait for. Inside a transaction the read may
    // be of an old snapshot, so that only the locking read counts.
    const there = this.#isInside ? null : await this.session.read((reader) => namedHead(reader, queue))
    if (there !== null) return asQueue({ ...queueOf(there.head, there.deadLetterQueue), created: false })
    return this.#set(queue, (tx) => ensureQueue(tx, queue, settings))
  }

  async update(queue: string, settings: Queue.QueueSettings): Promise<Queue.Queue> {
    check.checkSettings(queue, settings)
    return this.#set(queue, (tx) => updateQueue(tx, queue, settings))
  }

  async pause(queue: string): Promise<Queue.Queue> {
    check.checkQueue(queue)
    return this.#set(queue, (tx) => pauseQueue(tx, queue, true))
  }

  async resume(queue: string): Promise<Queue.Queue> {
    check.checkQueue(queue)
    const resumed = await this.#set(queue, (tx) => pauseQueue(tx, queue, false))
    this.becameReady(queue)
    return resumed
  }

  async #set<T>(queue: string, change: (tx: Tx) => Promise<T>): Promise<T> {
    const done = await this.session.write(change)
    this.memory.outdate(queue)
    return done
  }

  async deleteQueue(queue: string): Promise<boolean> {
    check.checkQueue(queue)
    const head = await dropQueue(this.session, queue)
    if (head !== null) this.memory.forget(head)
    return head !== null
  }

  async list(options: Page & { prefix?: string | undefined } = {}): Promise<Queue.QueuePage> {
    const { limit, after, prefix } = checkedPage(options, PREFIX_PAGE_RULES)
    const heads = await this.session.read((reader) => listHeads(reader, { limit: limit + 1, after, prefix }))
    const queues: Queue.QueueStatus[] = []
    for (const named of heads.slice(0, limit)) queues.push(await this.#statusOf(named))
    return { queues, nextAfter: heads.length > limit ? (queues.at(-1)?.queue ?? null) : null }
  }

  async #statusOf({ head, deadLetterQueue, isDeadLetterQueue }: NamedHead): Promise<Queue.QueueStatus> {
    const counted = await this.session.read((reader) => this.#counts.of(reader, head, this.#isInside))
    return asQueueStatus({ ...queueOf(head, deadLetterQueue), isDeadLetterQueue, ...counted })
  }

  /** Sees to what is due, so that what is read next shows it. */
  protected async promoted(queue: string): Promise<void> {
    await this.changed((onReady) => promoteDue(this.with(onReady), queue))
  }

  protected with(onReady: OnReady): QueueContext {
    return { ...this.own, onReady }
  }

  /** Runs a change, and tells once it is committed where messages became ready. */
  protected async changed<T>(work: (onReady: OnReady) => Promise<T>): Promise<T> {
    const queues = new Set<bigint>()
    const result = await work((queueId, major, minor) => {
      queues.add(queueId)
      this.memory.readyAt(queueId, major, minor)
    })
    for (const id of queues) {
      const queue = this.memory.nameOf(id)
      // One that nobody here has asked for has nobody here who waits.
      if (queue !== undefined) this.becameReady(queue)
    }
    return result
  }

  /** Messages became ready in a queue, by this process. */
  protected becameReady(_queue: string): void {}
}

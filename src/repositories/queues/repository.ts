/**
 * Work queues as a repository: checks what it is given and runs each operation in transactions of its session.
 * It owns queues, queue_messages, queue_archive and what belongs to them.
 */
import type { DataSource, EntityManager } from 'typeorm'
import type { Session } from '../../database/engine'
import { sessionOf } from '../../database/session'
import { invalidInput, RecentnError } from '../../errors'
import { checkedPage, PREFIX_PAGE_RULES } from '../checking'
import type { Page } from '../types'
import * as check from './check'
import { Counts } from './counts'
import { QueueMemory, queueOf } from './heads'
import { deleteMessage, getMessage, peekPage, purgeQueue } from './peek'
import { dueQueues, promoteQueue } from './promote'
import { dropQueue, listHeads, type NamedHead, namedHead, putQueue } from './queues'
import { promoteDue, takeNext, takeReady } from './receiving'
import { redriveQueue } from './redrive'
import { messageOf, type Receipt } from './rows'
import type { OnReady, SendRequest } from './send'
import { sendAlone } from './sending'
import type { Release, Settled } from './settle'
import {
  extendHeld,
  giveBackHeld,
  outcomeOf,
  readHandles,
  releaseHeld,
  removeHeld,
  type SettleOutcome,
  type Settling,
  validOf,
} from './settling'
import { sweepRest } from './sweep'
import type * as Queue from './types'

/** What is not urgent is swept so often. */
const REST_MS = 10_000

export class QueueRepository implements Queue.Queues {
  protected readonly session: Session
  readonly #memory: QueueMemory
  readonly #counts: Counts
  readonly #isInside: boolean
  #restAt = Number.NEGATIVE_INFINITY

  /** On a DataSource each call has transactions of its own; on an EntityManager it is part of that manager's. */
  constructor(source: DataSource | EntityManager | Session, isInside = !('read' in source) && 'queryRunner' in source) {
    this.session = sessionOf(source)
    this.#memory = new QueueMemory()
    this.#counts = new Counts()
    this.#isInside = isInside
  }

  async get(queue: string): Promise<Queue.QueueStatus | null> {
    check.checkSettings(queue, {})
    const named = await this.session.read((reader) => namedHead(reader, queue))
    return named === null ? null : this.#statusOf(named)
  }

  async put(queue: string, settings: Queue.QueueSettings = {}): Promise<Queue.Queue & { created: boolean }> {
    check.checkSettings(queue, settings)
    const put = await this.session.write((tx) => putQueue(tx, queue, settings))
    this.#memory.heads.delete(queue)
    this.becameReady(queue) // it may have been paused
    return put
  }

  async deleteQueue(queue: string): Promise<boolean> {
    check.checkSettings(queue, {})
    const head = await dropQueue(this.session, queue)
    if (head !== null) this.#memory.forget(head)
    return head !== null
  }

  async list(options: Page & { prefix?: string } = {}): Promise<Queue.QueuePage> {
    const { limit, after, prefix } = checkedPage(options, PREFIX_PAGE_RULES)
    const heads = await this.session.read((reader) => listHeads(reader, { limit: limit + 1, after, prefix }))
    const queues: Queue.QueueStatus[] = []
    for (const named of heads.slice(0, limit)) queues.push(await this.#statusOf(named))
    return { queues, nextAfter: heads.length > limit ? (queues.at(-1)?.queue ?? null) : null }
  }

  async #statusOf({ head, deadLetterQueue }: NamedHead): Promise<Queue.QueueStatus> {
    // Its name may be another queue's by now; then there is nothing to promote for this one.
    await this.#promoted(head.queue).catch((error: unknown) => {
      if (!(error instanceof RecentnError && error.code === 'queue_not_found')) throw error
    })
    const counted = await this.session.read((reader) => this.#counts.of(reader, head, this.#isInside))
    return { ...queueOf(head, deadLetterQueue), ...counted }
  }

  async send(queue: string, body: unknown, options: Queue.SendOptions = {}): Promise<Queue.Sent> {
    const [sent] = await this.sendRows(check.checkedSend(queue, body, options))
    return sent as Queue.Sent
  }

  async sendMany(queue: string, messages: readonly Queue.NewMessage[]): Promise<{ ids: bigint[] }> {
    const sent = await this.sendRows(check.checkedMessages(queue, messages))
    return { ids: sent.map(({ id }) => id) }
  }

  /** Sends checked messages, all or nothing. */
  protected sendRows(request: SendRequest): Promise<Queue.Sent[]> {
    return this.changed((onReady) => sendAlone(this.session, request, onReady))
  }

  async receive(queue: string, options: Queue.ReceiveOptions = {}): Promise<Queue.Message[]> {
    check.checkReceive(queue, options)
    if (options.waitSeconds) {
      throw invalidInput([{ pointer: '/waitSeconds', detail: 'must be 0 inside a transaction, and without a store' }])
    }
    return this.take(queue, options)
  }

  /** Claims what there is. */
  protected async take(queue: string, options: Queue.ReceiveOptions): Promise<Queue.Message[]> {
    const { max = 1, visibilityTimeoutSeconds, order = 'ready', cursor = 'default' } = options
    const request = { queue, max, visibilityTimeoutSeconds }
    const rows = await this.changed((onReady) => {
      const receiving = this.#with(onReady)
      return order === 'ready' ? takeReady(receiving, request) : takeNext(receiving, { ...request, cursor })
    })
    if (rows.length === 0) return []
    const head = await this.session.read((reader) => this.#memory.headOf(reader, queue))
    return rows.map((row) => messageOf(head, row, options))
  }

  async delete(queue: string, receiptHandles: string | readonly string[]): Promise<Queue.Deleted> {
    const handles = check.checkedHandles(queue, receiptHandles)
    const { done, failed } = await this.#settle(queue, handles, (valid) => this.removeHeld(queue, valid))
    return { deleted: done, failed }
  }

  /** Removes or archives what the receipts hold. */
  protected removeHeld(queue: string, receipts: readonly Receipt[]): Promise<Settled> {
    return removeHeld({ session: this.session, memory: this.#memory }, queue, receipts)
  }

  async release(
    queue: string,
    receiptHandles: string | readonly string[],
    options: Queue.ReleaseOptions = {},
  ): Promise<Queue.Released> {
    const handles = check.checkedHandles(queue, receiptHandles)
    const release = check.checkedRelease(options)
    const { done, failed } = await this.#settle(queue, handles, (valid) => this.releaseHeld(queue, valid, release))
    return { released: done, failed }
  }

  protected releaseHeld(queue: string, receipts: readonly Receipt[], release: Release): Promise<Settled> {
    return this.changed((onReady) => releaseHeld(this.#with(onReady), queue, receipts, release))
  }

  async extend(
    queue: string,
    receiptHandles: string | readonly string[],
    options: { visibilityTimeoutSeconds: number },
  ): Promise<Queue.Extended> {
    const handles = check.checkedHandles(queue, receiptHandles)
    const visibilityMs = check.checkedExtend(options)
    const { done, failed } = await this.#settle(queue, handles, (valid) => this.extendHeld(queue, valid, visibilityMs))
    return { extended: done, failed }
  }

  protected extendHeld(queue: string, receipts: readonly Receipt[], visibilityMs: number): Promise<Settled> {
    return this.changed((onReady) => extendHeld(this.#with(onReady), queue, receipts, visibilityMs))
  }

  /** Returns claims as if they had not been made: ready where they stood, with one receive less. */
  async giveBack(queue: string, receiptHandles: readonly string[]): Promise<void> {
    const handles = check.checkedHandles(queue, receiptHandles)
    await this.#settle(queue, handles, (valid) =>
      this.changed((onReady) => giveBackHeld(this.#with(onReady), queue, valid)),
    )
  }

  #with(onReady: OnReady): Settling {
    return { session: this.session, memory: this.#memory, onReady }
  }

  async #settle(
    queue: string,
    handles: readonly string[],
    settle: (valid: readonly Receipt[]) => Promise<Settled>,
  ): Promise<SettleOutcome> {
    const receipts = await readHandles({ session: this.session, memory: this.#memory }, queue, handles)
    const valid = validOf(receipts)
    return outcomeOf(receipts, valid.length === 0 ? new Set() : await settle(valid))
  }

  async peek(queue: string, options: Queue.PeekOptions = {}): Promise<Queue.MessagePage> {
    const page = check.checkedPeek(queue, options)
    await this.#promoted(queue)
    return this.session.read((reader) => peekPage(reader, queue, page))
  }

  async getMessage(queue: string, id: bigint, options: Queue.BodyOptions = {}): Promise<Queue.PeekedMessage | null> {
    check.checkMessage(queue, id, options)
    await this.#promoted(queue)
    return this.session.read((reader) => getMessage(reader, queue, id, options))
  }

  async deleteMessage(queue: string, id: bigint): Promise<boolean> {
    check.checkMessage(queue, id)
    return this.session.write((tx) => deleteMessage(tx, queue, id))
  }

  async redrive(queue: string, options: { max?: number } = {}): Promise<{ moved: number }> {
    const max = check.checkedRedrive(queue, options)
    await this.#promoted(queue)
    return { moved: await this.changed((onReady) => redriveQueue(this.session, queue, max, onReady)) }
  }

  async purge(queue: string): Promise<{ deleted: number }> {
    check.checkSettings(queue, {})
    return { deleted: await purgeQueue(this.session, queue) }
  }

  async #promoted(queue: string): Promise<void> {
    await this.changed((onReady) => promoteDue(this.#with(onReady), queue, 0))
  }

  /** One round of what time does to queues: resolves to how many messages it moved and whether there is more to do. */
  async sweep(): Promise<{ moved: number; more: boolean }> {
    let moved = 0
    for (const id of await this.session.read(dueQueues)) {
      moved += await this.changed((onReady) => promoteQueue(this.session, id, onReady))
    }
    if (performance.now() - this.#restAt < REST_MS) return { moved, more: false }
    const more = await sweepRest(this.session)
    if (!more) this.#restAt = performance.now()
    return { moved, more }
  }

  /** Runs a change, and tells once it is committed where messages became ready. */
  protected async changed<T>(work: (onReady: OnReady) => Promise<T>): Promise<T> {
    const queues = new Set<bigint>()
    const result = await work((queueId, major, minor) => {
      queues.add(queueId)
      this.#memory.readyAt(queueId, major, minor)
    })
    for (const { id, queue } of this.#memory.heads.values()) if (queues.has(id)) this.becameReady(queue)
    return result
  }

  /** Messages became ready in a queue, by this process. */
  protected becameReady(_queue: string): void {}
}

/**
 * Work queues as a repository: checks what it is given and runs each operation in transactions of its session.
 * It owns queues, recentn_queue_messages, recentn_queue_archive and what belongs to them.
 */
import { invalidInput } from '../../errors'
import { asSent, asSentMany } from '../../results/queues'
import { QueueCatalog } from './catalog'
import * as check from './check'
import { deleteMessage, getMessage, peekPage } from './peek'
import { dueQueues, promoteQueue } from './promote'
import { takeNext, takeReady } from './receiving'
import { countRedrivable, redriveQueue } from './redrive'
import { countPurgeable, purgeQueue } from './removal'
import { messageOf, type Receipt } from './rows'
import type { SendRequest } from './send'
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
  validOf,
} from './settling'
import { sweepRest } from './sweep'
import type * as Queue from './types'

/** What is not urgent is swept so often. */
const REST_MS = 4000
/** Batches of due messages of one queue, before it is the next one's turn. */
const SWEPT_BATCHES = 5

export class QueueRepository extends QueueCatalog implements Queue.Queues {
  #restAt = Number.NEGATIVE_INFINITY

  async send(queue: string, body: unknown, options: Queue.SendOptions = {}): Promise<Queue.Sent> {
    const [sent] = await this.sendRows(check.checkedSend(queue, body, options))
    return asSent(sent as Queue.Sent)
  }

  async sendMany(queue: string, messages: readonly Queue.NewMessage[]): Promise<{ ids: bigint[] }> {
    const sent = await this.sendRows(check.checkedMessages(queue, messages))
    return asSentMany({ ids: sent.map(({ id }) => id) })
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
    const { head, rows } = await this.changed((onReady) => {
      const receiving = this.with(onReady)
      return order === 'ready' ? takeReady(receiving, request) : takeNext(receiving, { ...request, cursor })
    })
    return rows.map((row) => messageOf(head, row, options))
  }

  async delete(queue: string, receiptHandles: string | readonly string[]): Promise<Queue.Deleted> {
    const handles = check.checkedHandles(queue, receiptHandles)
    const { done, failed } = await this.#settle(queue, handles, (valid) => this.removeHeld(queue, valid))
    return { deleted: done, failed }
  }

  /** Removes or archives what the receipts hold. */
  protected removeHeld(queue: string, receipts: readonly Receipt[]): Promise<Settled> {
    return removeHeld(this.own, queue, receipts)
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
    return this.changed((onReady) => releaseHeld(this.with(onReady), queue, receipts, release))
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
    return extendHeld(this.own, queue, receipts, visibilityMs)
  }

  /** Returns claims as if they had not been made: ready where they stood, with one receive less. */
  async giveBack(queue: string, receiptHandles: readonly string[]): Promise<void> {
    const handles = check.checkedHandles(queue, receiptHandles)
    await this.#settle(queue, handles, (valid) =>
      this.changed((onReady) => giveBackHeld(this.with(onReady), queue, valid)),
    )
  }

  async #settle(
    queue: string,
    handles: readonly string[],
    settle: (valid: readonly Receipt[]) => Promise<Settled>,
  ): Promise<SettleOutcome> {
    const receipts = await readHandles(this.own, queue, handles)
    const valid = validOf(receipts)
    return outcomeOf(receipts, valid.length === 0 ? new Set() : await settle(valid))
  }

  async peek(queue: string, options: Queue.PeekOptions = {}): Promise<Queue.MessagePage> {
    const page = check.checkedPeek(queue, options)
    await this.promoted(queue)
    return this.session.read((reader) => peekPage(reader, queue, page))
  }

  async getMessage(queue: string, id: bigint, options: Queue.BodyOptions = {}): Promise<Queue.PeekedMessage | null> {
    check.checkMessage(queue, id, options)
    await this.promoted(queue)
    return this.session.read((reader) => getMessage(reader, queue, id, options))
  }

  async deleteMessage(queue: string, id: bigint): Promise<boolean> {
    check.checkMessage(queue, id)
    return this.session.write((tx) => deleteMessage(tx, queue, id))
  }

  async redrive(queue: string, options: Queue.RedriveOptions = {}): Promise<{ moved: number }> {
    const limits = check.checkedRedrive(queue, options)
    await this.promoted(queue)
    if (options.dryRun) return { moved: await this.session.read((reader) => countRedrivable(reader, queue, limits)) }
    return { moved: await this.changed((onReady) => redriveQueue(this.session, queue, limits, onReady)) }
  }

  async purge(queue: string, options: Queue.DryRun = {}): Promise<{ deleted: number }> {
    check.checkPurge(queue, options)
    // What is due is ready, whoever has seen to it or not.
    await this.promoted(queue)
    if (options.dryRun) return { deleted: await this.session.read((reader) => countPurgeable(reader, queue)) }
    return { deleted: await purgeQueue(this.session, queue) }
  }

  /** One round of what time does to queues: how many messages it moved and removed, and whether there is more to do. */
  async sweep(): Promise<{ moved: number; removed: number; more: boolean }> {
    let moved = 0
    let removed = 0
    let more = false
    const faults: unknown[] = []
    for (const id of await this.session.read(dueQueues)) {
      // What is wrong with one queue must not keep the others waiting.
      const promoted = await this.changed((onReady) => promoteQueue(this.session, id, SWEPT_BATCHES, onReady)).catch(
        (error: unknown) => void faults.push(error),
      )
      moved += promoted?.moved ?? 0
      more ||= promoted?.more ?? false
    }
    if (performance.now() - this.#restAt >= REST_MS) {
      const rest = await sweepRest(this.session)
      removed = rest.removed
      if (rest.more) more = true
      else this.#restAt = performance.now()
    }
    if (faults.length > 0) throw faults[0]
    return { moved, removed, more }
  }
}

/**
 * Work queues as a repository: checks the arguments, and runs each operation or hands it to its runner. It owns
 * recentn_queues, recentn_queue_messages, recentn_queue_archive and the tables beside them.
 */
import type { DataSource, EntityManager } from 'typeorm'
import { sessionOf } from '../../database/attached/attach'
import type { Reader, Session, Tx } from '../../database/engine'
import * as messages from '../../fields/messages'
import * as fields from '../../fields/queues'
import type { JsonText } from '../../shared/json'
import type * as Queue from '../../shared/queue-types'
import type { ExtendOptions, MessageRef, NackOptions } from '../../shared/queue-types'
import type { IfTag } from '../../shared/types'
import { alone, noWaits, type Runnable, type Runner, type Waits } from '../runners'
import { warnOfOthers } from '../settings'
import * as check from './check'
import { RECEIVES, type ReceiveRequest, receiveIn } from './claim/claim'
import type { Taker } from './claim/takers'
import { readErrors } from './dead/deaths'
import { applyChangedLimit } from './groups/group-limit'
import { holdQueue } from './groups/holds'
import { readHistory } from './history/read'
import { listStatuses, readStatus } from './listed'
import { QueueMemory } from './memory'
import { cancelWaiting, getMessage, peekPage, removeMessage } from './peek'
import * as queues from './queues'
import { readReceivers } from './receivers/read'
import { purgeQueue } from './removal'
import type { SendRequest } from './rows'
import { SENDS } from './send/send'
import { ACKS } from './settle/ack'
import { promoteChosen, promoteDue } from './settle/promote'
import { redriveQueue } from './settle/redrive'
import { release } from './settle/release'
import * as settle from './settle/settle'

export class QueueRepository implements Queue.Queues {
  readonly #session: Session
  readonly #memory: QueueMemory
  readonly #runner: Runner<QueueMemory>
  readonly #waits: Waits<Taker>

  /** On a DataSource each call has its own transactions; on an EntityManager it is part of that manager's. */
  constructor(
    source: DataSource | EntityManager | Session,
    memory = new QueueMemory(),
    runner?: Runner<QueueMemory>,
    waits: Waits<Taker> = noWaits,
  ) {
    this.#session = sessionOf(source)
    this.#memory = this.#session.inTransaction ? memory.forTransaction() : memory
    this.#runner = runner ?? alone(this.#session, this.#memory)
    this.#waits = waits
  }

  #run<Request, Result>(operation: Runnable<QueueMemory, Request, Result>, request: Request): Promise<Result> {
    return new Promise((resolve, reject) => this.#runner.hand(operation, request, { resolve, reject }))
  }

  async send<Body = unknown>(
    queue: string,
    body: NoInfer<Body> | JsonText,
    options: Queue.SendOptions = {},
  ): Promise<Queue.Sent> {
    return (await this.#send(check.checkedSend(queue, body, options)))[0] as Queue.Sent
  }

  async sendMany<Body = unknown>(
    queue: string,
    messages: readonly Queue.NewMessage<NoInfer<Body>>[],
  ): Promise<Queue.Sent[]> {
    return this.#send(check.checkedMessages(queue, messages))
  }

  #send(request: SendRequest): Promise<Queue.Sent[]> {
    this.#memory.takers.began(request)
    return this.#run(SENDS, request).finally(() => this.#memory.takers.ended(request))
  }

  async receive<Body = unknown>(queue: string, options: Queue.ReceiveOptions = {}): Promise<Queue.Message<Body>[]> {
    check.checkQueue(queue, options, messages.RECEIVE_RULES)
    return this.#receive(queue, options, null)
  }

  async cycle<Body = unknown>(queue: string, options: Queue.CycleOptions = {}): Promise<Queue.Message<Body>[]> {
    check.checkQueue(queue, options, messages.CYCLE_RULES)
    return this.#receive(queue, options, options.cursor ?? 'default')
  }

  #receive<Body>(queue: string, options: Queue.ReceiveOptions, cursor: string | null) {
    const run = (request: ReceiveRequest) => this.#run(RECEIVES, request)
    const messages = receiveIn(this.#session, this.#memory, this.#waits, run, queue, options, cursor)
    return messages as Promise<Queue.Message<Body>[]>
  }

  async ack(queue: string, message: MessageRef): Promise<void> {
    settle.refuseFailed(await this.ackMany(queue, [check.checkedHandle(queue, message)]))
  }

  async nack(queue: string, message: MessageRef, options: NackOptions = {}): Promise<void> {
    settle.refuseFailed(await this.nackMany(queue, [check.checkedHandle(queue, message)], options))
  }

  async extend(queue: string, message: MessageRef, options: ExtendOptions): Promise<void> {
    settle.refuseFailed(await this.extendMany(queue, [check.checkedHandle(queue, message)], options))
  }

  async ackMany(queue: string, messages: readonly MessageRef[]): Promise<Queue.Acked> {
    return this.#settle(messages, 'acked', ACKS, { queue })
  }

  async nackMany(queue: string, messages: readonly MessageRef[], options: NackOptions = {}): Promise<Queue.Nacked> {
    return this.#settle(messages, 'nacked', settle.NACKS, { queue, nack: check.checkedNack(options) })
  }

  async extendMany(queue: string, messages: readonly MessageRef[], options: ExtendOptions): Promise<Queue.Extended> {
    return this.#settle(messages, 'extended', settle.EXTENDS, { queue, visibilityMs: check.checkedExtend(options) })
  }

  async #settle<Done extends string, Request extends settle.SettleRequest>(
    messages: readonly MessageRef[],
    done: Done,
    operation: Runnable<QueueMemory, Request, settle.SettledReceipts>,
    request: Omit<Request, 'receipts'> & { queue: string },
  ): Promise<settle.SettleOutcome<Done>> {
    const handles = check.checkedHandles(request.queue, messages)
    const named = await settle.readHandles(this.#session, this.#memory, request.queue, handles)
    const all = { ...request, receipts: settle.validOf(named) } as unknown as Request
    const settled = all.receipts.length === 0 ? new Set<string>() : await this.#run(operation, all)
    return settle.outcomeOf(named, settled, done)
  }

  async #promoted<T>(queue: string, read: (reader: Reader) => Promise<T>): Promise<T> {
    await promoteDue(this.#session, this.#memory, queue)
    return this.#session.read(read)
  }

  async peek<Body = unknown>(queue: string, options: Queue.PeekOptions = {}): Promise<Queue.MessagePage<Body>> {
    const page = check.checkedPeek(queue, options)
    return this.#promoted(queue, (reader) => peekPage(reader, queue, page)) as Promise<Queue.MessagePage<Body>>
  }

  async message<Body = unknown>(queue: string, id: bigint, options: Queue.BodyOptions = {}) {
    check.checkMessage(queue, id, options)
    const message = this.#promoted(queue, (reader) => getMessage(reader, queue, id, options))
    return message as Promise<Queue.WholeMessage<Body> | null>
  }

  async remove(queue: string, id: bigint): Promise<boolean> {
    check.checkMessage(queue, id)
    return this.#session.write((tx) => removeMessage(tx, this.#memory, queue, id))
  }

  async cancel(queue: string, key: string): Promise<boolean> {
    check.checkCancel(queue, key)
    await promoteDue(this.#session, this.#memory, queue)
    return this.#session.write((tx) => cancelWaiting(tx, this.#memory, queue, key))
  }

  async redrive(queue: string, options: Queue.RedriveOptions = {}): Promise<{ moved: number }> {
    const choice = check.checkedRedrive(queue, options)
    await promoteDue(this.#session, this.#memory, queue)
    return { moved: await redriveQueue(this.#session, this.#memory, queue, choice) }
  }

  async promote(queue: string, ids: readonly bigint[], options: Queue.PromoteOptions = {}) {
    check.checkPromote(queue, ids, options)
    const nack = (request: settle.NackRequest) => this.#run(settle.NACKS, request)
    if (options.inFlight) return { promoted: await release(this.#session, nack, queue, ids, options.lastReceivedAt) }
    return { promoted: await this.#session.write((tx) => promoteChosen(tx, this.#memory, queue, ids)) }
  }

  async purge(queue: string, options: Queue.PurgeOptions = {}): Promise<{ deleted: number }> {
    const purge = check.checkedPurge(queue, options)
    await promoteDue(this.#session, this.#memory, queue)
    return { deleted: await purgeQueue(this.#session, this.#memory, queue, purge) }
  }

  async errors(queue: string, options: Pick<Queue.DeadFilter, 'from'> = {}): Promise<Queue.DeadErrors> {
    check.checkQueue(queue, options, fields.ERRORS_RULES)
    return this.#promoted(queue, (reader) => readErrors(reader, queue, options.from))
  }

  async history(queue: string, options: { period?: Queue.HistoryPeriod | undefined } = {}) {
    check.checkQueue(queue, options, fields.HISTORY_RULES)
    return this.#session.read((reader) => readHistory(reader, queue, options.period ?? 'hour'))
  }

  async receivers(queue: string): Promise<Queue.QueueReceivers> {
    check.checkQueue(queue)
    return this.#promoted(queue, (reader) => readReceivers(reader, queue))
  }

  async get(queue: string): Promise<Queue.QueueStatus | null> {
    check.checkQueue(queue)
    return readStatus(this.#session, this.#memory, queue)
  }

  async put(queue: string, settings: Queue.QueueSettings = {}, options: IfTag = {}): Promise<queues.MadeQueue> {
    check.checkSettings(queue, settings, options)
    return this.#change(queue, (tx) => queues.putQueue(tx, queue, settings, options))
  }

  async ensure(queue: string, settings: Queue.QueueSettings = {}): Promise<queues.MadeQueue> {
    check.checkSettings(queue, settings)
    const there = await queues.thereAlready(this.#session, queue)
    const ensured = there ?? (await this.#change(queue, (tx) => queues.ensureQueue(tx, queue, settings)))
    warnOfOthers('queue', queue, ensured, settings)
    return ensured
  }

  async update(queue: string, settings: Queue.QueueSettings, options: IfTag = {}): Promise<Queue.Queue> {
    check.checkSettings(queue, settings, options)
    return this.#change(queue, (tx) => queues.updateQueue(tx, queue, settings, options))
  }

  async pause(queue: string): Promise<Queue.Queue> {
    check.checkQueue(queue)
    return this.#change(queue, (tx) => queues.pauseQueue(tx, queue, true))
  }

  async resume(queue: string): Promise<Queue.Queue> {
    check.checkQueue(queue)
    return this.#change(queue, (tx) => queues.pauseQueue(tx, queue, false), { resumed: true })
  }

  async hold(queue: string, options: Queue.HoldOptions): Promise<Queue.QueueHold> {
    check.checkQueue(queue, options, fields.HOLD_RULES)
    return holdQueue(this.#session, this.#memory, queue, options)
  }

  async #change<T>(queue: string, change: (tx: Tx) => Promise<T>, how?: { resumed: boolean }): Promise<T> {
    const changed = await this.#session.write(async (tx) => {
      const result = await change(tx)
      this.#memory.changed(tx, queue, how)
      return result
    })
    await applyChangedLimit(this.#session, this.#memory, queue)
    return changed
  }

  async drop(queue: string): Promise<boolean> {
    check.checkQueue(queue)
    return queues.dropQueue(this.#session, this.#memory, queue)
  }

  async list(options: Queue.QueueListOptions = {}): Promise<Queue.QueuePage> {
    return listStatuses(this.#session, this.#memory, check.checkedList(options))
  }
}

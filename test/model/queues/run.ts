/** One run of the model: each operation on the store and on the oracle, and after each all that can be seen compared. */
import type { Store } from '../../../src/index'
import type { QueueSettings, Queues } from '../../../src/shared/queue-types'
import { dropOn, ensureOn, holdOn, pauseOn, putOn, updateOn } from './catalog'
import { Handles } from './handles'
import { expectFirst } from './line'
import { type HandleShape, type Operation, QUEUES, type SimpleOperation, TICK_SECONDS } from './operations'
import { Oracle, type OracleMessage } from './oracle'
import { expectPlaces, settleOn } from './places'
import { Receiver } from './receiver'
import { expectRefusal, expectSame } from './same'
import { sendOn } from './sending'
import { expectMessages, expectPages, expectStatus, secondsOf, type View } from './view'

export interface Bench {
  /** As of two processes: each remembers for itself what it knows of queues. */
  stores: [Store, Store]
  clock: { offsetMs: number }
  /** Does what a sweeper does, all of it. */
  sweep: () => Promise<unknown>
  /** Ends claims as a worker of a third process does. */
  giveBack: (queue: string, handles: readonly string[]) => Promise<unknown>
}

const ROLLED_BACK = new Error('rolled back')

/** Names of a run begin with a unique prefix, so that runs share a database without meeting. */
export class Run implements View {
  readonly oracle = new Oracle()
  readonly beginMs: number
  queues: Queues
  #handles = new Handles()
  /** Which store does it. */
  #by: 0 | 1 = 0
  readonly #receivers = [new Receiver(), new Receiver()] as const
  looks = 0
  isInside = false

  constructor(
    readonly bench: Bench,
    readonly name: string,
  ) {
    this.queues = bench.stores[0].queues
    this.beginMs = Date.now() + bench.clock.offsetMs - 1000
  }

  readonly giveBack: Bench['giveBack'] = (queue, handles) => this.bench.giveBack(queue, handles)

  readonly named = (short: string) => `${this.name}:${short}`

  async play(
    beginning: Record<string, QueueSettings>,
    operations: readonly (Operation & { by: 0 | 1 })[],
  ): Promise<void> {
    try {
      for (const [queue, settings] of Object.entries(beginning)) {
        await this.#step({ kind: 'put', queue, settings })
      }
      for (const { by, ...operation } of operations) {
        this.#by = by
        this.queues = this.bench.stores[by].queues
        const { turns } = this.oracle.state
        if (operation.kind === 'transaction') await this.#transaction(operation.operations, operation.commits)
        else await this.#step(operation)
        this.#becameReady(turns, operation.kind === 'transaction' || operation.kind === 'sweep' ? null : by)
        // The next step meets the effects of time before any look.
        if (operation.kind !== 'pass') await this.#look()
      }
      await expectMessages(this, 'all')
      await expectStatus(this, false)
    } finally {
      this.queues = this.bench.stores[0].queues
      for (const queue of QUEUES) if (await this.queues.get(this.named(queue))) await this.queues.put(this.named(queue))
      for (const queue of QUEUES) await this.queues.drop(this.named(queue))
    }
  }

  async #look(): Promise<void> {
    const { turns } = this.oracle.state
    await expectMessages(this)
    this.#becameReady(turns, this.#by)
  }

  async #transaction(operations: readonly SimpleOperation[], commits: boolean): Promise<void> {
    const { oracle } = this
    const before = structuredClone(oracle.state)
    const handles = this.#handles
    const restore = () => {
      oracle.state = structuredClone(before)
      this.#handles = handles.copy()
    }
    try {
      await this.bench.stores[this.#by].transaction(async (tx) => {
        restore()
        this.queues = tx.queues
        this.isInside = true
        for (const operation of operations) {
          await this.#step(operation)
          if (operation.kind !== 'pass') await expectMessages(this)
        }
        await expectMessages(this, 'all')
        await expectStatus(this, true)
        if (!commits) throw ROLLED_BACK
      })
      this.isInside = false
      await this.#applyLimits()
    } catch (error) {
      if (error !== ROLLED_BACK) throw error
      const given = this.#handles
      restore()
      this.#handles = given.upTo(before.queuesMade)
    } finally {
      this.isInside = false
      this.queues = this.bench.stores[this.#by].queues
    }
  }

  /** A call on the queue applies the limit that a transaction has changed. */
  async #applyLimits(): Promise<void> {
    for (const queue of this.oracle.state.queues.filter(({ isLimitNew }) => isLimitNew)) {
      await this.bench.stores[0].queues.peek(queue.name, { limit: 1 })
      this.oracle.applyLimit(queue)
    }
  }

  /** While its claims come back full, a receiver may find later the messages that others made ready since then. */
  #becameReady(turn: number, by: 0 | 1 | null): void {
    const news = this.oracle.state.messages.filter((message) => message.state === 'ready' && message.turn > turn)
    for (const [at, receiver] of this.#receivers.entries()) if (at !== by) receiver.othersMadeReady(news)
  }

  async #step(operation: Exclude<Operation, { kind: 'transaction' }>): Promise<void> {
    const { oracle } = this
    switch (operation.kind) {
      case 'pass':
        this.bench.clock.offsetMs += operation.ticks * TICK_SECONDS * 1000
        oracle.now += operation.ticks * TICK_SECONDS
        return
      case 'sweep':
        await this.bench.sweep()
        return expectPlaces(this, oracle.sweep())
      case 'pages':
        await expectMessages(this, 'all')
        await expectPages(this, operation.limit)
        return expectStatus(this, false)
      case 'delete':
      case 'release':
      case 'extend':
        return this.#handles.settle(this, operation)
      case 'giveBack':
        return this.#giveBack(operation.handles)
      case 'put':
        return putOn(this, operation.queue, operation.settings)
      case 'ensure':
        return ensureOn(this, operation.queue, operation.settings)
      case 'update':
        return updateOn(this, operation.queue, operation.settings)
      case 'pause':
        return pauseOn(this, operation.queue, operation.paused)
      case 'hold':
        return holdOn(this, operation.queue, operation.seconds)
      default:
        return this.#onQueue(operation)
    }
  }

  async #onQueue(
    operation: Exclude<
      SimpleOperation,
      { kind: 'pass' | 'put' | 'ensure' | 'update' | 'pause' | 'hold' | 'delete' | 'release' | 'extend' | 'giveBack' }
    >,
  ): Promise<void> {
    const { oracle } = this
    const name = this.named(operation.queue)
    const queue = oracle.queue(name)
    switch (operation.kind) {
      case 'drop':
        return dropOn(this, name)
      case 'send':
        return sendOn(this, name, [operation.message], null, true)
      case 'sendMany':
        return sendOn(this, name, operation.messages, operation.wrong, false)
      case 'receive':
        return this.#receive(operation)
      case 'removeMessage': {
        const id = oracle.state.lastId - BigInt(operation.back) > 0n ? oracle.state.lastId - BigInt(operation.back) : 1n
        if (!queue) return expectRefusal(this.queues.remove(name, id), ['queue_not_found'])
        const message = oracle.state.messages.find((one) => one.id === id && one.queue === queue.number)
        expectSame(await this.queues.remove(name, id), message !== undefined)
        if (message) oracle.remove(message)
        return expectPlaces(this, oracle.givePlaces(oracle.newTurn()))
      }
      case 'purge': {
        if (!queue) return expectRefusal(this.queues.purge(name), ['queue_not_found'])
        await settleOn(this, queue)
        const dropped = oracle.in(queue, 'ready', 'blocked', 'delayed')
        expectSame(await this.queues.purge(name), { deleted: dropped.length })
        oracle.state.messages = oracle.state.messages.filter((message) => !dropped.includes(message))
        return
      }
      case 'redrive':
        return this.#redrive(name, operation.limit, operation.prefix)
    }
  }

  async #receive(operation: Extract<SimpleOperation, { kind: 'receive' }>): Promise<void> {
    const { oracle, queues } = this
    const { limit, visibilityTimeoutSeconds, cursor } = operation
    const name = this.named(operation.queue)
    const options = { limit, ...(visibilityTimeoutSeconds === undefined ? {} : { visibilityTimeoutSeconds }) }
    const receive = () => (cursor === null ? queues.receive(name, options) : queues.cycle(name, { ...options, cursor }))
    const queue = oracle.queue(name)
    if (!queue) return expectRefusal(receive(), ['queue_not_found'])
    await settleOn(this, queue)
    const received = await receive()
    const ids = received.map(({ id }) => id)
    const ready = oracle.isHeld(queue) ? [] : oracle.in(queue, 'ready')
    expectSame(
      ids.filter((id) => !ready.some((message) => message.id === id)),
      [],
    )
    const claimed = ids.map((id) => ready.find((message) => message.id === id) as OracleMessage)
    if (cursor !== null) {
      expectSame(
        ids,
        oracle.round(queue, cursor, limit).map(({ id }) => id),
      )
      const last = ids.at(-1)
      if (last !== undefined) queue.cursors.set(cursor, last)
      for (const message of claimed) oracle.disturb(message)
    } else {
      expectSame(
        { ids, count: ids.length },
        { ids: [...new Set(ids)], count: Math.min(limit, ready.length, oracle.allowed(queue)) },
      )
      if (queue.settings.rateLimit !== null) for (const _ of ids) queue.receives.push(oracle.now)
      if (!oracle.isHeld(queue)) this.#expectOrder(queue.number, claimed, limit)
    }
    for (const [at, message] of claimed.entries()) {
      const { receiptHandle, body, ...shown } = received[at] as (typeof received)[number]
      const { sentAt, firstReceivedAt, receivedAt, visibleAt, deadAt, ...rest } = shown
      oracle.claim(message, visibilityTimeoutSeconds, receiptHandle)
      this.#handles.add({ handle: receiptHandle, queue: queue.number, name, id: message.id })
      const times = [sentAt, firstReceivedAt, receivedAt, visibleAt, deadAt].map((date) =>
        secondsOf(date, this.beginMs),
      )
      expectSame(
        { ...rest, body, times, held: visibleAt.getTime() - receivedAt.getTime() },
        {
          ...{ id: message.id, body: message.body, receiveCount: message.receives },
          ...{ maxReceives: oracle.maxReceives(message), lastError: message.lastError, priority: message.priority },
          ...{ messageGroup: message.group, attributes: message.attributes },
          ...{ times: [message.sentAt, message.firstReceivedAt, oracle.now, message.visibleAt, message.deadAt] },
          deadReceiveCount: message.deadReceiveCount,
          held: (message.visibleAt - oracle.now) * 1000,
        },
      )
    }
  }

  #expectOrder(number: number, claimed: readonly OracleMessage[], limit: number): void {
    const { oracle } = this
    const queue = oracle.numbered(number)
    const receiver = this.queues === this.bench.stores[this.#by].queues ? this.#receivers[this.#by] : undefined
    if (receiver?.lags(number)) for (const message of claimed) oracle.disturb(message)
    else if (queue) expectFirst(oracle, queue, claimed)
    receiver?.received(number, claimed.length === limit)
  }

  /** No caller can do so inside of a transaction. */
  async #giveBack(handles: readonly HandleShape[]): Promise<void> {
    if (this.isInside) return
    const messages = await this.#handles.giveBack(this, handles)
    for (const receiver of this.#receivers) receiver.othersMadeReady(messages)
  }

  /** Which of those that may go back do so, where not all of them do, is open. */
  async #redrive(name: string, limit: number | null, short: string | null): Promise<void> {
    const { oracle, queues } = this
    const prefix = short === null ? '' : this.named(short)
    const options = { ...(limit === null ? {} : { limit }), ...(short === null ? {} : { prefix }) }
    const queue = oracle.queue(name)
    if (!queue) return expectRefusal(queues.redrive(name, options), ['queue_not_found'])
    await settleOn(this, queue)
    const able = oracle.redrivable(queue, prefix)
    const count = Math.min(limit ?? able.length, able.length)
    expectSame(await queues.redrive(name, options), { moved: count })
    const moved = []
    for (const one of able) {
      const there = await queues.message(one.to.name, one.message.id)
      if (there?.state === 'ready' || there?.state === 'blocked') moved.push(one)
    }
    expectSame(moved.length, count)
    const turn = oracle.newTurn()
    for (const { message, to } of moved) oracle.redrive(message, to, turn)
    await expectPlaces(this, oracle.givePlaces(turn))
  }
}

/**
 * The right answers of queues, computed with plain arrays from the words of the contract alone: a list of queues, a list of
 * messages, and a clock that only jumps. In what order messages are handed out is in line.ts. Slow and obvious on purpose.
 */
import type { MessageState, QueueSettings } from '../../../src/shared/queue-types'
import { QUEUE_DEFAULTS } from '../../support/queue-defaults'
import { givePlaces, hasPlace, isLimited, type OpenPlaces } from './places'

export interface OracleMessage {
  id: bigint
  body: number
  /** The number of the queue that it is in. */
  queue: number
  state: MessageState
  priority: number
  group: string | null
  attributes: Readonly<Record<string, string>>
  /** Null is no limit; undefined is the queue's. */
  ownMaxReceives: number | null | undefined
  ownVisibility: number | null
  sentAt: number
  visibleAt: number
  firstReceivedAt: number | null
  lastReceivedAt: number | null
  deadAt: number | null
  deadReceiveCount: number | null
  archivedAt: number | null
  receives: number
  lastError: string | null
  /** For a dead letter, the number of the queue that it died in. */
  from: number | null
  /** The handle that is good. */
  handle: string | null
  /** When it became ready: what did so at one stroke has the same. */
  turn: number
  /** The messages before and behind it when it was received: if it is given back, it is between them again. */
  stood: { before: Set<string>; behind: Set<string> } | null
  /** Sent with others to where nothing of its priority was ready: which send, and the how manieth of its group it was. */
  batch: { turn: number; round: number } | null
}

export interface OracleQueue {
  number: number
  name: string
  settings: Required<Omit<QueueSettings, 'deadLetterQueue' | 'groupRateLimit'>>
  /** True while a limit that a transaction has changed is not applied to the messages that are there. */
  isLimitNew: boolean
  paused: boolean
  heldUntil: number
  /** When messages were received, each, while there was a rate. */
  receives: number[]
  deadLetters: number | null
  cursors: Map<string, bigint>
  dedups: Map<string, { id: bigint; at: number }>
}

/** All that a transaction which is rolled back takes with it. */
export interface OracleState {
  queues: OracleQueue[]
  messages: OracleMessage[]
  /** Numbers are not given out again, so that a queue that was made again is another one. */
  queuesMade: number
  turns: number
  lastId: bigint
  /** The ready messages of each queue, in order, when it was last looked at. */
  lines: Map<number, { id: bigint; turn: number }[]>
  /** `queue/priority` where messages left the line elsewhere than at its beginning. */
  disturbed: Set<string>
}

const DEDUP_SECONDS = 300
const RAN_OUT = 'The visibility timeout ran out after '

export class Oracle {
  /** Seconds; time is not rolled back. */
  now = 0
  /** Messages that became blocked since places were last given. */
  #come = new Set<bigint>()
  state: OracleState = {
    queues: [],
    messages: [],
    queuesMade: 0,
    turns: 0,
    lastId: 0n,
    lines: new Map(),
    disturbed: new Set(),
  }

  queue(name: string): OracleQueue | undefined {
    return this.state.queues.find((queue) => queue.name === name)
  }

  numbered(number: number | null): OracleQueue | undefined {
    return this.state.queues.find((queue) => queue.number === number)
  }

  in(queue: OracleQueue, ...states: MessageState[]): OracleMessage[] {
    return this.state.messages.filter((message) => message.queue === queue.number && states.includes(message.state))
  }

  newTurn(): number {
    return ++this.state.turns
  }

  /** Whether the queue was made, or the codes of which one is the refusal. */
  put(
    name: string,
    { deadLetterQueue = null, ...settings }: QueueSettings,
    isInside = false,
  ): { created: boolean } | string[] {
    const before = this.queue(name)
    const { deadLetterQueue: _, paused, tag: __, holdEndsAt: ___, ...defaults } = QUEUE_DEFAULTS
    const found = this.#letters(name, deadLetterQueue)
    if (Array.isArray(found)) return found
    const values = { settings: { ...defaults, ...settings }, deadLetters: found.letters?.number ?? null }
    if (before) {
      const { groupConcurrency } = before.settings
      Object.assign(before, values)
      this.#changeLimit(before, groupConcurrency, isInside)
    } else {
      const number = ++this.state.queuesMade
      const remembered = { cursors: new Map(), dedups: new Map(), heldUntil: 0, receives: [] }
      this.state.queues.push({ number, name, paused, isLimitNew: false, ...values, ...remembered })
    }
    return { created: !before }
  }

  /** The codes of which one is the refusal, or null. */
  update(name: string, { deadLetterQueue, ...settings }: QueueSettings, isInside = false): string[] | null {
    const queue = this.queue(name)
    if (!queue) return ['queue_not_found']
    const found = deadLetterQueue === undefined ? null : this.#letters(name, deadLetterQueue)
    if (Array.isArray(found)) return found
    const { groupConcurrency } = queue.settings
    Object.assign(queue.settings, settings)
    this.#changeLimit(queue, groupConcurrency, isInside)
    if (found) queue.deadLetters = found.letters?.number ?? null
    return null
  }

  /** Inside a transaction it is applied after the commit. Until then nothing that has a group becomes ready by a place. */
  #changeLimit(queue: OracleQueue, before: number | null, isInside: boolean): void {
    if (queue.settings.groupConcurrency === before) return
    queue.isLimitNew = true
    if (!isInside) this.applyLimit(queue)
  }

  /** Under another limit all messages of groups that are ready become blocked, and then those that have places are ready again. */
  applyLimit(queue: OracleQueue): void {
    queue.isLimitNew = false
    if (queue.settings.groupConcurrency !== null) {
      for (const message of this.in(queue, 'ready').filter(({ group }) => group !== null)) {
        this.disturb(message)
        Object.assign(message, { state: 'blocked', handle: null })
      }
    }
    this.#come.clear()
    this.givePlaces(this.newTurn())
  }

  /** The queue that dead letters are to go to, or the codes of which one is the refusal. */
  #letters(name: string, deadLetterQueue: string | null): { letters: OracleQueue | undefined } | string[] {
    const before = this.queue(name)
    const letters = deadLetterQueue === null ? undefined : this.queue(deadLetterQueue)
    if (deadLetterQueue === name)
      return before ? ['dead_letter_cycle'] : ['dead_letter_cycle', 'dead_letter_queue_not_found']
    if (deadLetterQueue !== null && !letters) return ['dead_letter_queue_not_found']
    for (let next = letters; next; next = this.numbered(next.deadLetters)) {
      if (next === before) return ['dead_letter_cycle']
    }
    return { letters }
  }

  isDeadLetterQueue(queue: OracleQueue): boolean {
    return this.state.queues.some(({ deadLetters }) => deadLetters === queue.number)
  }

  drop(queue: OracleQueue): void {
    this.state.queues = this.state.queues.filter((one) => one !== queue)
    this.state.messages = this.state.messages.filter((message) => message.queue !== queue.number)
  }

  /** The message that is returned for a new one with this dedup id. */
  standsFor(queue: OracleQueue, dedupId: string | null): bigint | null {
    const sent = dedupId === null ? undefined : queue.dedups.get(dedupId)
    return sent && this.now - sent.at < DEDUP_SECONDS ? sent.id : null
  }

  /** Null is no limit. */
  maxReceives(message: OracleMessage): number | null {
    const limit = this.numbered(message.queue)?.settings.maxReceives ?? null
    return message.from === null && message.ownMaxReceives !== undefined ? message.ownMaxReceives : limit
  }

  isOutOfReceives(message: OracleMessage): boolean {
    const limit = this.maxReceives(message)
    return limit !== null && message.receives >= limit
  }

  isDue({ state, visibleAt }: OracleMessage): boolean {
    return (state === 'in-flight' || state === 'delayed') && visibleAt <= this.now
  }

  /** The effects of time in a queue. */
  settle(queue: OracleQueue): OpenPlaces[] {
    const turn = this.newTurn()
    this.#settle(queue, turn)
    return this.givePlaces(turn)
  }

  #settle(queue: OracleQueue, turn: number): void {
    for (const message of this.in(queue, 'in-flight', 'delayed').filter((one) => this.isDue(one))) {
      if (message.state === 'delayed' || !this.isOutOfReceives(message)) {
        // The handle stays good.
        this.makeReady(message, turn, {})
        continue
      }
      const { lastError, receives } = message
      if (lastError === null || lastError.startsWith(RAN_OUT)) {
        message.lastError = `${RAN_OUT}${receives} receive${receives === 1 ? '' : 's'}.`
      }
      this.bury(message, turn)
    }
  }

  makeReady(message: OracleMessage, turn: number, changes: Partial<OracleMessage>): void {
    const stays = (changes.queue ?? message.queue) === message.queue
    const keeps = stays && hasPlace(message) && !this.numbered(message.queue)?.isLimitNew
    Object.assign(message, changes, { state: 'ready', turn, batch: null, stood: null })
    if (!isLimited(this.numbered(message.queue), message.group) || keeps) return
    Object.assign(message, { state: 'blocked', handle: null })
    this.#come.add(message.id)
  }

  unblock(message: OracleMessage, turn: number): void {
    Object.assign(message, { state: 'ready', turn, batch: null, stood: null })
  }

  givePlaces(turn: number): OpenPlaces[] {
    const come = this.#come
    this.#come = new Set()
    return givePlaces(this, turn, come)
  }

  bury(message: OracleMessage, turn: number): void {
    const queue = this.numbered(message.queue) as OracleQueue
    const noted = { deadAt: this.now, deadReceiveCount: message.receives }
    if (queue.deadLetters === null) {
      Object.assign(message, { state: 'dead', handle: null, ...(message.from === null ? noted : {}) })
    } else {
      const letter = { queue: queue.deadLetters, from: queue.number, receives: 0, handle: null, visibleAt: this.now }
      this.makeReady(message, turn, { ...letter, ...noted })
    }
  }

  claim(message: OracleMessage, asked: number | undefined, handle: string): void {
    const queue = this.numbered(message.queue) as OracleQueue
    const visibility = asked ?? message.ownVisibility ?? queue.settings.visibilityTimeoutSeconds
    const line = this.state.lines.get(queue.number) ?? []
    const at = line.findIndex(({ id, turn }) => id === message.id && turn === message.turn)
    const keys = line.map(({ id, turn }) => `${id} ${turn}`)
    Object.assign(message, {
      state: 'in-flight',
      stood: at < 0 ? message.stood : { before: new Set(keys.slice(0, at)), behind: new Set(keys.slice(at + 1)) },
      receives: message.receives + 1,
      visibleAt: this.now + visibility,
      firstReceivedAt: message.firstReceivedAt ?? this.now,
      lastReceivedAt: this.now,
      handle,
    })
  }

  isHeld({ paused, heldUntil }: OracleQueue): boolean {
    return paused || heldUntil > this.now
  }

  /** How many messages may be received now, by the rate. */
  allowed(queue: OracleQueue): number {
    const { rateLimit } = queue.settings
    if (rateLimit === null) return Number.POSITIVE_INFINITY
    const counting = queue.receives.filter((at) => at + rateLimit.perSeconds > this.now)
    return Math.max(0, rateLimit.messages - counting.length)
  }

  /** The messages after the cursor by id, then those from the start. */
  round(queue: OracleQueue, cursor: string, limit: number): OracleMessage[] {
    if (this.isHeld(queue)) return []
    const last = queue.cursors.get(cursor) ?? 0n
    const ready = this.in(queue, 'ready').sort((a, b) => (a.id < b.id ? -1 : 1))
    return [...ready.filter(({ id }) => id > last), ...ready.filter(({ id }) => id <= last)].slice(0, limit)
  }

  /** It leaves the line, and not at its beginning. */
  disturb(message: OracleMessage): void {
    if (message.state === 'ready') this.state.disturbed.add(`${message.queue}/${message.priority}`)
  }

  remove(message: OracleMessage): void {
    this.disturb(message)
    this.state.messages = this.state.messages.filter((one) => one !== message)
  }

  /** Deleted by its receiver. */
  done(message: OracleMessage): void {
    this.disturb(message)
    if (this.numbered(message.queue)?.settings.onAck === 'remove') this.remove(message)
    else Object.assign(message, { state: 'archived', handle: null, archivedAt: this.now })
  }

  release(message: OracleMessage, turn: number, { delaySeconds, error, dead }: Released): void {
    this.disturb(message)
    if (error !== null) message.lastError = error
    const visibleAt = this.now + delaySeconds
    if (dead || this.isOutOfReceives(message)) this.bury(message, turn)
    else if (delaySeconds > 0) Object.assign(message, { state: 'delayed', handle: null, visibleAt })
    else this.makeReady(message, turn, { handle: null, visibleAt })
  }

  /** As if it had not been received; the time until which no other receiver was to have it stays. */
  giveBack(message: OracleMessage): void {
    this.state.disturbed.add(`${message.queue}/${message.priority}`)
    Object.assign(message, { state: 'ready', receives: message.receives - 1, handle: null })
  }

  extend(message: OracleMessage, visibility: number): void {
    this.disturb(message)
    Object.assign(message, { state: 'in-flight', visibleAt: this.now + visibility })
  }

  /** The messages that a redrive may move, and their targets. */
  redrivable(queue: OracleQueue, prefix: string): { message: OracleMessage; to: OracleQueue }[] {
    return this.in(queue, 'ready', 'blocked', 'delayed', 'dead').flatMap((message) => {
      const from = this.numbered(message.from)
      if (from) return from.name.startsWith(prefix) ? [{ message, to: from }] : []
      return message.state === 'dead' ? [{ message, to: queue }] : []
    })
  }

  redrive(message: OracleMessage, to: OracleQueue, turn: number): void {
    this.disturb(message)
    const alive = { from: null, receives: 0, deadAt: null, deadReceiveCount: null }
    const changes = { queue: to.number, ...alive, handle: null, visibleAt: this.now }
    this.makeReady(message, turn, changes)
  }

  sweep(): OpenPlaces[] {
    const turn = this.newTurn()
    for (const queue of this.state.queues) this.#settle(queue, turn)
    this.state.messages = this.state.messages.filter(({ queue, archivedAt }) => {
      const retention = this.numbered(queue)?.settings.retentionSeconds ?? null
      return archivedAt === null || retention === null || archivedAt + retention > this.now
    })
    return this.givePlaces(turn)
  }
}

export interface Released {
  delaySeconds: number
  error: string | null
  dead: boolean
}

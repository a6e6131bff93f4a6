/** The receipt handles of a run, those that are good and those that are not any more, and what settling by them answers. */
import type { FailedReceipt } from '../../../src/shared/queue-types'
import type { HandleShape, SimpleOperation } from './operations'
import type { Oracle, OracleMessage, OracleQueue } from './oracle'
import { expectPlaces, settleOthers } from './places'
import { expectRefusal, expectSame } from './same'
import type { View } from './view'

interface Given {
  handle: string
  /** The queue that it was given out by, by its number and by its name. */
  queue: number
  name: string
  id: bigint
}

type Settle = Extract<SimpleOperation, { kind: 'delete' | 'release' | 'extend' }>

interface Outcome {
  done: string[]
  failed: FailedReceipt[]
}

export class Handles {
  readonly #given: readonly Given[] = []

  constructor(given: readonly Given[] = []) {
    this.#given = given
  }

  copy(): Handles {
    return new Handles([...this.#given])
  }

  /** Without those of queues that were never made after all: whoever comes next may be given their number. */
  upTo(queue: number): Handles {
    return new Handles(this.#given.filter((given) => given.queue <= queue))
  }

  add(given: Given): void {
    ;(this.#given as Given[]).push(given)
  }

  async settle(view: View, operation: Settle): Promise<void> {
    const { oracle, queues, named } = view
    const handles = operation.handles.flatMap((shape) => this.#textOf(shape))
    if (handles.length === 0) return
    const own = this.#given.find(({ handle }) => handle === handles[0])?.name
    const name = operation.queue === null ? (own ?? named('a')) : named(operation.queue)
    if (operation.kind === 'delete' && operation.wrong) {
      return expectRefusal(queues.ackMany(name, [...handles, 7 as never]), ['invalid_input'])
    }
    const queue = oracle.queue(name)
    if (!queue) return expectRefusal(this.#call(view, name, handles, operation), ['queue_not_found'])
    await settleOthers(view, queue)
    const { messages, ...outcome } = this.#outcomeOf(oracle, queue, handles)
    const { done, failed } = await this.#call(view, name, handles, operation)
    expectSame({ done, failed: failed.map((one) => this.#said(oracle, one)) }, outcome)
    const turn = oracle.newTurn()
    for (const message of messages) {
      if (operation.kind === 'delete') oracle.done(message)
      else if (operation.kind === 'release') oracle.release(message, turn, operation)
      else oracle.extend(message, operation.visibilityTimeoutSeconds)
    }
    await expectPlaces(view, oracle.givePlaces(turn))
  }

  /** Without an answer: those whose claim has not ended are given back. Resolves to these messages. */
  async giveBack(view: View, shapes: readonly HandleShape[]): Promise<OracleMessage[]> {
    const given = shapes.flatMap((shape) => ('back' in shape ? (this.#given.at(-1 - shape.back) ?? []) : []))
    const [first] = given
    const queue = view.oracle.queue(first?.name ?? '')
    if (first === undefined || queue?.number !== first.queue) return []
    await settleOthers(view, queue)
    const handles = given.filter(({ queue: own }) => own === queue.number).map(({ handle }) => handle)
    const { messages } = this.#outcomeOf(view.oracle, queue, handles)
    await view.giveBack(queue.name, handles)
    const held = messages.filter(({ state }) => state === 'in-flight')
    for (const message of held) view.oracle.giveBack(message)
    return held
  }

  #textOf(shape: HandleShape): string[] {
    if ('forged' in shape) return [shape.forged]
    const given = this.#given.at(-1 - shape.back)
    return given ? [given.handle] : []
  }

  async #call({ queues }: View, name: string, handles: string[], operation: Settle): Promise<Outcome> {
    if (operation.kind === 'delete') {
      const { acked, failed } = await queues.ackMany(name, handles)
      return { done: acked, failed }
    }
    if (operation.kind === 'release') {
      const { delaySeconds, error, dead } = operation
      const { nacked, failed } = await queues.nackMany(name, handles, { delaySeconds, error, dead })
      return { done: nacked, failed }
    }
    const { visibilityTimeoutSeconds } = operation
    const { extended, failed } = await queues.extendMany(name, handles, { visibilityTimeoutSeconds })
    return { done: extended, failed }
  }

  /** If a queue was dropped and made again since, either code will do. */
  #said({ state }: Oracle, failed: FailedReceipt): FailedReceipt {
    const given = this.#given.find(({ handle }) => handle === failed.receiptHandle)
    const isGone = given !== undefined && !state.queues.some(({ number }) => number === given.queue)
    return isGone ? { ...failed, code: 'invalid_receipt' } : failed
  }

  /** In the order of the handles, each once. */
  #outcomeOf(oracle: Oracle, queue: OracleQueue, handles: readonly string[]): Outcome & { messages: OracleMessage[] } {
    const outcome: Outcome & { messages: OracleMessage[] } = { done: [], failed: [], messages: [] }
    for (const handle of new Set(handles)) {
      const isOurs = this.#given.some((given) => given.handle === handle && given.queue === queue.number)
      const message = oracle.state.messages.find((one) => one.queue === queue.number && one.handle === handle)
      if (message) {
        outcome.done.push(handle)
        outcome.messages.push(message)
      } else outcome.failed.push({ receiptHandle: handle, code: isOurs ? 'stale_receipt' : 'invalid_receipt' })
    }
    return outcome
  }
}

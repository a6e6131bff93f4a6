/** Making, changing and dropping queues in the model. */
import type { QueueSettings } from '../../../src/shared/queue-types'
import type { Oracle, OracleQueue } from './oracle'
import { expectRefusal, expectSame } from './same'
import { heldOf, heldUntilOf, type View } from './view'

export async function putOn(view: View, short: string, settings: QueueSettings): Promise<void> {
  const { oracle, queues, named } = view
  const name = named(short)
  const given = namedSettings(view, settings)
  const expected = oracle.put(name, given, view.isInside)
  if (Array.isArray(expected)) return expectRefusal(queues.put(name, given), expected)
  const { createdAt: _, tag: __, holdEndsAt, ...answer } = await queues.put(name, given)
  expectSame({ ...answer, ...heldOf(view, holdEndsAt) }, { ...attributesOf(oracle, name), ...expected })
}

/** An existing queue stays as it is, whatever the settings. */
export async function ensureOn(view: View, short: string, settings: QueueSettings): Promise<void> {
  const { oracle, queues, named } = view
  const name = named(short)
  const given = namedSettings(view, settings)
  const expected = oracle.queue(name) ? { created: false } : oracle.put(name, given)
  if (Array.isArray(expected)) return expectRefusal(queues.ensure(name, given), expected)
  const { createdAt: _, tag: __, holdEndsAt, ...answer } = await queues.ensure(name, given)
  expectSame({ ...answer, ...heldOf(view, holdEndsAt) }, { ...attributesOf(oracle, name), ...expected })
}

export async function updateOn(view: View, short: string, settings: QueueSettings): Promise<void> {
  const { oracle, queues, named } = view
  const name = named(short)
  const given = namedSettings(view, settings)
  const refused = oracle.update(name, given, view.isInside)
  if (refused) return expectRefusal(queues.update(name, given), refused)
  const { createdAt: _, tag: __, holdEndsAt, ...answer } = await queues.update(name, given)
  expectSame({ ...answer, ...heldOf(view, holdEndsAt) }, attributesOf(oracle, name))
}

export async function holdOn(view: View, short: string, seconds: number): Promise<void> {
  const name = view.named(short)
  const queue = view.oracle.queue(name)
  const answer = view.queues.hold(name, { seconds })
  if (!queue) return expectRefusal(answer, ['queue_not_found'])
  queue.heldUntil = seconds === 0 ? 0 : view.oracle.now + seconds
  expectSame(heldOf(view, (await answer).holdEndsAt), heldUntilOf(view.oracle, queue))
}

export async function pauseOn(view: View, short: string, paused: boolean): Promise<void> {
  const { oracle, queues, named } = view
  const name = named(short)
  const queue = oracle.queue(name)
  const answer = paused ? queues.pause(name) : queues.resume(name)
  if (!queue) return expectRefusal(answer, ['queue_not_found'])
  queue.paused = paused
  const { createdAt: _, tag: __, holdEndsAt, ...attributes } = await answer
  expectSame({ ...attributes, ...heldOf(view, holdEndsAt) }, attributesOf(oracle, name))
}

function namedSettings({ named }: View, { deadLetterQueue, ...settings }: QueueSettings): QueueSettings {
  if (deadLetterQueue === undefined) return settings
  return { ...settings, deadLetterQueue: deadLetterQueue === null ? null : named(deadLetterQueue) }
}

/** The attributes of a queue that is there. */
export function attributesOf(oracle: Oracle, name: string) {
  const queue = oracle.queue(name) as OracleQueue
  const { settings, deadLetters, paused } = queue
  const held = heldUntilOf(oracle, queue)
  return { queue: name, ...settings, ...held, paused, deadLetterQueue: oracle.numbered(deadLetters)?.name ?? null }
}

export async function dropOn({ oracle, queues }: View, name: string): Promise<void> {
  const queue = oracle.queue(name)
  if (queue && oracle.isDeadLetterQueue(queue)) return expectRefusal(queues.drop(name), ['queue_in_use'])
  expectSame(await queues.drop(name), queue !== undefined)
  if (queue) oracle.drop(queue)
}

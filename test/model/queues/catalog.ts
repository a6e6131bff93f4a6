/** Making, changing and dropping queues in the model. */
import type { QueueSettings } from '../../../src/repositories/queues/types'
import { expectRefusal, expectSame } from './same'
import type { View } from './view'

export async function putOn(view: View, short: string, { deadLetterQueue, ...settings }: QueueSettings): Promise<void> {
  const { oracle, queues, named } = view
  const name = named(short)
  const letters = typeof deadLetterQueue === 'string' ? named(deadLetterQueue) : deadLetterQueue
  const given = { ...settings, ...(letters === undefined ? {} : { deadLetterQueue: letters }) }
  const expected = oracle.put(name, given)
  if (Array.isArray(expected)) return expectRefusal(queues.put(name, given), expected)
  const { createdAt: _, ...answer } = await queues.put(name, given)
  expectSame(answer, {
    queue: name,
    ...oracle.queue(name)?.settings,
    deadLetterQueue: letters ?? null,
    ...expected,
  })
}

export async function dropOn({ oracle, queues }: View, name: string): Promise<void> {
  const queue = oracle.queue(name)
  if (queue && oracle.isDeadLetterQueue(queue)) return expectRefusal(queues.deleteQueue(name), ['queue_in_use'])
  expectSame(await queues.deleteQueue(name), queue !== undefined)
  if (queue) oracle.drop(queue)
}

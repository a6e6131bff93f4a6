/** The rates of a queue, and their form in its row. */
import type { QueueSettings } from '../../shared/queue-types'

/** A `rateLimit`, or a `groupRateLimit`. */
export type Rate = NonNullable<QueueSettings['rateLimit']>

/** A rate as the table has it; an empty text is none. */
export function rateOf(text: string | undefined): Rate | null {
  if (!text) return null
  const [messages, perSeconds] = text.split('/').map(Number) as [number, number]
  return { messages, perSeconds }
}

/** Both rates, for the table. */
export function storedRates(rateLimit: Rate | null, groupRateLimit: Rate | null): string | null {
  const [own, ofGroups] = [rateLimit, groupRateLimit].map((rate) => (rate ? `${rate.messages}/${rate.perSeconds}` : ''))
  return own || ofGroups ? `${own} ${ofGroups}` : null
}

/** How fast messages are received: rates of a queue, and holds. */
import { type Field, faultsOf, optional, required, rulesOf, said } from './field'
import { NAME, text, whole } from './rules'

/** `messages` in `perSeconds`. */
const RATES = { messages: whole(1, 100_000), perSeconds: whole(1, 86_400) }
const RATE_RULES = rulesOf({ messages: required(RATES.messages), perSeconds: required(RATES.perSeconds) })
export const RATE: Field<{ messages: number; perSeconds: number }> = {
  fault(value) {
    if (typeof value !== 'object' || value === null) return 'must be { messages, perSeconds }'
    const faults = faultsOf(value, RATE_RULES).map(({ pointer, detail }) => `${pointer?.slice(1)} ${detail}`)
    return faults.length === 0 ? null : faults.join('; ')
  },
  schema: {
    type: 'object',
    required: ['messages', 'perSeconds'],
    properties: { messages: RATES.messages.schema, perSeconds: RATES.perSeconds.schema },
    additionalProperties: false,
  },
}
/** As long as a claim holds. */
const MAX_HOLD_SECONDS = 43_200
export const HOLD_SECONDS = said(whole(0, MAX_HOLD_SECONDS), 'Counted from now; 0 ends the hold.')
export const HOLD_RULES = rulesOf({
  group: optional(NAME),
  seconds: required(HOLD_SECONDS),
  receiptHandle: optional(text()),
})

/** Of the status of a queue. */
export const LIMITED =
  'How many messages a rate limit, or a hold of the queue, keeps waiting. With a `groupRateLimit` all blocked messages count, also ' +
  'those that wait for `groupConcurrency` or a key: to tell them apart, each would be read.'

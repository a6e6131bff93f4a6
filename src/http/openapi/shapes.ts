/** The shapes that the schemas of answers are made of. */
import { type Body, orNull, ref, type Schema } from '../../fields/field'

export const list = (items: Schema, description?: string): Schema => ({
  type: 'array',
  items,
  ...(description !== undefined && { description }),
})

/** Every member is always there. */
export const answer = (properties: Record<string, Schema>, description?: string): Schema => ({
  type: 'object',
  ...(description !== undefined && { description }),
  properties,
  required: Object.keys(properties),
})

export const pageOf = (name: string, schema: string): Schema =>
  answer({ [name]: list(ref(schema)), nextAfter: textOrNull })

export const componentsOf = (...bodies: readonly Body[]): Record<string, Schema> =>
  Object.fromEntries(bodies.map(({ name, schema }) => [name, schema]))

export const count = { type: 'integer', minimum: 0 }
export const truth = (description: string): Schema => ({ type: 'boolean', description })
export const tag = {
  type: 'string',
  description: 'For `If-Match`: changes with the settings, and with nothing but them.',
}
export const anyJson = { description: 'Any JSON value.' }
export const textOrNull = orNull({ type: 'string' })
export const nameOrNull = orNull(ref('Name'))
export const timeOrNull = orNull(ref('Time'))

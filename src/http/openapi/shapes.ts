/** The shapes that the schemas of answers are made of. */
import { type DtoClass, orNull, ref, type Schema } from '../../fields/field'
import { componentName, schemaOf } from '../dto/dto'

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

export const componentsOf = (...dtos: readonly DtoClass[]): Record<string, Schema> =>
  Object.fromEntries(dtos.map((dto) => [componentName(dto), schemaOf(dto)]))

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

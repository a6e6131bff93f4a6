/** The shapes that the schemas of the OpenAPI document are made of. */

export type Schema = Readonly<Record<string, unknown>>

export const ref = (name: string): Schema => ({ $ref: `#/components/schemas/${name}` })
export const orNull = (schema: Schema): Schema => ({ anyOf: [schema, { type: 'null' }] })
export const list = (schema: Schema, bounds: Schema = {}): Schema => ({ type: 'array', items: schema, ...bounds })

/** An answer: every member is always there. */
export const answer = (properties: Record<string, Schema>): Schema => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
})

/** A request: what is not known is refused. */
export const request = (properties: Record<string, Schema>, required: string[] = []): Schema => ({
  type: 'object',
  properties,
  ...(required.length > 0 && { required }),
  additionalProperties: false,
})

export const count = { type: 'integer', minimum: 0 }
export const anyJson = { description: 'Any JSON value.' }

/** A whole number, and what it is when left out. */
export const whole = (minimum: number, maximum: number, more: Schema = {}): Schema => ({
  type: 'integer',
  minimum,
  maximum,
  ...more,
})

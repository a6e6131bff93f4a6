/**
 * The OpenAPI document as TypeScript. The types of its answers and bodies by the names of their schemas, and of the queries by
 * operation, with ids as bigint and times as Date. The rules of the document for a value beyond its type are left out.
 */
interface Schema {
  $ref?: string
  type?: string
  const?: string
  enum?: string[]
  items?: Schema
  properties?: Record<string, Schema>
  required?: string[]
  additionalProperties?: Schema | false
  anyOf?: Schema[]
  oneOf?: Schema[]
}

interface Operation {
  operationId: string
  parameters?: { in: string; name: string; required?: boolean; schema: Schema }[]
  requestBody?: { content: Record<string, { schema: Schema }> }
  responses: Record<string, unknown>
}

const { answerOf } = require('../../scripts/client-operations.cjs') as {
  answerOf(responses: Operation['responses']): string | undefined
}

const CONVERTED: Record<string, string> = {
  ...{ Id: 'bigint', TotalAppended: 'bigint', Cursor: 'bigint', Position: 'bigint' },
  Time: 'Date',
}
const PLAIN: Record<string, string> = { integer: 'number', null: 'null', undefined: 'unknown' }

const nameOf = ({ $ref = '' }: Schema) => $ref.split('/').at(-1) as string

export function typesOf(document: object): string {
  const { components, paths } = document as {
    components: { schemas: Record<string, Schema> }
    paths: Record<string, Record<string, Operation>>
  }
  const operations = Object.values(paths).flatMap((methods) => Object.values(methods))
  const answers = operations.flatMap(({ responses }) => answerOf(responses) ?? [])
  const bodies = operations.flatMap(({ requestBody: body }) =>
    body ? nameOf(body.content['application/json']?.schema ?? {}) : [],
  )
  const queries = operations.flatMap(({ operationId, parameters = [] }) => {
    const fields = parameters.filter((each) => each.in === 'query')
    const texts = fields.map(({ name, required = false, schema }) => field(name, schema, required))
    return texts.length > 0 ? `  ${operationId}: { ${texts.join('; ')} }` : []
  })
  const named = (names: string[]) => [...new Set(names)].map((name) => `  ${name}: Schemas['${name}']`)
  return `interface Schemas {
${Object.entries(components.schemas)
  .map(([name, schema]) => `  ${name}: ${typeOf(schema)}`)
  .join('\n')}
}
export interface Document {
  Answers: {\n${named(answers).join('\n')}\n}
  Bodies: {\n${named(bodies).join('\n')}\n}
  Queries: {\n${queries.join('\n')}\n}
}
`
}

function typeOf(schema: Schema): string {
  if (schema.$ref) return CONVERTED[nameOf(schema)] ?? `Schemas['${nameOf(schema)}']`
  const either = schema.anyOf ?? schema.oneOf
  if (either && !schema.properties) return either.map(typeOf).join(' | ')
  if (schema.enum) return schema.enum.map((word) => `'${word}'`).join(' | ')
  if (schema.const) return `'${schema.const}'`
  if (schema.items) return `(${typeOf(schema.items)})[]`
  if (schema.properties) {
    const { properties, required = [] } = schema
    return `{ ${Object.entries(properties)
      .map(([name, each]) => field(name, each, required.includes(name)))
      .join('; ')} }`
  }
  if (schema.type === 'object') return `Record<string, ${schema.additionalProperties ? 'string' : 'never'}>`
  return PLAIN[String(schema.type)] ?? String(schema.type)
}

const field = (name: string, schema: Schema, isRequired: boolean) =>
  `${name}${isRequired ? '' : '?'}: ${typeOf(schema)}`

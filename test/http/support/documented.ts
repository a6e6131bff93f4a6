/** Judges answers by the OpenAPI document: what the server says must be what the document says it says. */
import Ajv2020, { type ValidateFunction } from 'ajv/dist/2020'
import addFormats from 'ajv-formats'
import { openApiDocument } from '../../../src/http/openapi/document'
import { storeRoutes } from '../../../src/http/router'
import { processRoutes } from '../../../src/http/routes/health'

interface Json {
  [key: string]: Json
}

/** The routes of a process, of which only the tables are looked at. */
export const allRoutes = [...storeRoutes, ...processRoutes({ metrics: { text: async () => '', contentType: '' } })]

export const document = openApiDocument(allRoutes, '0.0.0', '/') as unknown as Json

const ajv = new Ajv2020({ strict: false, allErrors: true })
addFormats(ajv)
// An answer with a member that the document doesn't know is a fault of one of the two.
ajv.addSchema(closed({ $id: 'doc', components: document.components as Json }) as object)

function closed(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(closed)
  if (typeof node !== 'object' || node === null) return node
  const copy = Object.fromEntries(Object.entries(node).map(([key, value]) => [key, closed(value)]))
  return copy.type === 'object' && copy.properties ? { ...copy, additionalProperties: false } : copy
}

const validators = new Map<string, ValidateFunction>()

/** The faults of a value by a schema of the document; null when nothing is. */
export function schemaFault(schema: string, value: unknown): string | null {
  let validate = validators.get(schema)
  if (!validate) {
    validate = ajv.compile({ $ref: `doc#/components/schemas/${schema}` })
    validators.set(schema, validate)
  }
  return validate(value) ? null : JSON.stringify(validate.errors)
}

export interface Seen {
  method: string
  /** Relative to where the router is mounted. */
  path: string
  status: number
  headers: Record<string, unknown>
  text: string
}

/** Throws unless the document has this answer. */
export function mustBeDocumented({ method, path, status, headers, text }: Seen): void {
  const what = `${method} ${path} answered ${status} ${text.slice(0, 300)}`
  if (typeof headers['x-request-id'] !== 'string') throw new Error(`${what}, without X-Request-Id`)
  const type = headers['content-type']
  if (type === 'application/problem+json') {
    const fault = schemaFault('Problem', JSON.parse(text))
    if (fault) throw new Error(`${what}: ${fault}`)
    if (JSON.parse(text).status !== status) throw new Error(`${what}: another status in the body`)
  } else if (status >= 400) {
    throw new Error(`${what}, which is no problem+json but ${type}`)
  }
  const operation = operationOf(method, path)
  if (!operation) return
  const response = operation.responses?.[String(status)]
  if (!response) throw new Error(`${what}, which the document doesn't have`)
  for (const [name, header] of Object.entries(response.headers ?? {})) {
    if (header.required && headers[name.toLowerCase()] === undefined) throw new Error(`${what}, without ${name}`)
  }
  const content = response.content?.[String(type)]
  if (!content) {
    if (text !== '' || response.content) throw new Error(`${what}: ${type} is not documented`)
    return
  }
  const schema = String(content.schema?.$ref).split('/').at(-1) as string
  const fault = schemaFault(schema, /json/.test(String(type)) ? JSON.parse(text) : text)
  if (fault) throw new Error(`${what}: ${fault}`)
}

/** The operation of a request; none for an unknown path, another method, and HEAD (whose body isn't sent). */
export function operationOf(method: string, path: string): Json | undefined {
  const segments = path.split('?')[0]?.split('/') ?? []
  for (const [template, operations] of Object.entries(document.paths as Json)) {
    const parts = template.split('/')
    const fits = parts.every((part, i) => (part.startsWith('{') ? segments[i] : part === segments[i]))
    if (fits && parts.length === segments.length) return operations[method.toLowerCase()]
  }
  return undefined
}

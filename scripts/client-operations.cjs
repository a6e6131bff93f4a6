/**
 * `node scripts/client-operations.cjs` writes docs/openapi.json, the document of the build in dist, and generates
 * src/client/operations.ts from it: the route of each operation, with what it takes and answers by the names of `schemas.ts`,
 * and the names of fields that are ids, or whose values are the user's. A time is known by the `At` at the end of its name.
 * Each is its own constant, so that a bundler leaves out those that no page calls. A test generates the same text and compares.
 */
const { writeFileSync } = require('node:fs')
const { join } = require('node:path')

/** Schemas that have another type in the client than in JSON. */
const KINDS = { Id: 'id', TotalAppended: 'id', Cursor: 'id', Position: 'id', Time: 'time' }

/** The schemas of streams' events. */
const EVENTS = ['Item', 'GroupRemoved', 'GroupReset']

/** Header parameters that the client sends by itself. */
const KNOWN_HEADERS = ['If-Match', 'If-None-Match', 'Last-Event-ID']

const nameOf = (ref) => ref.split('/').at(-1)

const bodyOf = ({ content }, schemas) => schemas[nameOf(content['application/json'].schema.$ref)]

/** The text of operations.ts. */
exports.operationsOf = (document) => {
  const { schemas } = document.components
  const operations = Object.values(document.paths).flatMap(Object.values)
  const routes = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => operationOf(path, method.toUpperCase(), operation)),
  )
  return `// Generated from the OpenAPI document by scripts/client-operations.cjs. Do not edit.
import type { Answers, Bodies, Operation, Path, Query } from './schemas'

${ruleLines(operations, schemas)}
${routes.join('')}`
}

function operationOf(target, method, { operationId, parameters = [], requestBody, responses }) {
  const unknown = parameters.find((each) => each.in === 'header' && !KNOWN_HEADERS.includes(each.name))
  if (unknown) throw new Error(`the client sends no ${unknown.name}`)
  const answer = exports.answerOf(responses)
  const body = requestBody && nameOf(requestBody.content['application/json'].schema.$ref)
  const named = (place) => parameters.flatMap((each) => (each.in === place ? [`'${each.name}'`] : [])).join(' | ')
  const [path, query] = [named('path'), named('query')]
  const parts = [path && `path: Path<${path}>`, query && `query: Query<${query}>`, body && `body: Bodies['${body}']`]
  const taken = parts.filter(Boolean).join('; ')
  const type = `${answer ? `Answers['${answer}']` : 'undefined'}${taken && `, { ${taken} }`}`
  return `export const ${operationId} = '${method} ${target}' as Operation<${type}>\n`
}

/** The name of the answer; the wider one of two: `SentOneOrMany` beside `Sent`. Undefined if there is none. */
exports.answerOf = (responses) => {
  const names = Object.entries(responses)
    .filter(([status, { content }]) => status < 300 && content)
    .map(([, { content }]) => nameOf(Object.values(content)[0].schema.$ref))
  return names.at(-1)
}

/** Which fields the client converts, by their names. Throws if one name means two things. */
function ruleLines(operations, schemas) {
  const kinds = new Map()
  for (const name of [...EVENTS, ...operations.map(({ responses }) => exports.answerOf(responses))]) {
    if (name) walk(schemas[name], schemas, [], (path, kind) => note(kinds, path.at(-1), kind))
  }
  const sent = new Set()
  for (const { requestBody } of operations) {
    if (requestBody)
      walk(bodyOf(requestBody, schemas), schemas, [], (path, kind) => kind === 'id' && sent.add(path.join('/')))
  }
  const named = (wanted) => [...kinds].flatMap(([name, kind]) => (kind === wanted ? [name] : [])).join('|')
  const places = [...sent].sort().map((place) => place.replaceAll('/', '\\/').replaceAll('*', '\\d+'))
  return `/** Fields of answers that are ids. */
export const IDS = /^(${named('id')})$/
/** Fields of answers that have what users gave. */
export const OPEN = /^(${named('open')})$/
/** Where bodies have ids. */
export const SENT_IDS = /^\\/(${places.join('|')})$/
`
}

function note(kinds, name, kind) {
  const known = kinds.get(name) ?? kind
  // An id begins with a digit, and the other `nextBefore` does not.
  if (known !== kind && name !== 'nextBefore') throw new Error(`${name} is ${known} here and ${kind} there`)
  if (name !== undefined) kinds.set(name, known === 'plain' ? kind : known)
}

/** Calls `see` with the path of each field, and what the field is: `id`, `time`, `open` or `plain`. A member of a list is `*`. */
function walk(schema, schemas, path, see) {
  if (schema.$ref) {
    const name = nameOf(schema.$ref)
    if (!(name in KINDS)) {
      walk(schemas[name], schemas, path, see)
      return
    }
    if (KINDS[name] === 'time' && !path.at(-1).endsWith('At')) throw new Error(`${path.at(-1)} is a time`)
    see(path, KINDS[name])
    return
  }
  if (schema.type === 'array') {
    walk(schema.items, schemas, [...path, '*'], see)
    return
  }
  const fields = Object.entries(schema.properties ?? {})
  for (const [name, each] of fields) walk(each, schemas, [...path, name], see)
  const some = (schema.anyOf ?? schema.oneOf ?? []).filter(({ type }) => type !== 'null')
  for (const each of some) walk(each, schemas, path, see)
  if (fields.length + some.length > 0) return
  if (path.at(-1)?.endsWith('At')) throw new Error(`${path.at(-1)} is no time`)
  const isTyped = schema.type !== undefined || 'enum' in schema || 'const' in schema
  see(path, isTyped && !schema.additionalProperties ? 'plain' : 'open')
}

if (require.main === module) {
  const dist = join(__dirname, '..', 'dist', 'src', 'http')
  const { openApiDocument } = require(join(dist, 'openapi', 'document.js'))
  const { storeRoutes } = require(join(dist, 'router.js'))
  const { processRoutes } = require(join(dist, 'routes', 'health.js'))
  const routes = [...storeRoutes, ...processRoutes({ metrics: { text: async () => '', contentType: '' } })]
  const document = openApiDocument(routes, '0.0.0', '/')
  writeFileSync(join(__dirname, '..', 'src', 'client', 'operations.ts'), exports.operationsOf(document))
  writeFileSync(join(__dirname, '..', 'docs', 'openapi.json'), `${JSON.stringify(document, null, 1)}\n`)
}

/**
 * `node scripts/client-operations.cjs` writes docs/openapi.json, the document of the build in dist, and generates
 * src/client/operations.ts from it: the route of each operation, what it takes and answers by the names of `schemas.ts`, and
 * which fields of its bodies are ids and times: a time whose name ends in `At` or `Until` is known by that. Each is its own constant, so
 * that a bundler leaves out those that no page calls. A test generates the same text and compares.
 */
const { writeFileSync } = require('node:fs')
const { join } = require('node:path')

/** Schemas that have another type in the client than in JSON. */
const CONVERTED = { Id: 'bigint', TotalAppended: 'bigint', Cursor: 'bigint', Position: 'bigint', Time: 'time' }

/** Header parameters that the client sends by itself. */
const KNOWN_HEADERS = ['If-Match', 'If-None-Match', 'Last-Event-ID']

/** How many operations take or answer a schema. */
const uses = new Map()

const nameOf = (ref) => ref.split('/').at(-1)

/** The text of operations.ts. */
exports.operationsOf = (document) => {
  const { schemas } = document.components
  uses.clear()
  for (const { requestBody, responses } of Object.values(document.paths).flatMap(Object.values)) {
    const body = requestBody && nameOf(requestBody.content['application/json'].schema.$ref)
    for (const name of [body, exports.answerOf(responses)]) uses.set(name, (uses.get(name) ?? 0) + 1)
  }
  const routes = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => operationOf(path, method.toUpperCase(), operation, schemas)),
  )
  return `// Generated from the OpenAPI document by scripts/client-operations.cjs. Do not edit.
import type { FieldShapes, Operation, Path, Query } from './format'
import type { Answers, Bodies } from './schemas'

${shapeLines(schemas).join('')}
${routes.join('')}`
}

function operationOf(target, method, { operationId, parameters = [], requestBody, responses }, schemas) {
  const unknown = parameters.find((each) => each.in === 'header' && !KNOWN_HEADERS.includes(each.name))
  if (unknown) throw new Error(`the client sends no ${unknown.name}`)
  const answer = exports.answerOf(responses)
  const body = requestBody && nameOf(requestBody.content['application/json'].schema.$ref)
  const named = (place) => parameters.flatMap((each) => (each.in === place ? [`'${each.name}'`] : [])).join(' | ')
  const [path, query] = [named('path'), named('query')]
  const parts = [path && `path: Path<${path}>`, query && `query: Query<${query}>`, body && `body: Bodies['${body}']`]
  const taken = parts.filter(Boolean).join('; ')
  const type = `${answer ? `Answers['${answer}']` : 'undefined'}${taken && `, { ${taken} }`}`
  const sent = body && shapeOf(schemas[body], schemas) ? `, body: ${referenceTo(body, schemas)}` : ''
  const given = answer && shapeOf(schemas[answer], schemas) ? `, answer: ${referenceTo(answer, schemas)}` : ''
  return `export const ${operationId}: Operation<${type}> = { method: '${method}', path: '${target}'${sent}${given} }\n`
}

/** The name of the answer; the wider one of two: `SentOneOrMany` beside `Sent`. Undefined if there is none. */
exports.answerOf = (responses) => {
  const names = Object.entries(responses)
    .filter(([status, { content }]) => status < 300 && content)
    .map(([, { content }]) => nameOf(Object.values(content)[0].schema.$ref))
  return names.at(-1)
}

/** Shapes that other files of the client name. */
const IMPORTED = ['Item', 'Group', 'GroupRemoved', 'GroupReset']

/** The shapes that have a constant, each after those that it names. All others are written where they are used: pages count bytes. */
function shapeLines(schemas) {
  const lines = new Map()
  const add = (name) => {
    if (lines.has(name) || !hasConstant(name, schemas)) return
    const shape = shapeOf(schemas[name], schemas)
    for (const inner of namesIn(shape)) add(inner)
    lines.set(
      name,
      `${IMPORTED.includes(name) ? 'export ' : ''}const ${shapeName(name)}: FieldShapes = ${shapeText(shape, schemas)}\n`,
    )
  }
  Object.keys(schemas).forEach(add)
  return [...lines.values()]
}

const namesIn = (shape) =>
  typeof shape !== 'string'
    ? Object.values(shape ?? {}).flatMap(namesIn)
    : Object.values(CONVERTED).includes(shape)
      ? []
      : [shape]

/** One that several others have in them, and that says something. */
function hasConstant(name, schemas) {
  if (IMPORTED.includes(name)) return true
  const shape = shapeOf(schemas[name], schemas)
  if (shape === null || Object.keys(shape).length === 0) return false
  const within = Object.keys(schemas).filter((each) => namesIn(shapeOf(schemas[each], schemas)).includes(name))
  return within.length + (uses.get(name) ?? 0) > 1
}

const shapeName = (name) => `${name.replace(/^./, (letter) => letter.toLowerCase())}Shape`

const referenceTo = (name, schemas) =>
  hasConstant(name, schemas) ? shapeName(name) : shapeText(shapeOf(schemas[name], schemas), schemas)

function shapeText(shape, schemas) {
  if (Object.values(CONVERTED).includes(shape)) return `'${shape}'`
  if (typeof shape === 'string') return referenceTo(shape, schemas)
  const fields = Object.entries(shape).map(([name, each]) => `${name}: ${shapeText(each, schemas)}`)
  return fields.length === 0 ? '{}' : `{ ${fields.join(', ')} }`
}

/** By field: a conversion, the name of another shape, or a shape. Null where nothing is converted. */
function shapeOf(schema, schemas) {
  if (schema.$ref) {
    const name = nameOf(schema.$ref)
    return CONVERTED[name] ?? (shapeOf(schemas[name], schemas) ? name : null)
  }
  if (schema.type === 'array') return shapeOf(schema.items, schemas)
  if (schema.properties) {
    const fields = Object.entries(schema.properties).map(([name, each]) => [name, shapeOf(each, schemas)])
    const converted = fields.filter(([, shape]) => shape !== null)
    const wrong = fields.find(([name, shape]) => /At$|Until$/.test(name) && shape !== 'time')
    if (wrong) throw new Error(`${wrong[0]} is no time, and the client makes it one`)
    const named = converted.filter(([name]) => !/At$|Until$/.test(name))
    return converted.length === 0 ? null : Object.fromEntries(named)
  }
  const shapes = (schema.anyOf ?? schema.oneOf ?? []).map((each) => shapeOf(each, schemas)).filter(Boolean)
  if (shapes.length < 2) return shapes[0] ?? null
  // One of several: the fields of all of them.
  return Object.assign(
    {},
    ...shapes.map((shape) => (typeof shape === 'string' ? shapeOf(schemas[shape], schemas) : shape)),
  )
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

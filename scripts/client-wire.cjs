/**
 * `node scripts/client-wire.cjs` writes docs/openapi.json, the document of the build in dist, and generates two files of src/client from it. `wire.ts` has
 * the types of bodies as the client takes and gives them (ids as bigint, times as Date), and of operations. `operations.ts`
 * has the route of each operation, and which fields of its bodies are ids and times. Each is a constant of its own, so that
 * a bundler leaves out those that nobody calls. A test generates the same texts and compares.
 */
const { writeFileSync } = require('node:fs')
const { join } = require('node:path')

/** Schemas that have another type in the client than in JSON. */
const CONVERTED = { Id: 'bigint', TotalAppended: 'bigint', Cursor: 'bigint', Position: 'bigint', Time: 'time' }
const TYPE_OF = { bigint: 'bigint', time: 'Date' }
const PLAIN = { string: 'string', boolean: 'boolean', null: 'null', integer: 'number', number: 'number' }

/** Header parameters that the client sends by itself. */
const KNOWN_HEADERS = ['If-Match', 'If-None-Match', 'Last-Event-ID']

const nameOf = (ref) => ref.split('/').at(-1)
const joined = (list, separator = '') => list.join(separator)

const HEAD = '// Generated from the OpenAPI document by scripts/client-wire.cjs. Do not edit.\n'

/** The texts of wire.ts and operations.ts. */
exports.wireOf = (document) => {
  const { schemas } = document.components
  const named = Object.keys(schemas).filter((name) => schemas[name].type !== 'string' && name !== 'NoFields')
  const operations = operationsOf(document)
  const types = `${HEAD}
${joined(
  named.map((name) => declared(name, schemas)),
  '\n',
)}
type Nothing = Record<never, never>

/** What each operation takes and answers. */
interface Wire {
${joined(operations.map(({ type }) => type))}}

// The default, because the package exports what is exported by name.
export default Wire
`
  const constants = `${HEAD}import type { FieldShapes, Operation } from './format'

${joined(shapeLines(named, schemas))}
${joined(operations.map(({ route }) => route))}`
  return { types, constants }
}

/** Interfaces of what is sent take constant lists. */
function declared(name, schemas) {
  const schema = schemas[name]
  const parameter = jsonFieldOf(schema, schemas)
  const isSent = JSON.stringify(schema).includes('"additionalProperties":false') || name === 'Sending'
  const doc = schema.description ? docOf(schema, '') : ''
  const text =
    schema.type === 'object'
      ? `${doc}export interface ${name} {\n${fieldLines(schema, schemas, '  ')}}\n`
      : `${doc}export type ${name} = ${typeOf(schema, schemas)}\n`
  const given = isSent ? text.replaceAll(/(\w+)\[\]/g, 'readonly $1[]') : text
  return parameter === null ? given : typed(given, parameter, schemas)
}

/** The field with a JSON value that a body has, or another one in it, as the name of a type; null if there is none. */
function jsonFieldOf(schema, schemas) {
  if (schema.$ref) return jsonFieldOf(schemas[nameOf(schema.$ref)], schemas)
  for (const [name, each] of Object.entries(schema.properties ?? {})) {
    if (typeOf(each, schemas) === 'unknown') return name.replace(/^./, (letter) => letter.toUpperCase())
  }
  const within = [schema.items, ...Object.values(schema.properties ?? {}), ...(schema.anyOf ?? schema.oneOf ?? [])]
  return within.reduce((found, each) => found ?? (each ? jsonFieldOf(each, schemas) : null), null)
}

/** Gives the type parameter to what is unknown, and to the bodies that have one. */
function typed(text, parameter, schemas) {
  const within = text.replaceAll(/(\?: |[:=|] (?:readonly )?)(\w+)/g, (all, before, name) => {
    if (name === 'unknown') return `${before}${parameter}${before === '?: ' ? ' | undefined' : ''}`
    return schemas[name] && jsonFieldOf(schemas[name], schemas) !== null ? `${all}<${parameter}>` : all
  })
  return within.replace(/^export (?:interface|type) \w+/m, `$&<${parameter} = unknown>`)
}

function typeOf(schema, schemas) {
  if (schema.$ref) {
    const name = nameOf(schema.$ref)
    if (CONVERTED[name]) return TYPE_OF[CONVERTED[name]]
    return schemas[name].type === 'string' ? 'string' : name === 'NoFields' ? 'Record<string, never>' : name
  }
  const either = schema.anyOf ?? schema.oneOf
  if (either && !schema.properties) return either.map((each) => typeOf(each, schemas)).join(' | ')
  if (schema.enum) return schema.enum.map((word) => `'${word}'`).join(' | ')
  if (schema.const) return `'${schema.const}'`
  if (schema.type === 'array') {
    const items = typeOf(schema.items, schemas)
    return items.includes(' | ') && !items.startsWith('{') ? `(${items})[]` : `${items}[]`
  }
  if (schema.additionalProperties?.type === 'string') return 'Readonly<Record<string, string>>'
  if (schema.type === 'object') return `{ ${fieldsOf(schema, schemas).join('; ')} }`
  if (schema.type !== undefined && !PLAIN[schema.type]) throw new Error(`no type for ${JSON.stringify(schema)}`)
  return PLAIN[schema.type] ?? 'unknown'
}

const fieldsOf = ({ properties, required = [] }, schemas) =>
  Object.entries(properties).map(([name, schema]) => field(name, typeOf(schema, schemas), required.includes(name)))

/** An optional field may be undefined too, for programs that are compiled with exactOptionalPropertyTypes. */
function field(name, type, isRequired) {
  return isRequired ? `${name}: ${type}` : `${name}?: ${type}${type === 'unknown' ? '' : ' | undefined'}`
}

function fieldLines(schema, schemas, indent) {
  const docs = Object.values(schema.properties).map((each) => docOf(each, indent))
  return joined(fieldsOf(schema, schemas).map((text, i) => `${docs[i]}${indent}${text}\n`))
}

/** What the document says of a field beyond its type. */
function docOf(schema, indent) {
  const first = schema.anyOf?.[0] ?? schema
  const { minimum, maximum, default: byDefault } = first
  const isRange = minimum !== undefined && maximum !== undefined && maximum < Number.MAX_SAFE_INTEGER
  const facts = [isRange && `${minimum} to ${maximum}`, byDefault !== undefined && `\`${byDefault}\` when left out`]
  const bounds = joined(facts.filter(Boolean), '; ').replace(/^./, (letter) => letter.toUpperCase())
  const said = [schema.description ?? first.description, bounds && `${bounds}.`].filter(Boolean).join(' ')
  return said === '' ? '' : `${indent}/** ${said} */\n`
}

function operationsOf(document) {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) =>
      operationOf(path, method.toUpperCase(), operation, document.components.schemas),
    ),
  )
}

function operationOf(path, method, { operationId, summary, parameters = [], requestBody, responses }, schemas) {
  const unknown = parameters.find((each) => each.in === 'header' && !KNOWN_HEADERS.includes(each.name))
  if (unknown) throw new Error(`the client sends no ${unknown.name}`)
  const answer = answerOf(responses)
  const isEmpty = Object.entries(responses).some(([status, { content }]) => status < 300 && !content)
  const body = requestBody ? typeOf(requestBody.content['application/json'].schema, schemas) : 'undefined'
  const type = `  /** ${summary}: \`${method} ${path}\` */
  ${operationId}: {
    path: ${parametersType(parameters, 'path', schemas)}
    query: ${parametersType(parameters, 'query', schemas)}
    body: ${body}
    answer: ${joined([answer && typeOf({ $ref: answer }, schemas), (isEmpty || !answer) && 'undefined'].filter(Boolean), ' | ')}
  }
`
  const sent = body in schemas && shapeOf(schemas[body], schemas) ? `, body: ${shapeName(body)}` : ''
  const given = answer && shapeOf(schemas[answer], schemas) ? `, answer: ${shapeName(answer)}` : ''
  const constant = `{ method: '${method}', path: '${path}'${sent}${given} }`
  return { type, route: `export const ${operationId}: Operation<'${operationId}'> = ${constant}\n` }
}

function parametersType(parameters, place, schemas) {
  const taken = parameters.filter((each) => each.in === place)
  if (taken.length === 0) return 'Nothing'
  const lines = taken.map(({ name, required, schema, description }) => {
    const type = typeOf(schema, schemas).replace(/^(\w+)\[\]$/, 'readonly $1[]')
    return `${docOf({ ...schema, description }, '      ')}      ${field(name, type, required)}\n`
  })
  return `{\n${joined(lines)}    }`
}

/** The name of the answer; the wider one of two: `SentOneOrMany` beside `Sent`. */
function answerOf(responses) {
  const names = Object.entries(responses)
    .filter(([status, { content }]) => status < 300 && content)
    .map(([, { content }]) => nameOf(Object.values(content)[0].schema.$ref))
  return names.at(-1)
}

/** The shapes that have something to convert; each after those that it names. */
function shapeLines(names, schemas) {
  const lines = new Map()
  const add = (name) => {
    const shape = shapeOf(schemas[name], schemas)
    if (shape === null || lines.has(name)) return
    const text = shapeText(shape, add)
    lines.set(name, `export const ${shapeName(name)}: FieldShapes = ${text}\n`)
  }
  names.forEach(add)
  return [...lines.values()]
}

const shapeName = (name) => `${name.replace(/^./, (letter) => letter.toLowerCase())}Shape`

function shapeText(shape, onNamed) {
  if (typeof shape === 'string') {
    if (Object.values(CONVERTED).includes(shape)) return `'${shape}'`
    onNamed(shape)
    return shapeName(shape)
  }
  const fields = Object.entries(shape).map(([name, each]) => `${name}: ${shapeText(each, onNamed)}`)
  return `{ ${joined(fields, ', ')} }`
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
    return converted.length === 0 ? null : Object.fromEntries(converted)
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
  const { types, constants } = exports.wireOf(document)
  const folder = join(__dirname, '..', 'src', 'client')
  writeFileSync(join(folder, 'wire.ts'), types)
  writeFileSync(join(folder, 'operations.ts'), constants)
  writeFileSync(join(__dirname, '..', 'docs', 'openapi.json'), `${JSON.stringify(document, null, 1)}\n`)
}

/**
 * `node scripts/client-wire.cjs`: writes src/client/wire/ from the OpenAPI document of what is built in dist. The types of
 * what is sent and of what is answered, as the client gives them (ids as bigint, times as Date), which operations there
 * are, and where in a body or an answer such a value is. A test makes the same and compares.
 */
const { writeFileSync } = require('node:fs')
const { join } = require('node:path')

/** Schemas that are another type in the client than on the wire. */
const CONVERTED = { Id: 'bigint', Total: 'bigint', Cursor: 'bigint', Time: 'time' }
const TYPE_OF = { bigint: 'bigint', time: 'Date' }
/** Parameters of the header, which the client sends by itself. */
const KNOWN_HEADERS = ['If-None-Match', 'Last-Event-ID']
const HEAD = '// Made from the OpenAPI document by scripts/client-wire.cjs: not to be edited.\n'

/** The three files, by name. */
exports.wireOf = (document) => {
  const { schemas } = document.components
  const isRequest = (name) =>
    JSON.stringify(schemas[name]).includes('"additionalProperties":false') || name === 'Sending'
  const named = Object.keys(schemas).filter((name) => !isPlain(schemas[name]) && name !== 'NoFields')
  const requests = named.filter(isRequest)
  const answers = named.filter((name) => !isRequest(name))
  return {
    'requests.ts': `${HEAD}/** The bodies of requests. */\n\n${constant(requests.map((name) => declared(name, schemas)).join('\n\n'))}\n`,
    'answers.ts': `${HEAD}/** The bodies of answers. */\n\n${answers.map((name) => declared(name, schemas)).join('\n\n')}\n`,
    'operations.ts': operationsText(document, requests, answers),
    'shapes.ts': shapesText(schemas, named),
  }
}

/** What is sent is only read. */
const constant = (text) => text.replaceAll(/(\w+)\[\]/g, 'readonly $1[]')

/** A text, a number or one of a few words: written where it is used. */
const isPlain = (schema) => schema.type === 'string'

const nameOf = (ref) => ref.split('/').at(-1)

function typeOf(schema, schemas) {
  if (schema.$ref) {
    const name = nameOf(schema.$ref)
    if (CONVERTED[name]) return TYPE_OF[CONVERTED[name]]
    return isPlain(schemas[name]) ? 'string' : name === 'NoFields' ? 'Record<string, never>' : name
  }
  const either = schema.anyOf ?? schema.oneOf
  if (either && !schema.properties) return either.map((each) => typeOf(each, schemas)).join(' | ')
  if (schema.enum) return schema.enum.map((word) => `'${word}'`).join(' | ')
  if (schema.const) return `'${schema.const}'`
  if (schema.type === 'array') {
    const items = typeOf(schema.items, schemas)
    return items.includes(' | ') && !items.startsWith('{') ? `(${items})[]` : `${items}[]`
  }
  if (schema.type === 'object')
    return `{ ${fieldsOf(schema, schemas)
      .map(({ text }) => text)
      .join('; ')} }`
  const plain = { string: 'string', boolean: 'boolean', null: 'null', integer: 'number', number: 'number' }[schema.type]
  if (schema.type !== undefined && plain === undefined) throw new Error(`no type for ${JSON.stringify(schema)}`)
  return plain ?? 'unknown'
}

function fieldsOf({ properties, required = [] }, schemas) {
  return Object.entries(properties).map(([name, schema]) => {
    const isRequired = required.includes(name)
    return { schema, text: `${name}${isRequired ? '' : '?'}: ${typeOf(schema, schemas)}` }
  })
}

function declared(name, schemas) {
  const schema = schemas[name]
  const said = schema.description ? `/** ${schema.description} */\n` : ''
  if (schema.type !== 'object') return `${said}export type ${name} = ${typeOf(schema, schemas)}`
  return `${said}export interface ${name} {\n${interfaceLines(schema, schemas).join('')}}`
}

function interfaceLines(schema, schemas) {
  return fieldsOf(schema, schemas).map(({ schema: field, text }) => `${docOf(field)}  ${broken(text)}\n`)
}

/** What the document says of a field, where it says more than the type. */
function docOf(schema) {
  const bounds = boundsOf(schema.anyOf?.[0] ?? schema)
  const said = [schema.description ?? schema.anyOf?.[0]?.description, bounds].filter(Boolean).join(' ')
  if (said === '') return ''
  return said.length < 108 ? `  /** ${said} */\n` : `  /**\n${wrapped(said)}   */\n`
}

function boundsOf({ minimum, maximum, default: byDefault }) {
  const range =
    minimum !== undefined && maximum !== undefined && maximum < Number.MAX_SAFE_INTEGER
      ? `${minimum} to ${maximum}`
      : ''
  const left = byDefault === undefined ? '' : `\`${byDefault}\` when left out`
  const both = [range, left].filter(Boolean).join('; ')
  return both === '' ? '' : `${both}.`.replace(/^./, (first) => first.toUpperCase())
}

function wrapped(text) {
  const lines = ['']
  for (const word of text.split(' ')) {
    if (lines.at(-1).length + word.length > 110) lines.push('')
    lines[lines.length - 1] += ` ${word}`
  }
  return lines.map((line) => `   *${line}\n`).join('')
}

/** As Biome breaks a field that is too long for a line. */
function broken(text) {
  if (text.length + 2 <= 120) return text
  const [name, words] = text.split(/: (?=')/)
  if (words !== undefined && !name.includes('{')) {
    const lines = words.split(' | ').map((word) => `    | ${word}\n`)
    return `${name}:\n${lines.join('')}`.trimEnd()
  }
  const [, before, inside, after] = /^([^{]*)\{ (.*) \}(.*)$/.exec(text)
  return `${before}{\n${inside
    .split('; ')
    .map((line) => `    ${line}\n`)
    .join('')}  }${after}`
}

function operationsText(document, requests, answers) {
  const { schemas } = document.components
  const all = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), ...operation })),
  )
  const types = []
  const values = []
  const used = new Set()
  for (const { path, method, operationId, summary, parameters = [], requestBody, responses } of all) {
    for (const { in: place, name } of parameters) {
      if (place === 'header' && !KNOWN_HEADERS.includes(name)) throw new Error(`the client sends no ${name}`)
    }
    const of = (place) =>
      objectType(
        parameters.filter((each) => each.in === place),
        schemas,
      )
    const answer = answerOf(responses)
    const body = requestBody ? typeOf(requestBody.content['application/json'].schema, schemas) : 'undefined'
    const isEmpty = Object.entries(responses).some(([status, { content }]) => status < 300 && !content)
    const answerType = answer ? typeOf({ $ref: `/${answer}` }, schemas) : 'undefined'
    if (answer && isEmpty) throw new Error(`${operationId} answers with and without a body`)
    for (const name of [body, answerType]) used.add(name)
    const path_ = of('path')
    const query = of('query')
    types.push(
      `  /** ${summary}: \`${method} ${path}\` */\n  ${operationId}: {\n    path: ${path_ || 'Nothing'}\n` +
        `    query: ${query ? query : 'Nothing'}\n    body: ${body}\n    answer: ${answerType}\n  }\n`,
    )
    const converted = answer && !isPlain(schemas[answer]) ? `, answer: '${answer}'` : ''
    const sent = requestBody && body in schemas ? `, body: '${body}'` : ''
    values.push(`  ${operationId}: { method: '${method}', path: '${path}'${sent}${converted} },\n`)
  }
  const imported = (names, file) => {
    const taken = names.filter((name) => used.has(name)).sort()
    const line = `import type { ${taken.join(', ')} } from './${file}'\n`
    return line.length <= 121
      ? line
      : `import type {\n${taken.map((name) => `  ${name},\n`).join('')}} from './${file}'\n`
  }
  return (
    `${HEAD}/** The operations: what each takes and answers, and where it is. */\n` +
    `${imported(answers, 'answers')}${imported(requests, 'requests')}\ntype Nothing = Record<never, never>\n\n` +
    `export interface Operations {\n${types.join('')}}\n\n` +
    `export const OPERATIONS = {\n${values.join('')}} as const\n`
  )
}

function objectType(parameters, schemas) {
  if (parameters.length === 0) return null
  const fields = parameters.map((parameter) => {
    const text = `${parameter.name}${parameter.required ? '' : '?'}: ${parameterType(parameter.schema, schemas)}`
    return `${indented(docOf({ ...parameter.schema, description: parameter.description }))}      ${text}\n`
  })
  return `{\n${fields.join('')}    }`
}

/** Lists may be given as constant ones. */
const parameterType = (schema, schemas) => typeOf(schema, schemas).replace(/^(\w+)\[\]$/, 'readonly $1[]')
const indented = (text) => text.replaceAll(/^(?=.)/gm, '    ')

function answerOf(responses) {
  const names = Object.entries(responses)
    .filter(([status, { content }]) => status < 300 && content)
    .map(([, { content }]) => nameOf(Object.values(content)[0].schema.$ref))
  // The wider one of two: `SentOneOrMany` beside `Sent`.
  return names.at(-1)
}

/** Where ids and times are: by field, the conversion, the name of another shape, or a shape itself. */
function shapesText(schemas, named) {
  const shapes = Object.fromEntries(named.map((name) => [name, shapeOf(schemas[name], schemas)]))
  const lines = named
    .filter((name) => shapes[name])
    .map((name) => {
      const line = `  ${name}: ${typeof shapes[name] === 'string' ? `'${shapes[name]}'` : shapeText(shapes[name])},\n`
      if (line.length > 120) throw new Error(`too long: ${line}`)
      return line
    })
  return (
    `${HEAD}/** Where ids and times are in bodies and answers. */\n\n` +
    `export type Shape = 'bigint' | 'time' | ShapeName | { readonly [field: string]: Shape }\n\n` +
    `export type ShapeName =\n${named
      .filter((name) => shapes[name])
      .map((name) => `  | '${name}'\n`)
      .join('')}\n` +
    `export const SHAPES: Readonly<Record<ShapeName, Shape>> = {\n${lines.join('')}}\n`
  )
}

const shapeText = (shape) =>
  `{ ${Object.entries(shape)
    .map(([name, each]) => `${name}: ${typeof each === 'string' ? `'${each}'` : shapeText(each)}`)
    .join(', ')} }`

function shapeOf(schema, schemas) {
  if (schema.$ref) {
    const name = nameOf(schema.$ref)
    return CONVERTED[name] ?? (shapeOf(schemas[name], schemas) ? name : null)
  }
  if (schema.type === 'array') return shapeOf(schema.items, schemas)
  if (schema.properties) {
    const fields = Object.entries(schema.properties).map(([name, field]) => [name, shapeOf(field, schemas)])
    const converted = fields.filter(([, shape]) => shape !== null)
    return converted.length === 0 ? null : Object.fromEntries(converted)
  }
  const shapes = (schema.anyOf ?? schema.oneOf ?? []).map((each) => shapeOf(each, schemas)).filter(Boolean)
  if (shapes.length < 2) return shapes[0] ?? null
  // One or the other: whichever fields there are.
  const resolved = shapes.map((shape) => (typeof shape === 'string' ? shapeOf(schemas[shape], schemas) : shape))
  return Object.assign({}, ...resolved)
}

if (require.main === module) {
  const dist = join(__dirname, '..', 'dist', 'src', 'http')
  const { openApiDocument } = require(join(dist, 'openapi', 'document.js'))
  const { storeRoutes } = require(join(dist, 'router.js'))
  const { processRoutes } = require(join(dist, 'routes', 'health.js'))
  const routes = [...storeRoutes, ...processRoutes({ metrics: { text: async () => '', contentType: '' } })]
  const files = exports.wireOf(openApiDocument(routes, '0.0.0', '/'))
  for (const [name, text] of Object.entries(files)) writeFileSync(join(__dirname, '..', 'src/client/wire', name), text)
}

/**
 * `node scripts/client-wire.cjs`: writes src/client/wire/ from the OpenAPI document of what is built in dist. The types of
 * what is sent and of what is answered, as the client gives them (ids as bigint, times as Date), which operations there
 * are, and where in a body or an answer such a value is. A test makes the same and compares.
 */
const { writeFileSync } = require('node:fs')
const { join } = require('node:path')
const { CONVERTED, constant, declared, docOf, isPlain, nameOf, optionalType, typeOf } = require('./client-types.cjs')

/** Parameters of the header, which the client sends by itself. */
const KNOWN_HEADERS = ['If-None-Match', 'Last-Event-ID']
const HEAD = '// Made from the OpenAPI document by scripts/client-wire.cjs: not to be edited.\n'

/** A file of operations and one of answers for each part of the document, by its tags. */
const FAMILIES = {
  group: ['Items', 'Groups', 'Members', 'Policies'],
  queue: ['Queues', 'Messages'],
  feed: ['Feeds'],
  process: ['Process', 'Access'],
}

/** The files, by name. */
exports.wireOf = (document) => {
  const { schemas } = document.components
  const isRequest = (name) =>
    JSON.stringify(schemas[name]).includes('"additionalProperties":false') || name === 'Sending'
  const named = Object.keys(schemas).filter((name) => !isPlain(schemas[name]) && name !== 'NoFields')
  const requests = named.filter(isRequest)
  const answers = named.filter((name) => !isRequest(name))
  const operations = operationsOf(document)
  return {
    'requests.ts': `${HEAD}/** The bodies of requests. */\n\n${constant(requests.map((name) => declared(name, schemas)).join('\n\n'))}\n`,
    ...answerFiles(answers, operations, schemas),
    ...operationFiles(operations, answers, requests),
    'shapes.ts': shapesText(schemas, named),
  }
}

function familyOf(tag) {
  const [family] = Object.entries(FAMILIES).find(([, tags]) => tags.includes(tag)) ?? []
  if (family === undefined) throw new Error(`no family of operations has the tag ${tag}`)
  return family
}

/** What only one family answers stands with it, the rest by itself. */
function answerFiles(answers, operations, schemas) {
  const users = new Map(answers.map((name) => [name, new Set()]))
  const use = (name, family) => {
    if (!users.has(name) || users.get(name).has(family)) return
    users.get(name).add(family)
    for (const other of namesIn(schemas[name])) use(other, family)
  }
  for (const { answer, family } of operations) use(answer, family)
  const homes = new Map()
  for (const name of answers) {
    const [family, ...others] = users.get(name)
    const home = family === undefined || others.length > 0 ? 'shared' : family
    homes.set(home, [...(homes.get(home) ?? []), name])
  }
  const files = {}
  for (const [home, names] of homes) {
    const foreign = names.flatMap((name) => namesIn(schemas[name])).filter((name) => homes.get('shared').includes(name))
    const shared = home === 'shared' ? '' : imported(foreign, './shared-answers')
    const body = names.map((name) => declared(name, schemas)).join('\n\n')
    files[`${home}-answers.ts`] = `${HEAD}/** The bodies of answers. */\n${shared}\n${body}\n`
  }
  const all = Object.keys(files).sort()
  files['answers.ts'] =
    `${HEAD}/** The bodies of answers. */\n${all.map((file) => `export type * from './${file.slice(0, -3)}'\n`).join('')}`
  return files
}

/** The schemas that one refers to. */
const namesIn = (schema) =>
  [...JSON.stringify(schema).matchAll(/#\/components\/schemas\/(\w+)/g)].map(([, name]) => name)

/** As Biome formats it; nothing where there is nothing to import. */
function imported(names, from) {
  const taken = [...new Set(names)].sort()
  if (taken.length === 0) return ''
  const line = `import type { ${taken.join(', ')} } from '${from}'\n`
  return line.length <= 121 ? line : `import type {\n${taken.map((name) => `  ${name},\n`).join('')}} from '${from}'\n`
}

function operationsOf(document) {
  const { schemas } = document.components
  const all = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), ...operation })),
  )
  return all.map(({ path, method, operationId, summary, tags, parameters = [], requestBody, responses }) => {
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
    const type =
      `  /** ${summary}: \`${method} ${path}\` */\n  ${operationId}: {\n    path: ${of('path') || 'Nothing'}\n` +
      `    query: ${of('query') || 'Nothing'}\n    body: ${body}\n    answer: ${answerType}\n  }\n`
    const converted = answer && !isPlain(schemas[answer]) ? `, answer: '${answer}'` : ''
    const sent = requestBody && body in schemas ? `, body: '${body}'` : ''
    const value = `  ${operationId}: { method: '${method}', path: '${path}'${sent}${converted} },\n`
    return { family: familyOf(tags[0]), answer: answerType, body, type, value }
  })
}

function operationFiles(operations, answers, requests) {
  const files = {}
  const names = Object.keys(FAMILIES)
  const interfaceOf = (family) => `${family[0].toUpperCase()}${family.slice(1)}Operations`
  for (const family of names) {
    const own = operations.filter((each) => each.family === family)
    const used = own.flatMap(({ answer, body }) => [answer, body])
    const among = (known) => used.filter((name) => known.includes(name))
    const types = own.map(({ type }) => type).join('')
    files[`${family}-operations.ts`] =
      `${HEAD}/** What each operation takes and answers. */\n` +
      `${imported(among(answers), './answers')}${imported(among(requests), './requests')}\n` +
      `${types.includes('Nothing') ? 'type Nothing = Record<never, never>\n\n' : ''}` +
      `export interface ${interfaceOf(family)} {\n${types}}\n`
  }
  const sorted = [...names].sort()
  files['operations.ts'] =
    `${HEAD}/** The operations: what each takes and answers, and where it is. */\n` +
    `${sorted.map((family) => imported([interfaceOf(family)], `./${family}-operations`)).join('')}\n` +
    `export interface Operations extends ${names.map(interfaceOf).join(', ')} {}\n\n` +
    `export const OPERATIONS = {\n${operations.map(({ value }) => value).join('')}} as const\n`
  return files
}

function objectType(parameters, schemas) {
  if (parameters.length === 0) return null
  const fields = parameters.map((parameter) => {
    const text = `${parameter.name}${parameter.required ? '' : '?'}: ${optionalType(parameterType(parameter.schema, schemas), parameter.required)}`
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

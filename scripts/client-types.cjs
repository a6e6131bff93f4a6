/** From the schemas of the OpenAPI document to types as TypeScript has them, written as Biome formats them. */

/** Schemas that are another type in the client than on the wire. */
const CONVERTED = { Id: 'bigint', Total: 'bigint', Cursor: 'bigint', Position: 'bigint', Time: 'time' }
const TYPE_OF = { bigint: 'bigint', time: 'Date' }

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
    return { schema, text: `${name}${isRequired ? '' : '?'}: ${optionalType(typeOf(schema, schemas), isRequired)}` }
  })
}

/** May be given as undefined too, for who compiles with exactOptionalPropertyTypes. */
function optionalType(type, isRequired) {
  return isRequired || type === 'unknown' ? type : `${type} | undefined`
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

module.exports = { CONVERTED, constant, declared, docOf, isPlain, nameOf, optionalType, typeOf }

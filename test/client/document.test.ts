/** The client's operations and types have what the OpenAPI document has now. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { document } from '../http/support/documented'
import { compilerErrors } from '../support/compiled'
import { typesOf } from '../support/document-types'
import { ROOT } from '../support/processes'

const { operationsOf } = require('../../scripts/client-operations.cjs') as { operationsOf(document: object): string }

interface Paths {
  [path: string]: Record<string, { parameters: unknown[] }>
}

const TIME = { $ref: '#/components/schemas/Time' }
const ID = { $ref: '#/components/schemas/Id' }

const changed = (change: (paths: Paths, schemas: Record<string, { properties: object }>) => void) => {
  const copy = structuredClone(document) as unknown as {
    paths: Paths
    components: { schemas: Record<string, { properties: object }> }
  }
  change(copy.paths, copy.components.schemas)
  return copy
}

test('docs/openapi.json, which node scripts/client-operations.cjs writes after a build, is the document', () => {
  expect(JSON.parse(readFileSync(join(ROOT, 'docs/openapi.json'), 'utf8'))).toEqual(
    JSON.parse(JSON.stringify(document)),
  )
})

describe('src/client/operations.ts, which node scripts/client-operations.cjs generates after a build,', () => {
  test('has what the document has', () => {
    expect(readFileSync(join(ROOT, 'src/client/operations.ts'), 'utf8')).toBe(operationsOf(document))
  })

  test('is not generated from a document with a header that the client does not send', () => {
    const other = changed((paths) => {
      paths['/livez'] = { get: { ...paths['/livez']?.get, parameters: [{ in: 'header', name: 'X-More', schema: {} }] } }
    })
    expect(() => operationsOf(other)).toThrow('X-More')
  })

  const item = (more: object) => changed((_, { Item }) => Object.assign(Item?.properties ?? {}, more))

  test('has the names of ids, and of what users gave', () => {
    expect(operationsOf(item({ parent: ID, note: {} }))).toMatch(/IDS = .*\bparent\b[\s\S]*OPEN = .*\bnote\b/)
    expect(operationsOf(document)).not.toMatch(/\bparent\b|\bnote\b/)
    const sent = changed((_, { NewItem }) => Object.assign(NewItem?.properties ?? {}, { parent: ID }))
    expect(operationsOf(sent)).toMatch(/SENT_IDS = .*\bparent\b/)
  })

  test.each<[string, object]>([
    ['heldAt is no time', { heldAt: { type: 'string' } }],
    ['seen is a time', { seen: TIME }],
    ['cursor is', { cursor: { type: 'string' } }],
    ['body is', { body: ID }],
  ])('is not generated where a name misleads: %s', (said, more) => {
    expect(() => operationsOf(item(more))).toThrow(said)
  })
})

describe('The types of the library that the client takes and gives', () => {
  const others: [string, string, Parameters<typeof changed>[0]][] = [
    ['a member of an answer', 'Item', (_, { Item }) => Object.assign(Item?.properties ?? {}, { seenAt: TIME })],
    ['a member of a body', 'NewItem', (_, { NewItem }) => Object.assign(NewItem?.properties ?? {}, { seenAt: TIME })],
    ['a type', 'Queue', (_, { Queue }) => Object.assign(Queue?.properties ?? {}, { paused: { type: 'string' } })],
    [
      'a parameter',
      'listGroups',
      (paths) => paths['/v1/groups']?.get?.parameters.push({ in: 'query', name: 'more', schema: { type: 'string' } }),
    ],
  ]
  /** By the number of the document; those of none are the first document's. */
  let errors: string[]

  beforeAll(async () => {
    const said = await compared([document, ...others.map(([, , change]) => changed(change))])
    errors = ['', ...others.map(() => '')]
    for (const error of said.split(/^(?=\S)/m)) errors[Number(/comparison(\d+)\.ts\(/.exec(error)?.[1] ?? 0)] += error
  })

  test('are those of the document', () => expect(errors[0]).toBe(''))

  test.each(others.map(([what, where], at) => [what, where, at + 1] as const))(
    'differ from a document with another %s',
    (_, where, at) => expect(errors[at]).toContain(`"${where}"`),
  )
})

/** The compiler's errors about the comparisons. */
function compared(documents: readonly object[]): Promise<string> {
  const comparisons = documents.map((of, at): [string, string] => [
    `comparison${at}.ts`,
    `import type { Difference } from '${join(ROOT, 'test/client/support/compared')}'
${typesOf(of)}
export const same = (difference: Difference<Document>): never => difference
`,
  ])
  const options = { module: 'esnext', moduleResolution: 'bundler', lib: ['es2022', 'dom'], types: [] }
  const files = comparisons.map(([name]) => name)
  return compilerErrors(options, files, Object.fromEntries(comparisons))
}

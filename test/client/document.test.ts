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

  test('has the times and ids of bodies and answers', () => {
    const other = changed((_, { Item }) => Object.assign(Item?.properties ?? {}, { seen: TIME, readAt: TIME }))
    expect(operationsOf(other)).toContain("seen: 'time'")
    expect(operationsOf(other)).not.toContain('readAt')
    expect(operationsOf(document)).not.toContain("seen: 'time'")
    const untimely = changed((_, { Item }) => Object.assign(Item?.properties ?? {}, { heldAt: { type: 'string' } }))
    expect(() => operationsOf(untimely)).toThrow('heldAt')
  })
})

const TIME = { $ref: '#/components/schemas/Time' }

describe('The types of the library that the client takes and gives', () => {
  test('are those of the document', async () => {
    expect(await compared(document)).toBe('')
  })

  test.each<[string, string, Parameters<typeof changed>[0]]>([
    ['a member of an answer', 'Item', (_, { Item }) => Object.assign(Item?.properties ?? {}, { seenAt: TIME })],
    ['a member of a body', 'NewItem', (_, { NewItem }) => Object.assign(NewItem?.properties ?? {}, { seenAt: TIME })],
    ['a type', 'Queue', (_, { Queue }) => Object.assign(Queue?.properties ?? {}, { paused: { type: 'string' } })],
    [
      'a parameter',
      'listGroups',
      (paths) => paths['/v1/groups']?.get?.parameters.push({ in: 'query', name: 'more', schema: { type: 'string' } }),
    ],
  ])('differ from a document with another %s', async (_, where, change) => {
    expect(await compared(changed(change))).toContain(`"${where}"`)
  })
})

/** The compiler's errors about the comparison. */
function compared(of: object): Promise<string> {
  const comparison = `import type { Difference } from '${join(ROOT, 'test/client/support/compared')}'
${typesOf(of)}
export const same = (difference: Difference<Document>): never => difference
`
  const options = { module: 'esnext', moduleResolution: 'bundler', lib: ['es2022', 'dom'], types: [] }
  return compilerErrors(options, ['comparison.ts'], { 'comparison.ts': comparison })
}

/** The generated part of the client has what the OpenAPI document has now. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { document } from '../http/support/documented'
import { ROOT } from '../support/processes'

const { wireOf } = require('../../scripts/client-wire.cjs') as {
  wireOf(document: object): { types: string; constants: string }
}

interface Schemas {
  components: { schemas: { Item: { properties: Record<string, unknown> } } }
}

const generated = wireOf(document)

test('docs/openapi.json, which node scripts/client-wire.cjs writes after a build, is the document', () => {
  expect(JSON.parse(readFileSync(join(ROOT, 'docs/openapi.json'), 'utf8'))).toEqual(
    JSON.parse(JSON.stringify(document)),
  )
})

describe('src/client/wire.ts and operations.ts, which node scripts/client-wire.cjs generates after a build,', () => {
  test('have what the document has', () => {
    expect(readFileSync(join(ROOT, 'src/client/wire.ts'), 'utf8')).toBe(generated.types)
    expect(readFileSync(join(ROOT, 'src/client/operations.ts'), 'utf8')).toBe(generated.constants)
  })

  test.each([
    ['a parameter', { in: 'query', name: 'more', schema: { type: 'string' } }, '      more?: string | undefined\n'],
    ['an id', { in: 'query', name: 'to', schema: { $ref: '#/components/schemas/Id' } }, 'to?: bigint'],
  ])('differ by %s', (_, parameter, text) => {
    const changed = structuredClone(document)
    const operation = changed.paths?.['/v1/groups']?.get as unknown as { parameters: unknown[] }
    operation.parameters.push(parameter)
    expect(wireOf(changed).types).toContain(text)
    expect(generated.types).not.toContain(text)
  })

  test('are not generated from a document with a header that the client does not send', () => {
    const changed = structuredClone(document)
    const operation = changed.paths?.['/livez']?.get as unknown as { parameters: unknown[] }
    operation.parameters = [{ in: 'header', name: 'X-More', schema: { type: 'string' } }]
    expect(() => wireOf(changed)).toThrow('X-More')
  })

  test('have the fields of bodies and answers', () => {
    const changed = structuredClone(document)
    const { properties } = (changed as unknown as Schemas).components.schemas.Item
    properties.seenAt = { $ref: '#/components/schemas/Time' }
    const { types, constants } = wireOf(changed)
    expect(types).toContain('seenAt?: Date')
    expect(constants).toContain("seenAt: 'time'")
    expect(generated.types + generated.constants).not.toContain('seenAt')
  })
})

/** The generated part of the client has what the OpenAPI document has now. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { document } from '../http/support/documented'
import { ROOT } from '../support/processes'

const { wireOf } = require('../../scripts/client-wire.cjs') as { wireOf(document: object): string }

interface Schemas {
  components: { schemas: { Item: { properties: Record<string, unknown> } } }
}

const generated = wireOf(document)

describe('src/client/wire.ts, which node scripts/client-wire.cjs generates after a build,', () => {
  test('has what the document has', () => {
    expect(readFileSync(join(ROOT, 'src/client/wire.ts'), 'utf8')).toBe(generated)
  })

  test.each([
    ['a parameter', { in: 'query', name: 'more', schema: { type: 'string' } }, '      more?: string | undefined\n'],
    ['an id', { in: 'query', name: 'to', schema: { $ref: '#/components/schemas/Id' } }, 'to?: bigint'],
  ])('differs by %s', (_, parameter, text) => {
    const changed = structuredClone(document)
    const operation = changed.paths?.['/v1/groups']?.get as unknown as { parameters: unknown[] }
    operation.parameters.push(parameter)
    expect(wireOf(changed)).toContain(text)
    expect(generated).not.toContain(text)
  })

  test('is not generated from a document with a header that the client does not send', () => {
    const changed = structuredClone(document)
    const operation = changed.paths?.['/livez']?.get as unknown as { parameters: unknown[] }
    operation.parameters = [{ in: 'header', name: 'X-More', schema: { type: 'string' } }]
    expect(() => wireOf(changed)).toThrow('X-More')
  })

  test('has the fields of bodies and answers', () => {
    const changed = structuredClone(document)
    const { properties } = (changed as unknown as Schemas).components.schemas.Item
    properties.seenAt = { $ref: '#/components/schemas/Time' }
    const text = wireOf(changed)
    expect(text).toContain('seenAt?: Date')
    expect(text).toContain("seenAt: 'time'")
    expect(generated).not.toContain('seenAt')
  })
})

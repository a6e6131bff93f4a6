/** What the client knows of the routes is what the OpenAPI document says now. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { document } from '../http/support/documented'
import { ROOT } from '../support/processes'

const { wireOf } = require('../../scripts/client-wire.cjs') as { wireOf(document: object): Record<string, string> }

interface Schemas {
  components: { schemas: { Item: { properties: Record<string, unknown> } } }
}

const made = wireOf(document)

describe('src/client/wire, which node scripts/client-wire.cjs makes after a build,', () => {
  test.each(Object.keys(made))('has in %s what the document has', (name) => {
    expect(readFileSync(join(ROOT, 'src/client/wire', name), 'utf8')).toBe(made[name])
  })

  test.each([
    [
      'a parameter',
      { in: 'query', name: 'more', schema: { type: 'string' } },
      'group-operations.ts',
      '      more?: string | undefined\n',
    ],
    [
      'an id',
      { in: 'query', name: 'to', schema: { $ref: '#/components/schemas/Id' } },
      'group-operations.ts',
      'to?: bigint',
    ],
  ])('differs by %s', (_, parameter, file, text) => {
    const changed = structuredClone(document)
    const operation = changed.paths?.['/v1/groups']?.get as unknown as { parameters: unknown[] }
    operation.parameters.push(parameter)
    expect(wireOf(changed)[file]).toContain(text)
    expect(made[file]).not.toContain(text)
  })

  test('is not made of a document with a header that the client does not send', () => {
    const changed = structuredClone(document)
    const operation = changed.paths?.['/livez']?.get as unknown as { parameters: unknown[] }
    operation.parameters = [{ in: 'header', name: 'X-More', schema: { type: 'string' } }]
    expect(() => wireOf(changed)).toThrow('X-More')
  })

  test('has the fields of bodies and answers', () => {
    const changed = structuredClone(document)
    const { properties } = (changed as unknown as Schemas).components.schemas.Item
    properties.seenAt = { $ref: '#/components/schemas/Time' }
    const { 'group-answers.ts': answers, 'shapes.ts': shapes } = wireOf(changed)
    expect(answers).toContain('seenAt?: Date')
    expect(shapes).toContain("seenAt: 'time'")
  })
})

import { execFileSync } from 'node:child_process'
import { type Client, send, startApp } from './support/client'
import { allRoutes, document, mustBeDocumented, schemaFault } from './support/documented'

let server: Client
let served: typeof document
beforeAll(async () => {
  server = await startApp()
  const answer = await send(server.url, 'GET', '/openapi.json', {})
  expect([answer.status, answer.headers['content-type']]).toEqual([200, 'application/json'])
  served = answer.json
})

/** Runs the validator, which is an ES module, where such modules load. */
function judged(text: string): { valid: boolean; errors?: unknown } {
  const script =
    "import { Validator } from '@seriousme/openapi-schema-validator'; import { readFileSync } from 'node:fs';" +
    'const result = await new Validator().validate(JSON.parse(readFileSync(0)));' +
    'console.log(JSON.stringify({ valid: result.valid, errors: result.errors }))'
  const args = ['--input-type=module', '--eval', script]
  return JSON.parse(execFileSync(process.execPath, args, { input: text, cwd: __dirname, encoding: 'utf8' }))
}

describe('the OpenAPI document', () => {
  test('is valid OpenAPI 3.1', () => {
    expect(served.openapi).toBe('3.1.0')
    expect(judged(JSON.stringify(served))).toEqual({ valid: true })
    expect(judged(JSON.stringify({ ...served, paths: 7 })).valid).toBe(false)
  })

  test('is the one that answers are judged by', () => {
    const { info: _served, ...rest } = served
    const { info: _made, ...expected } = document
    expect(rest).toEqual(expected)
    expect(served.info?.version).toMatch(/^\d+\.\d+\.\d+/)
  })

  test('has the routes of the contract, and no others', () => {
    const known = Object.entries(served.paths ?? {}).flatMap(([path, operations]) =>
      Object.keys(operations).map((method) => `${method.toUpperCase()} ${path}`),
    )
    expect(known.sort()).toEqual([
      'DELETE /v1/feeds/{feed}',
      'DELETE /v1/feeds/{feed}/consumers/{consumer}',
      'DELETE /v1/feeds/{feed}/entries/{key}',
      'DELETE /v1/groups/{group}',
      'DELETE /v1/groups/{group}/items',
      'DELETE /v1/groups/{group}/items/{id}',
      'DELETE /v1/members/{member}/items',
      'DELETE /v1/policies/{prefix}',
      'DELETE /v1/queues/{queue}',
      'DELETE /v1/queues/{queue}/keys/{key}',
      'DELETE /v1/queues/{queue}/messages/{id}',
      'DELETE /v1/schedules/{schedule}',
      'GET /livez',
      'GET /metrics',
      'GET /readyz',
      'GET /v1/access',
      'GET /v1/feeds',
      'GET /v1/feeds/{feed}',
      'GET /v1/feeds/{feed}/changes',
      'GET /v1/feeds/{feed}/consumers/{consumer}',
      'GET /v1/feeds/{feed}/entries/{key}',
      'GET /v1/groups',
      'GET /v1/groups/{group}',
      'GET /v1/groups/{group}/items',
      'GET /v1/groups/{group}/items/{id}',
      'GET /v1/groups/{group}/stream',
      'GET /v1/items',
      'GET /v1/members/{member}/items',
      'GET /v1/overview',
      'GET /v1/policies',
      'GET /v1/policies/{prefix}',
      'GET /v1/queues',
      'GET /v1/queues/{queue}',
      'GET /v1/queues/{queue}/errors',
      'GET /v1/queues/{queue}/history',
      'GET /v1/queues/{queue}/messages',
      'GET /v1/queues/{queue}/messages/{id}',
      'GET /v1/queues/{queue}/receivers',
      'GET /v1/schedules',
      'GET /v1/schedules/{schedule}',
      'PATCH /v1/groups/{group}',
      'PATCH /v1/policies/{prefix}',
      'PATCH /v1/queues/{queue}',
      'PATCH /v1/schedules/{schedule}',
      'POST /v1/feeds/{feed}/entries',
      'POST /v1/feeds/{feed}/republish',
      'POST /v1/groups/{group}/items',
      'POST /v1/groups/{group}/losses',
      'POST /v1/groups/{group}/scores',
      'POST /v1/items',
      'POST /v1/policies/{prefix}/losses',
      'POST /v1/queues/{queue}/ack',
      'POST /v1/queues/{queue}/cycle',
      'POST /v1/queues/{queue}/extend',
      'POST /v1/queues/{queue}/hold',
      'POST /v1/queues/{queue}/messages',
      'POST /v1/queues/{queue}/nack',
      'POST /v1/queues/{queue}/pause',
      'POST /v1/queues/{queue}/promote',
      'POST /v1/queues/{queue}/purge',
      'POST /v1/queues/{queue}/receive',
      'POST /v1/queues/{queue}/redrive',
      'POST /v1/queues/{queue}/resume',
      'PUT /v1/feeds/{feed}/consumers/{consumer}',
      'PUT /v1/feeds/{feed}/entries/{key}',
      'PUT /v1/groups/{group}',
      'PUT /v1/policies/{prefix}',
      'PUT /v1/queues/{queue}',
      'PUT /v1/schedules/{schedule}',
    ])
    const routes = allRoutes.map(({ method, path }) => `${method.toUpperCase()} ${path}`)
    expect(routes.sort()).toEqual(known.sort())
  })

  test('has every operation served under its path and method', async () => {
    for (const [template, operations] of Object.entries(served.paths ?? {})) {
      const path = template.replaceAll(/\{\w+\}/g, '7')
      for (const [method, operation] of Object.entries(operations)) {
        const isStream = operation.responses?.['200']?.content?.['text/event-stream'] !== undefined
        // The answer of a stream has no end.
        const answer = await server.request(isStream ? 'HEAD' : method.toUpperCase(), path)
        expect([method, path, answer.status]).not.toEqual([method, path, 405])
        expect(answer.json?.type).not.toBe('about:blank')
      }
    }
  })

  test('names its operations once, and gives an example of every body that fits its schema', () => {
    const operations = Object.values(served.paths ?? {}).flatMap((path) => Object.values(path))
    const ids = operations.map((operation) => operation.operationId)
    expect(new Set(ids).size).toBe(ids.length)
    for (const { requestBody, responses } of operations) {
      for (const { content } of [requestBody ?? {}, ...Object.values(responses ?? {})]) {
        for (const { schema, example } of Object.values(content ?? {})) {
          expect(example).toBeDefined()
          const name = String(schema?.$ref).split('/').at(-1) as string
          expect([name, example, schemaFault(name, example)]).toEqual([name, example, null])
        }
      }
    }
  })

  test('asks for no body where every field has a default', () => {
    const optional = Object.values(served.paths ?? {})
      .flatMap((path) => Object.values(path))
      .filter(({ requestBody }) => String(requestBody?.required) === 'false')
      .map(({ operationId }) => String(operationId))
    expect(optional.sort()).toEqual([
      'cycleMessages',
      'groupLosses',
      'pauseQueue',
      'policyLosses',
      'purgeQueue',
      'putGroup',
      'putQueue',
      'receiveMessages',
      'redriveQueue',
      'resumeQueue',
    ])
  })

  test('judges: an answer that differs is not let through', () => {
    const seen = {
      method: 'GET',
      path: '/v1/groups/a',
      status: 200,
      headers: { 'x-request-id': '1', 'content-type': 'application/json', etag: '"t"' },
    }
    const group = {
      group: 'a',
      capacity: 1,
      mode: 'history',
      ttlSeconds: null,
      forgetEmptySeconds: null,
      own: { capacity: 1 },
      policy: null,
      tag: 't',
      totalAppended: '0',
      createdAt: '2026-11-20T08:30:00.000Z',
    }
    expect(() => mustBeDocumented({ ...seen, text: JSON.stringify(group) })).not.toThrow()
    for (const wrong of [
      { ...group, totalAppended: 0 },
      { ...group, more: 1 },
      { ...group, createdAt: 'now' },
      { ...group, own: { ttl: 1 } },
      { group: 'a' },
    ]) {
      expect(() => mustBeDocumented({ ...seen, text: JSON.stringify(wrong) })).toThrow()
    }
    expect(() => mustBeDocumented({ ...seen, status: 202, text: JSON.stringify(group) })).toThrow()
  })
})

/** The reference page at `/docs`: what is served, how it is kept, and for which clients. */
import { gunzipSync } from 'node:zlib'
import express from 'express'
import { createRouter } from '../../src/http/router'
import { type Client, memoryStore, send, serving, startApp } from './support/client'

const FILES = [
  ['/docs', 'text/html; charset=utf-8', '<title>recentn: reference</title>'],
  ['/docs/start.js', 'text/javascript; charset=utf-8', "url: 'openapi.json'"],
  ['/docs/page.css', 'text/css; charset=utf-8', 'footer'],
  ['/docs/swagger-ui-bundle.js', 'text/javascript; charset=utf-8', 'SwaggerUIBundle'],
  ['/docs/swagger-ui.css', 'text/css; charset=utf-8', '.swagger-ui'],
  ['/docs/LICENSES.txt', 'text/plain; charset=utf-8', 'Apache License'],
] as const

let server: Client
beforeAll(async () => {
  server = await startApp()
})

describe.each(FILES)('%s', (path, type, text) => {
  test('is served whole, and under a policy that lets nothing in from elsewhere', async () => {
    const { status, headers, text: body } = await send(server.url, 'GET', path, {})
    expect([status, headers['content-type'], headers['content-encoding']]).toEqual([200, type, undefined])
    expect(body).toContain(text)
    const policy = String(headers['content-security-policy']).split('; ')
    expect(policy).toContain("script-src 'self'")
    expect(policy).toContain("style-src 'self'")
    expect(policy).toContain("connect-src 'self'")
    expect(policy).toContain("frame-ancestors 'none'")
    expect(policy.join()).not.toMatch(/unsafe|https?:|\*/)
    expect(headers['x-content-type-options']).toBe('nosniff')
  })

  test('is compressed for a browser that takes that, and the same', async () => {
    const plain = await (await fetch(server.url + path, { headers: { 'Accept-Encoding': 'identity' } })).text()
    const raw = await rawBytes(path, 'gzip')
    expect(raw.headers['content-encoding']).toBe('gzip')
    expect(gunzipSync(raw.bytes).toString('utf8')).toBe(plain)
    expect(raw.headers.vary).toContain('Accept-Encoding')
  })

  test('has a tag: 304 for a browser that has it, and another one where it is compressed', async () => {
    const { headers } = await send(server.url, 'GET', path, {})
    const same = await send(server.url, 'GET', path, { headers: { 'If-None-Match': String(headers.etag) } })
    expect([same.status, same.text, same.headers.etag]).toEqual([304, '', headers.etag])
    const zipped = await send(server.url, 'HEAD', path, { headers: { 'Accept-Encoding': 'gzip' } })
    expect(zipped.headers.etag).not.toBe(headers.etag)
  })

  test('answers HEAD and OPTIONS, and no other method', async () => {
    const head = await send(server.url, 'HEAD', path, {})
    expect([head.status, head.text]).toEqual([200, ''])
    expect(Number(head.headers['content-length'])).toBeGreaterThan(0)
    expect((await send(server.url, 'OPTIONS', path, {})).headers.allow).toBe('GET, HEAD, OPTIONS')
    const post = await send(server.url, 'POST', path, { json: {} })
    expect([post.status, post.json.type, post.headers.allow]).toEqual([405, 'about:blank', 'GET, HEAD, OPTIONS'])
  })
})

async function rawBytes(path: string, encoding: string) {
  const http = await import('node:http')
  return new Promise<{ headers: Record<string, unknown>; bytes: Buffer }>((resolve, reject) => {
    const request = http.get(server.url + path, { headers: { 'Accept-Encoding': encoding } }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk) => chunks.push(chunk))
      response.on('end', () => resolve({ headers: response.headers, bytes: Buffer.concat(chunks) }))
    })
    request.on('error', reject)
  })
}

test('names nothing that is not served, and no other site', async () => {
  const { text } = await send(server.url, 'GET', '/docs', {})
  const named = [...text.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, name]) => name as string)
  expect(named).toContain('openapi.json')
  for (const name of named.filter((each) => !each.startsWith('data:'))) {
    expect(name).not.toMatch(/^(https?:)?\/\//)
    expect([name, (await send(server.url, 'GET', new URL(name, `${server.url}/docs`).pathname, {})).status]).toEqual([
      name,
      200,
    ])
  }
  expect(text).not.toMatch(/<script>|\sstyle=|\son\w+=/)
})

test.each(['/docs/', '/docs/index.html', '/docs/../package.json', '/docs/nothing.js', '/Docs'])(
  '%s is not found',
  async (path) => {
    expect((await send(server.url, 'GET', path, {})).status).toBe(404)
  },
)

test('needs no key where all else does; without keys only who is local gets it', async () => {
  const guarded = await startApp()
  expect((await send(guarded.url, 'GET', '/docs', { headers: { Host: 'example.org' } })).status).toBe(403)
  await guarded.store.keys.create({ label: 'l', scopes: ['read'] })
  const elsewhere = await startApp()
  await elsewhere.store.keys.create({ label: 'l', scopes: ['read'] })
  expect((await send(elsewhere.url, 'GET', '/docs', { headers: { Host: 'example.org' } })).status).toBe(200)
  expect((await send(elsewhere.url, 'GET', '/v1/groups', {})).status).toBe(401)
})

test('is nothing of a router in the app of a user', async () => {
  const app = express().use('/activity', createRouter(await memoryStore(), { access: 'anonymous' }))
  expect((await send(await serving(app), 'GET', '/activity/docs', {})).status).toBe(404)
})
